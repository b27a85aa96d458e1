/* SPDX-License-Identifier: MIT
 *
 * How long the clock stood still on the path of a lane, with the times of made-up lanes.
 */
#include "worker/meters.h"

#include "support/cmocka.h"

static uint64_t path_after(uint64_t own, uint64_t waited, uint64_t of_other)
{
    struct ab_lane lane = {.path_ticks = own}, other = {.path_ticks = of_other};
    ab_apart_waited(&lane, &other, waited);
    assert_int_equal(other.path_ticks, of_other);
    return lane.path_ticks;
}

/* It has come to 100 and waits until 160. Without standing still it would have come to 100 - own, the
 * other one to 160 - of_other: it goes on at the later one. */
static void who_waits_goes_on_at_the_later_of_two_times(void **state)
{
    (void)state;
    for (uint64_t own = 0; own <= 100; own += 10)
        for (uint64_t of_other = 0; of_other <= 160; of_other += 10) {
            uint64_t lane_at = 100 - own, other_at = 160 - of_other;
            uint64_t at = lane_at > other_at ? lane_at : other_at;
            assert_int_equal(160 - path_after(own, 60, of_other), at);
        }
}

static void a_turn_hands_the_path_over(void **state)
{
    (void)state;
    struct ab_lane lane = {.path_ticks = 70}, next = {.path_ticks = 30};
    ab_apart_hand_over(&lane, &next);
    assert_int_equal(next.path_ticks, 70);
    assert_int_equal(lane.path_ticks, 70);
}

/* Of lanes that share CPUs the ticks say nothing, unless they take turns. */
static void the_report_has_the_path_where_ticks_are_the_lanes_own(void **state)
{
    (void)state;
    for (int is_crowded = 0; is_crowded < 2; is_crowded++)
        for (int is_strict = 0; is_strict < 2; is_strict++) {
            struct ab_phase_report report = {0};
            struct ab_lane lane = {.apart_ticks = 50,
                                   .path_ticks = 70,
                                   .apart_cpu_ns = is_crowded ? 20 : 0,
                                   .is_crowded = is_crowded,
                                   .is_strict = is_strict};
            ab_apart_end(&lane, &report);
            assert_int_equal(report.outside_ticks, 50);
            assert_int_equal(report.canary_ticks, is_crowded ? 0 : 50);
            assert_int_equal(report.outside_cpu_ns, is_crowded ? 20 : 0);
            assert_int_equal(report.path_ticks, is_crowded && !is_strict ? 0 : 70);
            ab_apart_begin(&lane);
            assert_int_equal(lane.apart_ticks + lane.apart_cpu_ns + lane.path_ticks, 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_goes_on_at_the_later_of_two_times),
        cmocka_unit_test(a_turn_hands_the_path_over),
        cmocka_unit_test(the_report_has_the_path_where_ticks_are_the_lanes_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
