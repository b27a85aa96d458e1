/* SPDX-License-Identifier: MIT
 *
 * The handle arena as a library, and what its glue adds. What all back ends have in common is in
 * tests/contract.
 */
#include "allocators/handle/handle.h"

#include "allocators/builtin.h"
#include "allocators/common/pages.h"
#include "base/bits.h"
#include "base/rng.h"
#include "support/heap_model.h"
#include "support/small_pages.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MIB = 1024 * 1024 };

static struct ab_handle_arena make(size_t value_bytes, uint64_t capacity, uint32_t version_max)
{
    struct ab_handle_arena a;
    struct ab_handle_options options = {.value_bytes = value_bytes,
                                        .capacity = capacity,
                                        .version_max = version_max,
                                        .version_base = AB_HANDLE_BASE_ZERO};
    assert_int_equal(ab_handle_arena_init(&a, &options), 0);
    return a;
}

static struct ab_handle insert(struct ab_handle_arena *a)
{
    struct ab_handle made;
    assert_int_equal(ab_handle_insert(a, &made), 0);
    assert_non_null(ab_handle_get(a, made));
    return made;
}

static void expect_full(struct ab_handle_arena *a)
{
    struct ab_handle made = {77, 77};
    assert_int_equal(ab_handle_insert(a, &made), ENOSPC);
    assert_int_equal(ab_handle_insert_zeroed(a, &made), ENOSPC);
    assert_true(made.index == 77 && made.version == 77);
}

static void arenas_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct ab_handle_options options;
        int error;
    } table[] = {
        {{.value_bytes = 8}, EINVAL},
        {{.value_bytes = 8, .capacity = (uint64_t)AB_HANDLE_CAPACITY_MAX + 1}, EINVAL},
        {{.value_bytes = 8, .capacity = UINT64_MAX}, EINVAL},
        {{.value_bytes = 8, .capacity = 1, .align = 48}, EINVAL},
        {{.value_bytes = 8, .capacity = 1, .align = 12}, EINVAL},
        {{.value_bytes = 8, .capacity = 1, .version_base = AB_HANDLE_BASE_END}, EINVAL},
        {{.value_bytes = 8, .capacity = 1, .capacity_bytes = 1 << 20}, EINVAL},
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

static void the_value_beyond_the_capacity_is_a_clear_error(void **state)
{
    (void)state;
    struct ab_handle_arena a = make(40, 1000, 0);
    struct ab_handle last = {0, 0};
    for (unsigned i = 0; i < 1000; i++)
        last = insert(&a);
    expect_full(&a);
    assert_int_equal(a.n_live, 1000);
    assert_true(ab_handle_remove(&a, last));
    assert_int_equal(insert(&a).index, last.index);
    expect_full(&a);
    ab_handle_arena_fini(&a);
}

static void a_stale_handle_is_found_however_often_its_slot_is_used_again(void **state)
{
    (void)state;
    struct ab_handle_arena a = make(8, 1, 0);
    struct ab_handle old[100];
    for (unsigned i = 0; i < 100; i++) {
        old[i] = insert(&a);
        assert_int_equal(old[i].index, 0);
        assert_true(i == 0 || old[i].version > old[i - 1].version);
        for (unsigned k = 0; k < i; k++) {
            assert_null(ab_handle_get(&a, old[k]));
            assert_null(ab_handle_get_mut(&a, old[k]));
            assert_false(ab_handle_remove(&a, old[k]));
        }
        assert_true(ab_handle_remove(&a, old[i]));
        assert_false(ab_handle_remove(&a, old[i]));
        assert_null(ab_handle_get(&a, old[i]));
    }
    ab_handle_arena_fini(&a);
}

/* Of slots that were never used, of ones that are free or retired: whatever the bits are. */
static void handles_that_were_never_given_out_are_stale(void **state)
{
    (void)state;
    static const uint32_t hostile[] = {
        0, 1, 2, 3, 4, 7, 0x7fffffff, 0x80000000, UINT32_MAX - 2, UINT32_MAX - 1, UINT32_MAX};
    struct ab_handle_arena a = make(8, 4, 3);
    struct ab_handle kept = insert(&a), freed = insert(&a);
    for (unsigned i = 0; i < 3; i++, freed = i < 3 ? insert(&a) : freed)
        assert_true(ab_handle_remove(&a, freed)); /* the third time retires the slot */
    for (size_t i = 0; i < AB_ARRAY_LEN(hostile); i++)
        for (size_t v = 0; v < AB_ARRAY_LEN(hostile); v++) {
            struct ab_handle h = {hostile[i], hostile[v]};
            bool is_kept = h.index == kept.index && h.version == kept.version;
            assert_true(ab_handle_is_live(&a, h) == is_kept);
            assert_true(is_kept || !ab_handle_remove(&a, h));
        }
    assert_int_equal(a.n_live, 1);
    ab_handle_arena_fini(&a);
}

static void a_slot_whose_versions_are_used_up_is_retired(void **state)
{
    (void)state;
    struct ab_handle_arena a = make(8, 2, 3);
    struct ab_handle first = {0, 0}, keeper = {0, 0};
    for (unsigned life = 0; life < 6; life++) {
        struct ab_handle h = insert(&a);
        if (life == 0)
            first = h;
        if (h.version == 3)
            keeper = h;
        assert_in_range(h.version, 1, 3);
        assert_true(ab_handle_remove(&a, h));
        assert_null(ab_handle_get(&a, first));
    }
    assert_int_equal(a.n_retired, 2);
    expect_full(&a);
    ab_handle_flush(&a);
    expect_full(&a);
    assert_int_equal(a.n_retired, 2);
    assert_null(ab_handle_get(&a, keeper));
    ab_handle_arena_fini(&a);
}

static void the_last_of_all_versions_is_used_and_never_wraps(void **state)
{
    (void)state;
    struct ab_handle_arena a = make(8, 1, 0);
    struct ab_handle early = insert(&a);
    assert_true(ab_handle_remove(&a, early));
    a.words[0] = (uint64_t)(UINT32_MAX - 1) << 32 | AB_HANDLE_END; /* 4 billion lives later */
    struct ab_handle last = insert(&a);
    assert_int_equal(last.version, UINT32_MAX);
    assert_true(ab_handle_remove(&a, last));
    expect_full(&a);
    assert_null(ab_handle_get(&a, early));
    assert_null(ab_handle_get(&a, last));
    assert_null(ab_handle_get(&a, (struct ab_handle){0, 0}));
    ab_handle_arena_fini(&a);
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

static void handles_are_equal_when_they_name_one_value(void **state)
{
    (void)state;
    struct ab_handle_arena a = make(8, 2, 0);
    struct ab_handle first = insert(&a), copy = first, other = insert(&a);
    assert_true(ab_handle_equal(first, copy));
    assert_false(ab_handle_equal(first, other));
    ab_handle_remove(&a, first);
    assert_false(ab_handle_equal(first, insert(&a))); /* the slot is the same */
    ab_handle_arena_fini(&a);
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

/* The bases of heaps that are open at once differ, however many there are. */
static void handles_of_another_heap_are_stale(void **state)
{
    (void)state;
    enum { HEAPS = 40 };
    const struct ab_backend *b = ab_builtin_find("handle");
    const struct ab_facts facts = {.largest_bytes = 64, .live_peak_blocks = 4, .lanes = 1};
    const uint64_t values[16] = {0};
    struct ab_open_args args = {.size = sizeof args, .facts = &facts, .values = values};
    struct ab_heap *heaps[HEAPS];
    ab_ref refs[HEAPS];
    for (unsigned i = 0; i < HEAPS; i++) {
        assert_int_equal(b->open(&args, &heaps[i]), 0);
        refs[i] = b->alloc(heaps[i], 64);
    }
    for (unsigned i = 0; i < HEAPS; i++)
        for (unsigned k = 0; k < HEAPS; k++) {
            assert_true((b->resolve(heaps[i], refs[k]) != NULL) == (i == k));
            if (i != k)
                b->free(heaps[i], refs[k], 64);
        }
    for (unsigned i = 0; i < HEAPS; i++) {
        assert_non_null(b->resolve(heaps[i], refs[i]));
        b->close(heaps[i]);
    }
}

/* Also of slots whose last value never was removed: the flush was its end. */
static void a_flush_makes_every_handle_stale_and_every_slot_reusable(void **state)
{
    (void)state;
    enum { N = 50, ROUNDS = 5 };
    struct ab_handle_arena a = make(24, N, ROUNDS);
    struct ab_handle old[ROUNDS][N];
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < N; i++)
            old[round][i] = insert(&a);
        expect_full(&a);
        if (round % 2 == 1)
            for (unsigned i = 0; i < N; i += 2)
                assert_true(ab_handle_remove(&a, old[round][i]));
        ab_handle_flush(&a);
        assert_int_equal(a.n_live, 0);
        for (unsigned k = 0; k <= round; k++)
            for (unsigned i = 0; i < N; i++)
                assert_null(ab_handle_get(&a, old[k][i]));
    }
    expect_full(&a);
    assert_int_equal(a.n_retired, N);
    ab_handle_arena_fini(&a);
}

static unsigned count_live(const struct ab_handle_arena *a)
{
    struct ab_handle h = {0, 0};
    unsigned n = 0;
    while (ab_handle_next(a, &h)) {
        assert_non_null(ab_handle_get(a, h));
        n++;
    }
    return n;
}

static void iteration_meets_live_values_only_each_once(void **state)
{
    (void)state;
    struct ab_handle_arena a = make(8, 100, 0);
    struct ab_handle handles[100], h = {0, 0};
    uint64_t sum = 0;
    assert_int_equal(count_live(&a), 0);
    for (unsigned i = 0; i < 100; i++) {
        handles[i] = insert(&a);
        *(uint64_t *)ab_handle_get_mut(&a, handles[i]) = i;
    }
    for (unsigned i = 0; i < 100; i += 3)
        ab_handle_remove(&a, handles[i]);
    assert_int_equal(count_live(&a), 66);
    while (ab_handle_next(&a, &h))
        sum += *(const uint64_t *)ab_handle_get(&a, h);
    assert_int_equal(sum, 4950 - 1683); /* of 0 … 99 without the multiples of 3 */
    insert(&a);
    assert_int_equal(count_live(&a), 67);
    ab_handle_flush(&a);
    assert_int_equal(count_live(&a), 0);
    assert_true(insert(&a).version == 2 && count_live(&a) == 1);
    ab_handle_arena_fini(&a);
}

static void the_current_value_of_an_iteration_may_be_removed(void **state)
{
    (void)state;
    struct ab_handle_arena a = make(8, 100, 0);
    for (unsigned i = 0; i < 100; i++)
        insert(&a);
    struct ab_handle h = {0, 0};
    unsigned n = 0;
    for (; ab_handle_next(&a, &h); n++)
        if (h.index % 2 == 0)
            ab_handle_remove(&a, h);
    assert_int_equal(n, 100);
    assert_int_equal(count_live(&a), 50);
    for (h = (struct ab_handle){0, 0}; ab_handle_next(&a, &h);)
        ab_handle_remove(&a, h); /* the last one empties the arena */
    assert_int_equal(a.n_live, 0);
    ab_handle_arena_fini(&a);
}

/* n zeroed values, checked and then made dirty. */
static void check_zeroed(struct ab_handle_arena *a, struct ab_handle *handles, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(ab_handle_insert_zeroed(a, &handles[i]), 0);
        char *p = ab_handle_get_mut(a, handles[i]);
        for (size_t k = 0; k < a->slot_bytes; k++)
            assert_int_equal(p[k], 0);
        memset(p, 0x5a, a->slot_bytes);
    }
}

static void zeroed_values_are_zero_whatever_lay_there_before(void **state)
{
    (void)state;
    enum { N = 100 };
    struct ab_handle_arena a = make(100, N, 0);
    struct ab_handle handles[N];
    check_zeroed(&a, handles, N / 2);
    for (unsigned i = 0; i < 9; i++)
        ab_handle_remove(&a, handles[i * 5]);
    check_zeroed(&a, handles, N / 2 + 9); /* out of the list of free slots, then fresh ones */
    for (unsigned round = 0; round < 3; round++) {
        ab_handle_flush(&a);
        check_zeroed(&a, handles, N);
    }
    ab_handle_flush(&a);
    for (unsigned i = 0; i < 45; i++)
        insert(&a);
    ab_handle_purge(&a); /* the page of the last one in use stays, with others on it */
    check_zeroed(&a, handles, N - 45);
    ab_handle_arena_fini(&a);
}

static void an_arena_touches_nothing_before_it_is_needed_and_purge_returns_it(void **state)
{
    (void)state;
    struct ab_handle_arena a = make(1024, 4096, 0);
    struct ab_handle handles[4096];
    for (unsigned i = 0; i < 4096; i++)
        handles[i] = insert(&a);
    assert_int_equal(heap_model_resident(a.values, 4 * MIB), 0);
    for (unsigned i = 0; i < 4096; i++)
        *(char *)ab_handle_get_mut(&a, handles[i]) = 1;
    assert_true(AB_MARKS || a.stride == 1024);
    assert_int_equal(ab_handle_used_bytes(&a), 4096 * (a.stride + sizeof a.words[0]));
    ab_handle_flush(&a);
    insert(&a);
    ab_handle_purge(&a);
    assert_true(heap_model_resident(a.values, 4 * MIB) <= 4096);
    assert_null(ab_handle_get(&a, handles[0]));
    assert_null(ab_handle_get(&a, handles[4095])); /* versions outlive a purge */
    assert_int_equal(insert(&a).version, 2);
    ab_handle_arena_fini(&a);
}

static void large_values_do_not_all_begin_in_the_same_cache_set(void **state)
{
    (void)state;
    struct ab_handle_arena a = make(8192, 2, 0);
    const char *first = ab_handle_get(&a, insert(&a)), *second = ab_handle_get(&a, insert(&a));
    assert_int_equal(second - first, AB_MARKS ? 8192 + 16 : 8192 + 64);
    ab_handle_arena_fini(&a);
}

/* Beside a list of every handle that ever was: those of the model are live, all others are not. */
static void random_work_agrees_with_the_model(void **state)
{
    (void)state;
    enum { N = 64, STEPS = 20000 };
    static struct ab_handle dead[STEPS], live[N];
    struct ab_handle_arena a = make(16, N, 300);
    struct ab_rng rng;
    uint32_t n_live = 0, n_dead = 0;
    ab_rng_init(&rng, 4711, 1);
    for (uint64_t i = 0; i < STEPS && a.n_retired < N; i++) {
        struct ab_handle h;
        bool inserts = ab_rng_below(&rng, 100) < 52;
        if (inserts && ab_handle_insert(&a, &h) == 0) {
            *(uint64_t *)ab_handle_get_mut(&a, h) = (uint64_t)h.version << 32 | h.index;
            live[n_live++] = h;
        } else if (!inserts && n_live > 0) {
            uint32_t k = (uint32_t)ab_rng_below(&rng, n_live);
            assert_true(ab_handle_remove(&a, live[k]));
            dead[n_dead++] = live[k];
            live[k] = live[--n_live];
        }
        if (ab_rng_below(&rng, 500) == 0) {
            ab_handle_flush(&a);
            while (n_live > 0)
                dead[n_dead++] = live[--n_live];
        }
        assert_int_equal(a.n_live, n_live);
        for (uint32_t k = 0; k < n_live; k++)
            assert_int_equal(*(const uint64_t *)ab_handle_get(&a, live[k]),
                             (uint64_t)live[k].version << 32 | live[k].index);
        for (uint32_t k = 0; k < n_dead; k += 1 + n_dead / 50)
            assert_null(ab_handle_get(&a, dead[k]));
    }
    for (uint32_t k = 0; k < n_dead; k++)
        assert_null(ab_handle_get(&a, dead[k]));
    assert_true(n_dead > 5000);
    ab_handle_arena_fini(&a);
}

/* ---- the back end ---- */

static const struct ab_backend *handle(void)
{
    return ab_builtin_find("handle");
}

static size_t count_until_full(const char *params, const struct ab_facts *facts)
{
    struct ab_heap *heap = heap_model_open(handle(), params, facts);
    size_t n = 0;
    while (n < 10000 && handle()->alloc(heap, 8) != 0)
        n++;
    handle()->close(heap);
    return n;
}

static void capacity_is_the_live_peak_unless_it_is_set(void **state)
{
    (void)state;
    struct ab_facts facts = {.largest_bytes = 64,
                             .live_peak_blocks = 300,
                             .total_blocks = 900,
                             .total_bytes = 900 * 64,
                             .lanes = 1};
    assert_int_equal(count_until_full("", &facts), 300);
    assert_int_equal(count_until_full("capacity=123", &facts), 123);
    facts.lanes = 2; /* which may part from the order that the peak is known of */
    assert_int_equal(count_until_full("", &facts), 900);
    facts = (struct ab_facts){.lanes = 1};
    assert_int_equal(count_until_full("", &facts), 1);
}

static void slots_hold_the_largest_request_unless_they_are_set(void **state)
{
    (void)state;
    struct ab_facts facts = {
        .largest_bytes = 1000, .largest_align = 256, .live_peak_blocks = 10, .lanes = 1};
    struct ab_heap *heap = heap_model_open(handle(), "", &facts);
    ab_ref ref = handle()->alloc_aligned(heap, 256, 1000);
    assert_int_equal((uintptr_t)handle()->resolve(heap, ref) % 256, 0);
    assert_int_equal(handle()->usable_size(heap, ref), 1024);
    assert_true(handle()->resize(heap, ref, 1000, 1024) == ref);
    assert_true(handle()->resize(heap, ref, 1000, 1025) == 0);
    assert_true(handle()->alloc(heap, 1025) == 0 && handle()->alloc_zeroed(heap, 1025) == 0);
    assert_true(handle()->alloc_aligned(heap, 512, 10) == 0);
    handle()->close(heap);
    heap = heap_model_open(handle(), "slot=40", &facts);
    assert_true(handle()->alloc(heap, 257) == 0 && handle()->alloc(heap, 256) != 0);
    handle()->close(heap);
}

static void a_stale_ref_can_be_neither_resized_nor_freed(void **state)
{
    (void)state;
    struct ab_facts facts = {.largest_bytes = 64, .live_peak_blocks = 2, .lanes = 1};
    struct ab_heap *heap = heap_model_open(handle(), "", &facts);
    ab_ref keeper = handle()->alloc(heap, 64), old = handle()->alloc(heap, 64);
    handle()->free(heap, old, 64);
    ab_ref again = handle()->alloc(heap, 64);
    assert_true(again != old);
    assert_true(handle()->resize(heap, old, 64, 32) == 0);
    handle()->free(heap, old, 64);
    assert_non_null(handle()->resolve(heap, again));
    assert_ptr_not_equal(handle()->resolve(heap, again), handle()->resolve(heap, keeper));
    handle()->close(heap);
}

static void *work_in_a_lane(void *user)
{
    struct ab_heap *heap = user;
    ab_ref refs[32] = {0};
    for (unsigned i = 0; i < 20000; i++) {
        ab_ref *ref = &refs[i * 7 % 32];
        uint64_t *value = *ref != 0 ? handle()->resolve(heap, *ref) : NULL;
        if (*ref != 0 && (value == NULL || *value != *ref))
            return user;
        handle()->free(heap, *ref, 8);
        *ref = handle()->alloc(heap, 8);
        if (*ref == 0)
            return user;
        *(uint64_t *)handle()->resolve(heap, *ref) = *ref;
    }
    return NULL;
}

static void several_lanes_share_one_arena(void **state)
{
    (void)state;
    struct ab_facts facts = {
        .largest_bytes = 8, .live_peak_blocks = 128, .total_blocks = 80000, .lanes = 4};
    struct ab_heap *heap = heap_model_open(handle(), "", &facts);
    pthread_t threads[4];
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work_in_a_lane, heap), 0);
    for (unsigned i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    struct ab_heap_stats stats;
    assert_int_equal(handle()->stats(heap, &stats), 0);
    assert_int_equal(stats.live_bytes, 4 * 32 * 16);
    handle()->close(heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arenas_that_cannot_be_are_refused),
        cmocka_unit_test(values_are_aligned_and_do_not_overlap),
        cmocka_unit_test(the_value_beyond_the_capacity_is_a_clear_error),
        cmocka_unit_test(a_stale_handle_is_found_however_often_its_slot_is_used_again),
        cmocka_unit_test(handles_that_were_never_given_out_are_stale),
        cmocka_unit_test(a_slot_whose_versions_are_used_up_is_retired),
        cmocka_unit_test(the_last_of_all_versions_is_used_and_never_wraps),
        cmocka_unit_test(handles_of_an_arena_with_another_base_are_stale),
        cmocka_unit_test(handles_of_another_arena_are_stale_by_default),
        cmocka_unit_test(handles_are_equal_when_they_name_one_value),
        cmocka_unit_test(handles_of_an_ordered_arena_say_which_is_older),
        cmocka_unit_test(an_ordered_arena_ends_with_its_versions),
        cmocka_unit_test(dense_values_lie_as_in_an_array),
        cmocka_unit_test(a_capacity_may_be_given_in_bytes),
        cmocka_unit_test(handles_of_another_heap_are_stale),
        cmocka_unit_test(a_flush_makes_every_handle_stale_and_every_slot_reusable),
        cmocka_unit_test(iteration_meets_live_values_only_each_once),
        cmocka_unit_test(the_current_value_of_an_iteration_may_be_removed),
        cmocka_unit_test(zeroed_values_are_zero_whatever_lay_there_before),
        cmocka_unit_test(an_arena_touches_nothing_before_it_is_needed_and_purge_returns_it),
        cmocka_unit_test(large_values_do_not_all_begin_in_the_same_cache_set),
        cmocka_unit_test(random_work_agrees_with_the_model),
        cmocka_unit_test(capacity_is_the_live_peak_unless_it_is_set),
        cmocka_unit_test(slots_hold_the_largest_request_unless_they_are_set),
        cmocka_unit_test(a_stale_ref_can_be_neither_resized_nor_freed),
        cmocka_unit_test(several_lanes_share_one_arena),
    };
    test_with_small_pages();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
