/* SPDX-License-Identifier: MIT
 *
 * Which slot a lane gets: its own youngest, else one that lies idle long enough, else a new one.
 */
#include "trace/slot_pool.h"

#include "core/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint32_t take(struct ab_slot_pool *pool, uint32_t lane, uint64_t now)
{
    uint32_t slot = UINT32_MAX;
    assert_true(ab_slot_pool_take(pool, lane, now, &slot));
    return slot;
}

static void a_lane_takes_the_slot_again_that_it_freed_last(void **state)
{
    (void)state;
    struct ab_slot_pool pool;
    ab_slot_pool_init(&pool, 100);
    assert_int_equal(take(&pool, 0, 1), 100);
    assert_int_equal(take(&pool, 1, 2), 101);
    assert_int_equal(take(&pool, 0, 3), 102);
    ab_slot_pool_give(&pool, 0, 4, 101);
    ab_slot_pool_give(&pool, 0, 5, 100);
    ab_slot_pool_give(&pool, 1, 6, 102);
    assert_int_equal(take(&pool, 0, 7), 100);
    assert_int_equal(take(&pool, 1, 8), 102);
    assert_int_equal(take(&pool, 0, 9), 101);
    ab_slot_pool_fini(&pool);
}

static void another_lane_gets_a_slot_only_when_the_window_or_a_barrier_has_passed(void **state)
{
    (void)state;
    struct ab_slot_pool pool;
    ab_slot_pool_init(&pool, 0);
    for (uint32_t i = 0; i < 3; i++)
        take(&pool, 0, i);
    for (uint32_t i = 0; i < 3; i++)
        ab_slot_pool_give(&pool, 0, 10 + i, i);
    assert_int_equal(take(&pool, 1, 10 + AB_WINDOW_MOST), 3);
    assert_int_equal(take(&pool, 1, 11 + AB_WINDOW_MOST), 0);
    assert_int_equal(take(&pool, 1, 11 + AB_WINDOW_MOST), 4);
    pool.barrier = 11;
    assert_int_equal(take(&pool, 1, 13), 1);
    assert_int_equal(take(&pool, 1, 13), 5);
    assert_int_equal(take(&pool, 0, 13), 2);
    ab_slot_pool_fini(&pool);
}

static void no_slot_is_handed_out_twice_and_slots_stay_few(void **state)
{
    (void)state;
    enum { LIVE = 500, STEPS = 200000, MOST = LIVE + AB_WINDOW_MOST + 1 };
    struct ab_slot_pool pool;
    struct ab_rng rng;
    uint32_t live[LIVE], n = 0;
    static bool is_live[MOST];
    ab_rng_init(&rng, 1, 1);
    ab_slot_pool_init(&pool, 0);
    for (uint64_t now = 1; now < STEPS; now++) { /* lanes 0, 1 allocate, lanes 2, 3 free */
        uint32_t lane = (uint32_t)ab_rng_below(&rng, 4);
        if (lane < 2 && n < LIVE) {
            live[n] = take(&pool, lane, now);
            assert_true(live[n] < MOST && !is_live[live[n]]);
            is_live[live[n++]] = true;
        } else if (lane >= 2 && n > 0) {
            uint32_t i = (uint32_t)ab_rng_below(&rng, n);
            is_live[live[i]] = false;
            ab_slot_pool_give(&pool, lane, now, live[i]);
            live[i] = live[--n];
        }
    }
    ab_slot_pool_fini(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lane_takes_the_slot_again_that_it_freed_last),
        cmocka_unit_test(another_lane_gets_a_slot_only_when_the_window_or_a_barrier_has_passed),
        cmocka_unit_test(no_slot_is_handed_out_twice_and_slots_stay_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
