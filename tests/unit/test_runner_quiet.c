/* SPDX-License-Identifier: MIT
 *
 * The level of the canary from many readings, and the CPU that is chosen.
 * tests: base/clock.c
 */
#include "runner/quiet.h"

#include "base/clock.h"
#include "support/cmocka.h"

#include <sched.h>
#include <stdlib.h>

static void the_level_is_a_low_percentile_of_what_was_read(void **state)
{
    (void)state;
    struct ab_quiet q = {.readings = calloc(AB_CANARY_MAX + 1, sizeof q.readings[0])};
    assert_non_null(q.readings);
    ab_quiet_settle(&q);
    assert_int_equal(q.level, 0); /* nothing was read */
    for (int i = 0; i < 700; i++)
        ab_quiet_add(&q, 6400);
    for (int i = 0; i < 290; i++)
        ab_quiet_add(&q, 4030);
    for (int i = 0; i < 10; i++)
        ab_quiet_add(&q, 3500); /* for an instant the clock ran faster */
    ab_quiet_add(&q, AB_CANARY_MAX);
    ab_quiet_settle(&q);
    assert_int_equal(q.level, 4030);
    assert_true(ab_canary_limit(q.level) > 4400 && ab_canary_limit(q.level) < 5000);
    assert_true(ab_canary_gap(q.level) > 6400);
    ab_quiet_fini(&q);
    assert_null(q.readings);
}

static void bounds_do_not_overflow(void **state)
{
    (void)state;
    assert_int_equal(ab_canary_gap(60000), AB_CANARY_MAX);
    assert_true(ab_canary_limit(65000) < AB_CANARY_MAX);
}

static void the_cpu_chosen_is_one_of_ours_and_affinity_stays(void **state)
{
    (void)state;
    struct ab_quiet q;
    cpu_set_t before, after;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    ab_quiet_init(&q);
    assert_true(q.level > 0 && q.n > 0);
    int cpu = ab_quiet_cpu(&q);
    assert_true(cpu >= 0 && CPU_ISSET((unsigned)cpu, &before));
    assert_int_equal(q.cpu, cpu);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
    ab_quiet_fini(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_level_is_a_low_percentile_of_what_was_read),
        cmocka_unit_test(bounds_do_not_overflow),
        cmocka_unit_test(the_cpu_chosen_is_one_of_ours_and_affinity_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
