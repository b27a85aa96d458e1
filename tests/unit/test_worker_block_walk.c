/* SPDX-License-Identifier: MIT */
#include "base/rng.h"
#include "support/cmocka.h"
#include "worker/block_walk.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 3000, SPACE = 16 << 20 };

struct block {
    uintptr_t at;
    uint64_t size;
};

/* One bit for each piece of 2^shift bytes of the space at `base`. */
static uint64_t count_by_hand(const struct block *blocks, uint32_t n, uintptr_t base,
                              unsigned shift)
{
    unsigned char *seen = calloc(1, ((size_t)SPACE >> shift) + 2);
    uint64_t found = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint64_t byte = 0; byte < blocks[i].size; byte++) {
            unsigned char *piece = &seen[((blocks[i].at + byte) >> shift) - (base >> shift)];
            found += *piece == 0;
            *piece = 1;
        }
    free(seen);
    return found;
}

static void make_up(struct ab_rng *rng, struct block *blocks, uint64_t *entries, uintptr_t base)
{
    for (uint32_t i = 0; i < BLOCKS; i++) {
        uint64_t size = 1 + ab_rng_below(rng, i % 50 == 0 ? 100000 : 200);
        blocks[i] = (struct block){base + ab_rng_below(rng, SPACE - size), size};
        entries[i] = ab_walk_entry(blocks[i].at, blocks[i].size);
    }
}

static void counts_are_those_of_a_bitmap(void **state)
{
    (void)state;
    static struct block blocks[BLOCKS];
    static uint64_t entries[BLOCKS];
    struct ab_rng rng;
    ab_rng_init(&rng, 5, 0);
    for (int round = 0; round < 20; round++) {
        uintptr_t base = UINT64_C(0x7f0000000000) + ab_rng_below(&rng, 1 << 22);
        uint32_t n = round == 0 ? 0 : round == 1 ? 1 : BLOCKS;
        make_up(&rng, blocks, entries, base);
        struct ab_walk_touched t = ab_walk_count(entries, n);
        assert_int_equal(t.lines, count_by_hand(blocks, n, base, 6));
        assert_int_equal(t.pages, count_by_hand(blocks, n, base, 12));
        assert_int_equal(t.spans, count_by_hand(blocks, n, base, 21));
    }
}

static void the_largest_block_has_all_its_lines(void **state)
{
    (void)state;
    uint64_t entry = ab_walk_entry(0x1000001, AB_WALK_BYTES_MAX);
    struct ab_walk_touched t = ab_walk_count(&entry, 1);
    assert_int_equal(t.lines, 65536);
    assert_int_equal(t.pages, 1024);
    assert_int_equal(t.spans, 2);
}

static void by_address_they_ascend(void **state)
{
    (void)state;
    static uint64_t entries[BLOCKS];
    struct ab_rng rng;
    ab_rng_init(&rng, 6, 0);
    for (uint32_t most = 1; most <= 1 << 20; most <<= 5) { /* few values, and many */
        uint64_t sum = 0;
        for (uint32_t i = 0; i < BLOCKS; i++)
            sum += entries[i] = most == 1 ? i : ab_rng_below(&rng, most);
        ab_walk_prepare(entries, BLOCKS, AB_WALK_ADDRESS);
        for (uint32_t i = 0; i < BLOCKS; i++) {
            assert_true(i == 0 || entries[i - 1] <= entries[i]);
            sum -= entries[i];
        }
        assert_int_equal(sum, 0);
    }
}

static void a_chain_goes_through_all_blocks_in_their_order(void **state)
{
    (void)state;
    static uint64_t space[BLOCKS * 3], entries[BLOCKS];
    for (uint32_t i = 0; i < BLOCKS; i++)
        entries[i] = ab_walk_entry((uintptr_t)&space[(i * 7 % BLOCKS) * 3], 24);
    ab_walk_prepare(entries, BLOCKS, AB_WALK_LINKED);
    uint64_t at = entries[0];
    for (uint32_t i = 0; i < BLOCKS; i++) {
        assert_int_equal(at, entries[i]);
        memcpy(&at, (void *)(uintptr_t)(at >> 16), sizeof at);
    }
    assert_int_equal(at, entries[0]);
    ab_walk_read(entries, BLOCKS, AB_WALK_LINKED); /* ends, and faults on nothing */
    ab_walk_read(entries, BLOCKS, AB_WALK_RANDOM);
    ab_walk_read(entries, 0, AB_WALK_LINKED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_a_bitmap),
        cmocka_unit_test(the_largest_block_has_all_its_lines),
        cmocka_unit_test(by_address_they_ascend),
        cmocka_unit_test(a_chain_goes_through_all_blocks_in_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
