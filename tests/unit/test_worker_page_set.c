/* SPDX-License-Identifier: MIT
 *
 * The multiset of pages against a plain array of counters.
 */
#include "core/rng.h"
#include "support/cmocka.h"
#include "worker/page_set.h"

#include <stdlib.h>
#include <string.h>

enum { PAGES = 3000, CAPACITY = 8192 };

static uint64_t memory[CAPACITY];

/* Runs of pages in places far from each other, as heaps have. */
static uint64_t page_at(unsigned i)
{
    static const uint64_t bases[] = {0x7f0000000, 0x555550000, 0x7f0000000 + CAPACITY, 1};
    return bases[i % 4] + i / 4;
}

static unsigned count_entries(const struct ab_page_set *set)
{
    unsigned n = 0;
    for (uint64_t i = 0; i <= set->mask; i++)
        n += set->entries[i] != 0;
    return n;
}

static void it_counts_as_an_array_of_counters_does(void **state)
{
    (void)state;
    static unsigned counts[PAGES];
    static bool is_firm[PAGES];
    struct ab_page_set set;
    struct ab_rng rng;
    uint64_t distinct = 0, firm = 0;
    ab_rng_init(&rng, 1, 1);
    memset(memory, 0, sizeof memory);
    memset(counts, 0, sizeof counts);
    ab_page_set_init(&set, memory, CAPACITY);
    for (unsigned round = 0; round < 400000; round++) {
        unsigned i = (unsigned)ab_rng_below(&rng, PAGES);
        bool is_add = ab_rng_below(&rng, 100) < (round / 50000 % 2 == 0 ? 60u : 40u);
        if (is_add) {
            bool f = ab_rng_below(&rng, 2) == 0;
            assert_int_equal(ab_page_set_add(&set, page_at(i), f), counts[i] == 0);
            distinct += counts[i]++ == 0;
            firm += f && !is_firm[i];
            is_firm[i] |= f;
        } else {
            bool is_last = counts[i] == 1;
            assert_int_equal(ab_page_set_remove(&set, page_at(i)), is_last);
            distinct -= is_last;
            firm -= is_last && is_firm[i];
            is_firm[i] &= !is_last;
            counts[i] -= counts[i] > 0;
        }
        assert_int_equal(set.n, distinct);
        assert_int_equal(set.n_firm, firm);
    }
    assert_int_equal(count_entries(&set), distinct);
    for (unsigned i = 0; i < PAGES; i++)
        for (; counts[i] > 0; counts[i]--)
            assert_int_equal(ab_page_set_remove(&set, page_at(i)), counts[i] == 1);
    assert_int_equal(count_entries(&set), 0);
    assert_false(set.is_full);
}

static void what_does_not_fit_is_noted_and_never_hangs(void **state)
{
    (void)state;
    struct ab_page_set set;
    memset(memory, 0, sizeof memory);
    ab_page_set_init(&set, memory, 1024);
    for (uint64_t i = 0; i < 5000; i++)
        ab_page_set_add(&set, i * 77, true);
    assert_true(set.is_full);
    assert_true(set.n < 1024);
    for (uint64_t i = 0; i < 5000; i++)
        ab_page_set_remove(&set, i * 77);
    assert_int_equal(set.n, 0);
}

static void there_is_room_for_what_was_asked_for(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 100000; n = n * 2 + 1) {
        uint64_t capacity = ab_page_set_capacity(n);
        assert_true(n < capacity - capacity / 8);
        assert_int_equal(capacity & (capacity - 1), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_counts_as_an_array_of_counters_does),
        cmocka_unit_test(what_does_not_fit_is_noted_and_never_hangs),
        cmocka_unit_test(there_is_room_for_what_was_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
