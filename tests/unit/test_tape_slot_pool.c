/* SPDX-License-Identifier: MIT
 *
 * Which slot a lane gets: its own youngest, else its own that another freed a while ago, else a new one.
 */
#include "tape/slot_pool.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static uint32_t take(struct ab_slot_pool *pool, uint32_t lane, uint64_t now)
{
    uint32_t slot = UINT32_MAX;
    ab_slot_pool_take(pool, lane, now, &slot);
    return slot;
}

static void a_lane_takes_the_slot_again_that_it_freed_last(void **state)
{
    (void)state;
    struct ab_slot_pool pool;
    ab_slot_pool_init(&pool, 100);
    for (uint32_t i = 0; i < 4; i++) /* to the end of the line, then a new one */
        assert_int_equal(take(&pool, 0, i), 100 + i);
    assert_int_equal(take(&pool, 0, 4), 104);
    ab_slot_pool_give(&pool, 0, 5, 101);
    ab_slot_pool_give(&pool, 0, 6, 100);
    assert_int_equal(take(&pool, 0, 7), 100);
    assert_int_equal(take(&pool, 0, 8), 101);
    assert_int_equal(take(&pool, 0, 9), 105);
    ab_slot_pool_fini(&pool);
}

/* Up to the second lane nothing is kept but a stack: what it knew must not be lost. */
static void the_first_lane_keeps_its_order_when_a_second_one_comes(void **state)
{
    (void)state;
    enum { N = 300 };
    struct ab_slot_pool pool;
    ab_slot_pool_init(&pool, 5);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(take(&pool, 3, i), 5 + i);
    for (uint32_t i = 0; i < N; i += 3)
        ab_slot_pool_give(&pool, 3, N + i, 5 + i);
    assert_int_equal(take(&pool, 3, 2 * N), 5 + N - 3);
    ab_slot_pool_give(&pool, 3, 2 * N, 5 + N - 3);
    assert_true(take(&pool, 7, 2 * N) >= 5 + N);
    ab_slot_pool_give(&pool, 7, 2 * N, 5 + 1); /* of the first lane: idle, and behind its own */
    for (uint32_t i = N; i > 0; i -= 3)
        assert_int_equal(take(&pool, 3, 2 * N), 5 + i - 3);
    assert_int_equal(take(&pool, 3, 2 * N + AB_SLOT_IDLE + 1), 5 + 1);
    assert_int_equal(pool.n_free, 0);
    assert_int_equal(pool.n_taken, N + 1);
    ab_slot_pool_fini(&pool);
}

/* The first to begin a pool may give nothing back before another one does. */
static void a_second_lane_may_come_by_a_free(void **state)
{
    (void)state;
    struct ab_slot_pool pool;
    ab_slot_pool_init(&pool, 0);
    assert_int_equal(take(&pool, 0, 1), 0);
    assert_int_equal(take(&pool, 0, 2), 1);
    ab_slot_pool_give(&pool, 1, 3, 0);
    assert_int_equal(take(&pool, 0, 4), 2); /* it has not lain idle */
    assert_int_equal(take(&pool, 0, 4 + AB_SLOT_IDLE), 0);
    ab_slot_pool_fini(&pool);
}

static void lanes_share_no_line(void **state)
{
    (void)state;
    struct ab_slot_pool pool;
    uint32_t owner[400];
    ab_slot_pool_init(&pool, 3);
    memset(owner, 0xff, sizeof owner);
    for (uint32_t i = 0; i < 300; i++) {
        uint32_t lane = i * 7 % 5, slot = take(&pool, lane, i);
        uint32_t *of = &owner[slot / AB_SLOTS_A_LINE];
        assert_true(*of == UINT32_MAX || *of == lane);
        *of = lane;
    }
    ab_slot_pool_fini(&pool);
}

static void a_slot_that_another_lane_freed_comes_back_when_it_has_lain_idle(void **state)
{
    (void)state;
    struct ab_slot_pool pool;
    ab_slot_pool_init(&pool, 0);
    for (uint32_t i = 0; i < 8; i++)
        take(&pool, 0, i);
    for (uint32_t i = 0; i < 3; i++)
        ab_slot_pool_give(&pool, 1, 10 + i, i);
    assert_int_equal(take(&pool, 1, 20 + AB_SLOT_IDLE), 8); /* they are not lane 1's */
    assert_int_equal(take(&pool, 0, 10 + AB_SLOT_IDLE), 16);
    assert_int_equal(take(&pool, 0, 11 + AB_SLOT_IDLE), 0); /* the oldest first */
    assert_int_equal(take(&pool, 0, 11 + AB_SLOT_IDLE), 17);
    pool.barrier = 11;
    assert_int_equal(take(&pool, 0, 13), 1);
    assert_int_equal(take(&pool, 0, 13), 18);
    ab_slot_pool_fini(&pool);
}

static void another_lane_takes_it_only_where_more_lie_idle_than_are_in_use(void **state)
{
    (void)state;
    enum { N = AB_SLOTS_SPARE + 100 };
    struct ab_slot_pool pool;
    ab_slot_pool_init(&pool, 0);
    for (uint32_t i = 0; i < N; i++)
        take(&pool, 0, i);
    for (uint32_t i = 0; i < N; i++)
        ab_slot_pool_give(&pool, 0, N + i, i);
    uint32_t n_stolen = 0;
    for (uint32_t i = 0; i < 1000; i++)
        n_stolen += take(&pool, 1, 3 * N) < N;
    assert_in_range(n_stolen, 50, 60); /* each makes one less idle and one more in use */
    ab_slot_pool_fini(&pool);
}

static void no_slot_is_handed_out_twice_and_slots_stay_few(void **state)
{
    (void)state;
    enum { LIVE = 500, STEPS = 200000, MOST = LIVE + AB_SLOT_IDLE + 3 * AB_SLOTS_A_LINE };
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
        cmocka_unit_test(the_first_lane_keeps_its_order_when_a_second_one_comes),
        cmocka_unit_test(a_second_lane_may_come_by_a_free),
        cmocka_unit_test(lanes_share_no_line),
        cmocka_unit_test(a_slot_that_another_lane_freed_comes_back_when_it_has_lain_idle),
        cmocka_unit_test(another_lane_takes_it_only_where_more_lie_idle_than_are_in_use),
        cmocka_unit_test(no_slot_is_handed_out_twice_and_slots_stay_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
