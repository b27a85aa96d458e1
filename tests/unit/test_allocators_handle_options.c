/* SPDX-License-Identifier: MIT
 *
 * What the options of a handle arena decide: which arenas there can be, how many values they hold
 * and where these lie, which versions their handles have.
 */
#include "allocators/handle/handle.h"

#include "allocators/common/pages.h"
#include "base/bits.h"
#include "base/rng.h"
#include "support/handle_arena.h"

#include <string.h>

static void arenas_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct ab_handle_options options;
        int error;
    } table[] = {
        {{.value_bytes = 8, .capacity = (uint64_t)AB_HANDLE_CAPACITY_MAX + 1}, EINVAL},
        {{.value_bytes = 8, .capacity = UINT64_MAX}, EINVAL},
        {{.value_bytes = 8, .capacity = 1, .align = 48}, EINVAL},
        {{.value_bytes = 8, .capacity = 1, .align = 12}, EINVAL},
        {{.value_bytes = 8, .capacity = 1, .version_base = AB_HANDLE_BASE_END}, EINVAL},
        {{.value_bytes = 8, .capacity = 1, .capacity_bytes = 1 << 20}, EINVAL},
        {{.value_bytes = 8, .values_bytes = 1, .capacity_bytes = 1 << 20}, EINVAL},
        {{.value_bytes = 8, .values_bytes = 1}, ENOMEM}, /* not one value */
        {{.value_bytes = 8, .capacity = 1, .align = 16, .is_dense = true}, EINVAL},
        {{.value_bytes = 8, .capacity_bytes = 4096}, ENOMEM}, /* a page of words, none of values */
        {{.value_bytes = 8, .capacity_bytes = 1}, ENOMEM},
        {{.value_bytes = SIZE_MAX, .capacity = 1}, ENOMEM},
        {{.value_bytes = SIZE_MAX / 2, .capacity = 3}, ENOMEM},
        {{.value_bytes = 8, .capacity = 1, .align = (size_t)1 << 63}, ENOMEM},
        {{.value_bytes = (size_t)1 << 40, .capacity = AB_HANDLE_CAPACITY_MAX}, ENOMEM},
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(table); i++) {
        struct ab_handle_arena a = {.n_live = 77};
        assert_int_equal(ab_handle_arena_init(&a, &table[i].options), table[i].error);
        assert_int_equal(a.n_live, 77);
    }
}

static void values_are_aligned_and_do_not_overlap(void **state)
{
    (void)state;
    static const size_t table[][2] = {{0, 0},    {1, 0},       {17, 16},
                                      {100, 64}, {4096, 4096}, {5, 65536}};
    for (size_t i = 0; i < AB_ARRAY_LEN(table); i++) {
        struct ab_handle_arena a;
        struct ab_handle_options o = {
            .value_bytes = table[i][0], .align = table[i][1], .capacity = 9};
        assert_int_equal(ab_handle_arena_init(&a, &o), 0);
        struct ab_handle handles[9];
        for (unsigned k = 0; k < 9; k++)
            memset(ab_handle_get_mut(&a, handles[k] = insert(&a)), (int)k, a.slot_bytes);
        for (unsigned k = 0; k < 9; k++) {
            const unsigned char *p = ab_handle_get(&a, handles[k]);
            assert_int_equal((uintptr_t)p % (table[i][1] < 16 ? 16 : table[i][1]), 0);
            assert_true(p[0] == k && p[a.slot_bytes - 1] == k && a.slot_bytes >= table[i][0]);
        }
        ab_handle_arena_fini(&a);
    }
}

/* Bases in the middle, and the last one there is: as many lives as without, and none of another
 * arena's handles is known. */
static void handles_of_an_arena_with_another_base_are_stale(void **state)
{
    (void)state;
    enum { LIVES = 50 };
    static const uint32_t bases[] = {AB_HANDLE_BASE_ZERO, 1000, AB_HANDLE_BASE_END - 1};
    struct ab_handle_arena arenas[AB_ARRAY_LEN(bases)];
    for (size_t i = 0; i < AB_ARRAY_LEN(bases); i++) {
        struct ab_handle_options o = {
            .value_bytes = 8, .capacity = 2, .version_max = LIVES, .version_base = bases[i]};
        assert_int_equal(ab_handle_arena_init(&arenas[i], &o), 0);
    }
    for (unsigned life = 0; life < 2 * LIVES; life++) {
        struct ab_handle made[AB_ARRAY_LEN(bases)];
        for (size_t i = 0; i < AB_ARRAY_LEN(bases); i++)
            made[i] = insert(&arenas[i]);
        for (size_t i = 0; i < AB_ARRAY_LEN(bases); i++)
            for (size_t k = 0; k < AB_ARRAY_LEN(bases); k++) {
                assert_int_equal(made[i].index, made[k].index);
                assert_true(ab_handle_is_live(&arenas[i], made[k]) == (i == k));
                assert_true(i == k || !ab_handle_remove(&arenas[i], made[k]));
            }
        for (size_t i = 0; i < AB_ARRAY_LEN(bases); i++)
            assert_true(ab_handle_remove(&arenas[i], made[i]));
    }
    for (size_t i = 0; i < AB_ARRAY_LEN(bases); i++) {
        expect_full(&arenas[i]);
        ab_handle_arena_fini(&arenas[i]);
    }
}

/* Without a base each arena has one of its own. */
static void handles_of_another_arena_are_stale_by_default(void **state)
{
    (void)state;
    enum { ARENAS = 40 };
    struct ab_handle_arena arenas[ARENAS];
    struct ab_handle first[ARENAS], second[ARENAS];
    for (unsigned i = 0; i < ARENAS; i++) {
        struct ab_handle_options o = {.value_bytes = 8, .capacity = 2};
        assert_int_equal(ab_handle_arena_init(&arenas[i], &o), 0);
        first[i] = insert(&arenas[i]);
        assert_true(ab_handle_remove(&arenas[i], first[i]));
        second[i] = insert(&arenas[i]);
    }
    for (unsigned i = 0; i < ARENAS; i++)
        for (unsigned k = 0; k < ARENAS; k++) {
            assert_true(ab_handle_equal(second[i], second[k]) == (i == k));
            assert_true((ab_handle_get(&arenas[i], second[k]) != NULL) == (i == k));
            assert_null(ab_handle_get(&arenas[i], first[k]));
        }
    for (unsigned i = 0; i < ARENAS; i++)
        ab_handle_arena_fini(&arenas[i]);
}

/* Over every order of slots: after removals, a flush, an arena that ran empty. */
static void handles_of_an_ordered_arena_say_which_is_older(void **state)
{
    (void)state;
    enum { N = 20, STEPS = 2000 };
    struct ab_handle_options o = {.value_bytes = 4, .capacity = N, .is_ordered = true};
    struct ab_handle_arena a;
    struct ab_handle live[N], before = {0, 0}, h;
    struct ab_rng rng;
    unsigned n = 0;
    assert_int_equal(ab_handle_arena_init(&a, &o), 0);
    ab_rng_init(&rng, 4711, 1);
    for (unsigned i = 0; i < STEPS; i++) {
        if (n < N && ab_rng_below(&rng, 100) < 55) {
            h = insert(&a);
            assert_true(ab_handle_is_older(before, h) && !ab_handle_is_older(h, before));
            before = live[n++] = h;
        } else if (n > 0) {
            uint32_t k = (uint32_t)ab_rng_below(&rng, n);
            assert_true(ab_handle_remove(&a, live[k]));
            assert_null(ab_handle_get(&a, live[k]));
            live[k] = live[--n];
        }
        if (i % 300 == 299) {
            ab_handle_flush(&a);
            n = 0;
        }
        for (unsigned k = 0; k < n; k++)
            assert_non_null(ab_handle_get(&a, live[k]));
    }
    ab_handle_arena_fini(&a);
}

static void an_ordered_arena_ends_with_its_versions(void **state)
{
    (void)state;
    struct ab_handle_options o = {
        .value_bytes = 4, .capacity = 3, .version_max = 7, .is_ordered = true};
    struct ab_handle_arena a;
    struct ab_handle last = {0, 0};
    assert_int_equal(ab_handle_arena_init(&a, &o), 0);
    for (unsigned i = 0; i < 7; i++) {
        last = insert(&a);
        assert_true(ab_handle_remove(&a, last));
    }
    expect_full(&a);
    ab_handle_flush(&a);
    expect_full(&a);
    assert_null(ab_handle_get(&a, last));
    ab_handle_arena_fini(&a);
}

/* As in an array: a float takes 4 bytes, not 16. A sanitizer's marks need more. */
static void dense_values_lie_as_in_an_array(void **state)
{
    (void)state;
    static const size_t table[][2] = {{1, 1},  {2, 2},  {4, 4},  {8, 8},   {3, 1},    {6, 2},
                                      {12, 4}, {28, 4}, {24, 8}, {48, 16}, {4096, 16}};
    for (size_t i = 0; i < AB_ARRAY_LEN(table); i++) {
        enum { N = 300 };
        size_t bytes = table[i][0];
        struct ab_handle_options o = {.value_bytes = bytes, .capacity = N, .is_dense = true};
        struct ab_handle_arena a;
        struct ab_handle handles[N];
        assert_int_equal(ab_handle_arena_init(&a, &o), 0);
        assert_true(AB_MARKS || a.stride == bytes);
        for (unsigned k = 0; k < N; k++) {
            assert_int_equal(ab_handle_insert_zeroed(&a, &handles[k]), 0);
            unsigned char *p = ab_handle_get_mut(&a, handles[k]);
            assert_int_equal((uintptr_t)p % table[i][1], 0);
            assert_true(p[0] == 0 && p[bytes - 1] == 0);
            memset(p, (int)k, bytes);
        }
        expect_full(&a);
        for (unsigned k = 0; k < N; k += 2)
            assert_true(ab_handle_remove(&a, handles[k]));
        for (unsigned k = 1; k < N; k += 2) {
            const unsigned char *p = ab_handle_get(&a, handles[k]);
            assert_true(p[0] == (k & 255) && p[bytes - 1] == (k & 255));
        }
        ab_handle_arena_fini(&a);
    }
}

/* With the words of its slots, in whole pages: as many as fit, and not one more. */
static void a_capacity_may_be_given_in_bytes(void **state)
{
    (void)state;
    static const size_t table[][3] = {
        {4, 10 << 20, 16}, {100, 10 << 20, 112}, {8, 8192, 16}, {5000, 65536, 5008}};
    size_t page = ab_page_size();
    for (size_t i = 0; i < AB_ARRAY_LEN(table); i++) {
        size_t limit = ab_align_up(table[i][1], page), stride = table[i][2];
        struct ab_handle_options o = {.value_bytes = table[i][0], .capacity_bytes = limit};
        struct ab_handle_arena a;
        assert_int_equal(ab_handle_arena_init(&a, &o), 0);
        size_t n = a.capacity, more = ab_align_up((n + 1) * 8, page) + (n + 1) * stride;
        assert_in_range(a.map_bytes, 1, limit);
        assert_true(AB_MARKS || ab_align_up(more, page) > limit);
        for (size_t k = 0; k < n; k++)
            insert(&a);
        expect_full(&a);
        ab_handle_arena_fini(&a);
    }
}

static void large_values_do_not_all_begin_in_the_same_cache_set(void **state)
{
    (void)state;
    struct ab_handle_arena a = make(8192, 2, 0);
    const char *first = ab_handle_get(&a, insert(&a)), *second = ab_handle_get(&a, insert(&a));
    assert_int_equal(second - first, AB_MARKS ? 8192 + 16 : 8192 + 64);
    ab_handle_arena_fini(&a);
}

static void a_capacity_may_be_given_in_bytes_of_values(void **state)
{
    (void)state;
    struct ab_handle_options o = {.value_bytes = 1, .values_bytes = 10 << 20, .is_dense = true};
    struct ab_handle_arena a;
    assert_int_equal(ab_handle_arena_init(&a, &o), 0);
    assert_int_equal((size_t)a.capacity, (10u << 20) / a.stride);
    assert_true(AB_MARKS || AB_CHECKS || a.capacity == 10 << 20);
    ab_handle_arena_fini(&a);
}

/* Wherever the buffer begins, all that fits in it is used and nothing behind it. */
static void an_arena_may_lie_in_a_buffer(void **state)
{
    (void)state;
    static unsigned char memory[5000];
    for (size_t offset = 0; offset < 20; offset++) {
        struct ab_handle_options o = {.value_bytes = 24, .align = offset % 2 == 0 ? 0 : 64};
        struct ab_handle_arena a;
        memset(memory, 0xAA, sizeof memory);
        assert_int_equal(ab_handle_arena_init_buffer(&a, memory + offset, 4000, &o), 0);
        assert_int_equal(a.map_bytes, 0);
        uint32_t n = a.capacity;
        for (uint32_t i = 0; i < n; i++) {
            struct ab_handle h;
            assert_int_equal(ab_handle_insert_zeroed(&a, &h), 0);
            unsigned char *value = ab_handle_get_mut(&a, h);
            assert_true(value >= memory + offset && value + 24 <= memory + offset + 4000);
            assert_int_equal((uintptr_t)value % (o.align == 0 ? 16 : o.align), 0);
            for (size_t k = 0; k < 24; k++)
                assert_int_equal(value[k], 0);
        }
        expect_full(&a);
        ab_handle_purge(&a); /* there is nothing to give back */
        ab_handle_flush(&a);
        o.capacity = n;
        ab_handle_arena_fini(&a);
        assert_int_equal(ab_handle_arena_init_buffer(&a, memory + offset, 4000, &o), 0);
        ab_handle_arena_fini(&a);
        o.capacity = n + 1;
        assert_int_equal(ab_handle_arena_init_buffer(&a, memory + offset, 4000, &o), ENOMEM);
        for (size_t k = 0; k < offset; k++)
            assert_int_equal(memory[k], 0xAA);
        assert_int_equal(memory[offset + 4000], 0xAA);
    }
    struct ab_handle_options o = {.value_bytes = 24};
    struct ab_handle_arena a;
    assert_int_equal(ab_handle_arena_init_buffer(&a, memory, 7, &o), ENOMEM);
    assert_int_equal(ab_handle_arena_init_buffer(&a, memory, 0, &o), ENOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arenas_that_cannot_be_are_refused),
        cmocka_unit_test(values_are_aligned_and_do_not_overlap),
        cmocka_unit_test(handles_of_an_arena_with_another_base_are_stale),
        cmocka_unit_test(handles_of_another_arena_are_stale_by_default),
        cmocka_unit_test(handles_of_an_ordered_arena_say_which_is_older),
        cmocka_unit_test(an_ordered_arena_ends_with_its_versions),
        cmocka_unit_test(dense_values_lie_as_in_an_array),
        cmocka_unit_test(a_capacity_may_be_given_in_bytes),
        cmocka_unit_test(a_capacity_may_be_given_in_bytes_of_values),
        cmocka_unit_test(an_arena_may_lie_in_a_buffer),
        cmocka_unit_test(large_values_do_not_all_begin_in_the_same_cache_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
