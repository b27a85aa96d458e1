/* SPDX-License-Identifier: MIT
 *
 * Ages the heap of an allocator that counts: the number of blocks, their bytes, and the part that
 * stays.
 */
#include "base/aging.h"

#include "base/rng.h"
#include "support/cmocka.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { BLOCKS = 20000 };

struct book { /* of the allocator; a block's reference is its number from 1 on */
    uint64_t sizes[BLOCKS];
    bool is_live[BLOCKS], is_twice;
    uint32_t n, fail_at;
};

static uintptr_t take(void *user, size_t size)
{
    struct book *b = user;
    if (b->n == b->fail_at || b->n == BLOCKS)
        return 0;
    b->sizes[b->n] = size;
    b->is_live[b->n] = true;
    return ++b->n;
}

static void drop(void *user, uintptr_t ref, size_t size)
{
    struct book *b = user;
    b->is_twice = b->is_twice || !b->is_live[ref - 1] || b->sizes[ref - 1] != size;
    b->is_live[ref - 1] = false;
}

static const uint64_t sizes[] = {16, 16, 16, 48, 100, 4000};

static struct ab_aging_plan plan_of(double occupancy, double multiple, uint64_t seed)
{
    return (struct ab_aging_plan){
        {occupancy, multiple, seed}, sizes, sizeof sizes / sizeof sizes[0], 500000};
}

static struct ab_aging_count make(const struct ab_aging_plan *plan, struct book *b,
                                  struct ab_aging_block *blocks)
{
    const struct ab_aging_calls calls = {b, take, drop};
    memset(b, 0, sizeof *b);
    b->fail_at = UINT32_MAX;
    return ab_aging_make(plan, &calls, blocks);
}

/* What the allocator has counted is what is said; the part that stays is met to within one block. */
static void recount_is_exact(void **state)
{
    static struct book b;
    static struct ab_aging_block blocks[BLOCKS];
    static const double occupancies[] = {0.01, 0.25, 0.5, 0.75, 0.95};
    (void)state;
    for (unsigned i = 0; i < sizeof occupancies / sizeof occupancies[0]; i++) {
        for (double multiple = 0.5; multiple <= 4; multiple *= 2) {
            struct ab_aging_plan plan = plan_of(occupancies[i], multiple, i + 1);
            struct ab_aging_count foreseen = ab_aging_foresee(&plan);
            struct ab_aging_count count = make(&plan, &b, blocks);
            uint64_t made = 0, live = 0, n_live = 0;
            for (uint32_t k = 0; k < b.n; k++) {
                made += b.sizes[k];
                live += b.is_live[k] ? b.sizes[k] : UINT64_C(0);
                n_live += b.is_live[k] ? 1u : 0u;
            }
            assert_false(b.is_twice);
            assert_int_equal(foreseen.made_blocks, b.n);
            assert_int_equal(foreseen.made_bytes, made);
            assert_int_equal(count.made_blocks, b.n);
            assert_int_equal(count.made_bytes, made);
            assert_int_equal(count.blocks, n_live);
            assert_int_equal(count.bytes, live);
            assert_true((double)made >= multiple * 500000);
            assert_true((double)made < multiple * 500000 + 4000);
            assert_true((double)live <= occupancies[i] * (double)made);
            assert_true((double)live > occupancies[i] * (double)made - 4000);
            for (uint64_t k = 0; k < count.blocks; k++) /* the first are those that stay */
                assert_true(b.is_live[blocks[k].ref - 1] &&
                            b.sizes[blocks[k].ref - 1] == blocks[k].size);
        }
    }
}

/* The same seed makes the same, another one another. */
static void the_seed_decides(void **state)
{
    static struct book a, b;
    static struct ab_aging_block blocks[BLOCKS];
    (void)state;
    struct ab_aging_plan plan = plan_of(0.5, 1, 7);
    make(&plan, &a, blocks);
    make(&plan, &b, blocks);
    assert_memory_equal(&a, &b, sizeof a);
    plan.request.seed = 8;
    make(&plan, &b, blocks);
    assert_true(memcmp(&a, &b, sizeof a) != 0);
}

/* What stays lies scattered: of each tenth of the blocks, in the order in which they were made, about
 * the same part. */
static void what_stays_is_scattered(void **state)
{
    static struct book b;
    static struct ab_aging_block blocks[BLOCKS];
    static const uint64_t one[] = {64};
    (void)state;
    struct ab_aging_plan plan = {{0.5, 1, 3}, one, 1, 64 * 10000};
    make(&plan, &b, blocks);
    assert_int_equal(b.n, 10000);
    for (unsigned tenth = 0; tenth < 10; tenth++) {
        unsigned n = 0;
        for (unsigned i = 0; i < 1000; i++)
            n += b.is_live[tenth * 1000 + i] ? 1u : 0u;
        assert_in_range(n, 420, 580); /* 5 standard deviations */
    }
}

static void a_size_is_drawn_as_often_as_it_is_there(void **state)
{
    static struct book b;
    static struct ab_aging_block blocks[BLOCKS];
    (void)state;
    struct ab_aging_plan plan = plan_of(0.75, 10, 5);
    unsigned n = 0;
    make(&plan, &b, blocks);
    for (uint32_t i = 0; i < b.n; i++)
        n += b.sizes[i] == 16;
    assert_true(fabs((double)n / b.n - 0.5) < 0.05);
}

static void what_cannot_be_made_is_not_there(void **state)
{
    static struct book b;
    static struct ab_aging_block blocks[BLOCKS];
    static const uint64_t zero[] = {0};
    (void)state;
    struct ab_aging_plan plan = plan_of(0, 1, 1);
    assert_int_equal(make(&plan, &b, blocks).made_blocks, 0);
    plan = (struct ab_aging_plan){{0.5, 1, 1}, NULL, 0, 500000};
    assert_int_equal(make(&plan, &b, blocks).made_blocks, 0);
    plan = (struct ab_aging_plan){{0.5, 1, 1}, zero, 1, 1000};
    assert_int_equal(make(&plan, &b, blocks).made_blocks, 1000); /* as blocks of a byte */
    const struct ab_aging_calls calls = {&b, take, drop};
    memset(&b, 0, sizeof b);
    b.fail_at = 100;
    plan = plan_of(0.5, 1, 1);
    struct ab_aging_count count = ab_aging_make(&plan, &calls, blocks);
    assert_int_equal(count.made_blocks, 100);
    assert_int_equal(count.blocks, 100);
}

/* 100 of 1000 sizes are kept, each as likely as the others. */
static void a_sample_is_fair(void **state)
{
    (void)state;
    uint64_t kept[100];
    unsigned n_first_half = 0;
    struct ab_rng rng;
    ab_rng_init(&rng, 1, 1);
    for (unsigned round = 0; round < 50; round++) {
        struct ab_aging_sizes s = {.sizes = kept, .cap = 100};
        for (uint64_t i = 0; i < 1000; i++)
            ab_aging_sizes_take(&s, &rng, i);
        assert_int_equal(s.n, 100);
        for (unsigned i = 0; i < 100; i++)
            n_first_half += kept[i] < 500;
    }
    assert_in_range(n_first_half, 2300, 2700);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recount_is_exact),
        cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(what_stays_is_scattered),
        cmocka_unit_test(a_size_is_drawn_as_often_as_it_is_there),
        cmocka_unit_test(what_cannot_be_made_is_not_there),
        cmocka_unit_test(a_sample_is_fair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
