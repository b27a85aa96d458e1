/* SPDX-License-Identifier: MIT
 *
 * Growth of the footprint at constant live bytes, on time lines made by hand.
 *
 * tests: growth.c growth_by_time.c
 */
#include "stats/growth.h"

#include "support/cmocka.h"

#include <math.h>
#include <string.h>

enum { POINTS = 400, OPS_A_POINT = 1000 };

static struct ab_timeline_point points[POINTS];
static struct ab_timeline line = {.n = POINTS, .points = points};
static struct ab_backend_info backend = {.name = "one", .status = AB_BACKEND_OK};
static struct ab_session session = {
    .backends = &backend, .n_backends = 1, .timelines = &line, .n_timelines = 1};

/* 100 points that fill up to `live`, then the same bytes for ever; the footprint grows by `slope` an
 * op, and has 64 KiB of noise up and down. */
static void draw(double live, double slope)
{
    for (uint32_t i = 0; i < POINTS; i++) {
        double at = (double)i * OPS_A_POINT;
        points[i].position = i * OPS_A_POINT;
        points[i].requested_bytes = i < 100 ? live * i / 100 : live * (i % 2 == 0 ? 1 : 0.98);
        points[i].footprint_bytes = points[i].requested_bytes * 1.2 + slope * at +
                                    (i % 3 == 0 ? 65536 : 0);
    }
}

static void the_slope_of_the_plateau_is_found(void **state)
{
    (void)state;
    draw(1e7, 0.25);
    struct ab_growth g = ab_growth_of(&session, 0, AB_GROWTH_ALL_ROUNDS);
    assert_true(fabs(g.bytes - 250000) < 2500);
    assert_string_equal(g.why, "");
    assert_true(g.over_ops >= 100 * OPS_A_POINT && g.over_ops <= 200 * OPS_A_POINT);
}

static void what_does_not_grow_does_not(void **state)
{
    (void)state;
    draw(1e7, 0);
    assert_true(fabs(ab_growth_of(&session, 0, AB_GROWTH_ALL_ROUNDS).bytes) < 1000);
}

/* One reading far out, as when a cache was emptied, moves no median. */
static void one_outlier_does_not_count(void **state)
{
    (void)state;
    draw(1e7, 0.25);
    points[POINTS - 20].footprint_bytes *= 3;
    assert_true(fabs(ab_growth_of(&session, 0, AB_GROWTH_ALL_ROUNDS).bytes - 250000) < 3000);
}

static void without_a_plateau_it_is_not_known(void **state)
{
    (void)state;
    draw(1e7, 0.25);
    for (uint32_t i = 0; i < POINTS; i++)
        points[i].requested_bytes = 1e6 + 1e5 * i;
    struct ab_growth g = ab_growth_of(&session, 0, AB_GROWTH_ALL_ROUNDS);
    assert_true(isnan(g.bytes) && isnan(g.over_ops));
    assert_non_null(strstr(g.why, "do not stay constant"));
}

/* Blocks of no bytes are blocks; and a stored result may say anything. */
static void where_nothing_was_live_it_is_not_known(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < POINTS; i++)
        points[i] = (struct ab_timeline_point){.position = i, .footprint_bytes = 4096};
    assert_true(isnan(ab_growth_of(&session, 0, AB_GROWTH_ALL_ROUNDS).bytes));
}

static void without_a_time_line_it_is_not_known(void **state)
{
    (void)state;
    session.n_timelines = 0;
    struct ab_growth g = ab_growth_of(&session, 0, AB_GROWTH_ALL_ROUNDS);
    session.n_timelines = 1;
    assert_true(isnan(g.bytes));
    assert_string_equal(g.why, "no memory over time was measured");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slope_of_the_plateau_is_found),
        cmocka_unit_test(what_does_not_grow_does_not),
        cmocka_unit_test(one_outlier_does_not_count),
        cmocka_unit_test(without_a_plateau_it_is_not_known),
        cmocka_unit_test(where_nothing_was_live_it_is_not_known),
        cmocka_unit_test(without_a_time_line_it_is_not_known),
    };
    return cmocka_run_group_tests_name("growth", tests, NULL, NULL);
}
