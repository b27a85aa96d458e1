/* SPDX-License-Identifier: MIT
 *
 * The handle arena as a library: which handles are live, through the whole life of a slot; and what
 * its glue adds. What all back ends have in common is in tests/contract.
 */
#include "allocators/handle/handle.h"

#include "allocators/builtin.h"
#include "base/bits.h"
#include "base/rng.h"
#include "support/handle_arena.h"
#include "support/heap_model.h"
#include "support/small_pages.h"

#include <pthread.h>
#include <string.h>

enum { MIB = 1024 * 1024 };

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
        cmocka_unit_test(the_value_beyond_the_capacity_is_a_clear_error),
        cmocka_unit_test(a_stale_handle_is_found_however_often_its_slot_is_used_again),
        cmocka_unit_test(handles_that_were_never_given_out_are_stale),
        cmocka_unit_test(a_slot_whose_versions_are_used_up_is_retired),
        cmocka_unit_test(the_last_of_all_versions_is_used_and_never_wraps),
        cmocka_unit_test(handles_are_equal_when_they_name_one_value),
        cmocka_unit_test(handles_of_another_heap_are_stale),
        cmocka_unit_test(a_flush_makes_every_handle_stale_and_every_slot_reusable),
        cmocka_unit_test(iteration_meets_live_values_only_each_once),
        cmocka_unit_test(the_current_value_of_an_iteration_may_be_removed),
        cmocka_unit_test(zeroed_values_are_zero_whatever_lay_there_before),
        cmocka_unit_test(an_arena_touches_nothing_before_it_is_needed_and_purge_returns_it),
        cmocka_unit_test(random_work_agrees_with_the_model),
        cmocka_unit_test(capacity_is_the_live_peak_unless_it_is_set),
        cmocka_unit_test(slots_hold_the_largest_request_unless_they_are_set),
        cmocka_unit_test(a_stale_ref_can_be_neither_resized_nor_freed),
        cmocka_unit_test(several_lanes_share_one_arena),
    };
    test_with_small_pages();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
