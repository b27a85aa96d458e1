/* SPDX-License-Identifier: MIT
 *
 * Sizes, lifetimes, the curve and the threads of a work, counted by hand.
 */
#include "support/cmocka.h"
#include "trace_tools/trace_stats.h"

static struct ab_overview seen;

static void alloc(struct ab_overview_maker *m, uint32_t slot, uint32_t thread, uint64_t size)
{
    ab_overview_take(m, &(struct ab_event){.slot = slot, .thread = thread, .size = size});
}

static void resize(struct ab_overview_maker *m, uint32_t slot, uint64_t size)
{
    ab_overview_take(m, &(struct ab_event){.kind = AB_EVENT_RESIZE, .slot = slot, .size = size});
}

static void release(struct ab_overview_maker *m, uint32_t slot, uint32_t thread)
{
    ab_overview_take(m, &(struct ab_event){.kind = AB_EVENT_FREE, .slot = slot, .thread = thread});
}

/* A call that changes nothing. */
static void idle(struct ab_overview_maker *m)
{
    ab_overview_take(m, &(struct ab_event){.failed = true});
}

static void blocks_are_counted_by_last_size_and_calls_until_freed(void **state)
{
    (void)state;
    struct ab_overview_maker *m = ab_overview_begin();
    alloc(m, 0, 0, 100); /* call 0: freed by call 3 */
    alloc(m, 1, 0, 1);   /* call 1: freed by call 2 */
    release(m, 1, 0);
    release(m, 0, 0);
    alloc(m, 1, 0, 64); /* never freed, 4096 at the end */
    resize(m, 1, 4096);
    idle(m);
    ab_overview_end(m, &seen);
    assert_int_equal(seen.n_calls, 7);
    assert_int_equal(seen.blocks[7][2], 1); /* up to 128 bytes, up to 4 calls */
    assert_int_equal(seen.blocks[0][0], 1);
    assert_int_equal(seen.blocks[12][AB_OVERVIEW_CLASSES], 1);
    uint64_t sum = 0;
    for (unsigned i = 0; i < AB_OVERVIEW_CLASSES; i++)
        for (unsigned k = 0; k <= AB_OVERVIEW_CLASSES; k++)
            sum += seen.blocks[i][k];
    assert_int_equal(sum, 3);
    ab_overview_abandon(m);
}

static void classes_end_at_powers_of_two_and_the_last_holds_the_rest(void **state)
{
    (void)state;
    assert_int_equal(ab_overview_class(0), 0);
    assert_int_equal(ab_overview_class(1), 0);
    assert_int_equal(ab_overview_class(2), 1);
    assert_int_equal(ab_overview_class(3), 2);
    assert_int_equal(ab_overview_class(4096), 12);
    assert_int_equal(ab_overview_class(4097), 13);
    assert_int_equal(ab_overview_class(UINT64_MAX), AB_OVERVIEW_CLASSES - 1);
}

static void the_curve_has_the_least_and_the_most_of_each_step(void **state)
{
    (void)state;
    enum { N = 5 * AB_OVERVIEW_STEPS };
    struct ab_overview_maker *m = ab_overview_begin();
    for (uint32_t i = 0; i < N; i++)
        alloc(m, i, 0, 10);
    ab_overview_end(m, &seen);
    assert_int_equal(seen.step_calls, 8);
    assert_int_equal(seen.n_steps, N / 8);
    for (uint32_t i = 0; i < seen.n_steps; i++) {
        assert_int_equal(seen.live[i].low, 10 * (8 * i + 1));
        assert_int_equal(seen.live[i].high, 10 * (8 * i + 8));
    }
    ab_overview_abandon(m);
}

static void a_step_that_is_exactly_full_doubles_at_the_next_call(void **state)
{
    (void)state;
    struct ab_overview_maker *m = ab_overview_begin();
    for (uint32_t i = 0; i < AB_OVERVIEW_STEPS + 1; i++)
        idle(m);
    ab_overview_end(m, &seen);
    assert_int_equal(seen.step_calls, 2);
    assert_int_equal(seen.n_steps, AB_OVERVIEW_STEPS / 2 + 1);
    ab_overview_abandon(m);
}

static void each_pair_of_threads_has_its_frees(void **state)
{
    (void)state;
    struct ab_overview_maker *m = ab_overview_begin();
    alloc(m, 0, 0, 8);
    alloc(m, 1, 1, 8);
    alloc(m, 2, 1, 8);
    release(m, 1, 0);
    release(m, 0, 2);
    ab_overview_end(m, &seen);
    assert_int_equal(seen.n_threads, 3);
    assert_int_equal(seen.n_rows, 3);
    assert_int_equal(seen.freed[1][0], 1);
    assert_int_equal(seen.freed[0][2], 1);
    assert_int_equal(seen.freed[1][3], 1); /* never */
    assert_int_equal(seen.freed[0][0], 0);
    ab_overview_abandon(m);
}

/* Thread 40 is the busiest of 300; what is beyond the rows is in the last one, and nothing is lost. */
static void threads_without_a_row_share_the_last(void **state)
{
    (void)state;
    enum { N = 300 };
    struct ab_overview_maker *m = ab_overview_begin();
    uint64_t sum = 0;
    for (uint32_t t = 0; t < N; t++)
        for (uint32_t i = 0; i < (t == 40 ? 9 : 2); i++) {
            alloc(m, 0, t, 8);
            release(m, 0, N - 1 - t);
        }
    ab_overview_end(m, &seen);
    assert_int_equal(seen.n_threads, N);
    assert_int_equal(seen.n_rows, AB_OVERVIEW_THREADS);
    assert_int_equal(seen.thread[seen.n_rows - 1], AB_OVERVIEW_OTHERS);
    bool has_busiest = false;
    for (uint32_t row = 0; row < seen.n_rows; row++) {
        has_busiest = has_busiest || seen.thread[row] == 40;
        if (row + 2 < seen.n_rows)
            assert_true(seen.thread[row] < seen.thread[row + 1]);
        for (uint32_t column = 0; column <= seen.n_rows; column++)
            sum += seen.freed[row][column];
    }
    assert_true(has_busiest);
    assert_int_equal(sum, 2 * N + 7);
    ab_overview_abandon(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_counted_by_last_size_and_calls_until_freed),
        cmocka_unit_test(classes_end_at_powers_of_two_and_the_last_holds_the_rest),
        cmocka_unit_test(the_curve_has_the_least_and_the_most_of_each_step),
        cmocka_unit_test(a_step_that_is_exactly_full_doubles_at_the_next_call),
        cmocka_unit_test(each_pair_of_threads_has_its_frees),
        cmocka_unit_test(threads_without_a_row_share_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
