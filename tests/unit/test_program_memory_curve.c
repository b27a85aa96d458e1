/* SPDX-License-Identifier: MIT */
#include "program/memory_curve.h"
#include "support/cmocka.h"

#include <math.h>
#include <stdlib.h>

#define LOOK_NS UINT64_C(10000000)

static void few_looks_stay_as_they_are(void **state)
{
    (void)state;
    struct ab_memory_curve c = {0};
    for (uint32_t i = 0; i < AB_CURVE_POINTS; i++)
        ab_memory_curve_add(&c, i * LOOK_NS, 1000.0 * i);
    assert_int_equal(c.n, AB_CURVE_POINTS);
    for (uint32_t i = 0; i < c.n; i++) {
        assert_int_equal(c.points[i].ns, i * LOOK_NS);
        assert_true(c.points[i].bytes == 1000.0 * i);
    }
}

/* However many there are: few points, ascending, of the whole time, and with the peak. */
static void the_peak_stays_whatever_the_time(void **state)
{
    enum { PEAK = 1 << 20 };
    (void)state;
    for (uint32_t n = 1; n < 100000; n = n * 3 + 1) {
        struct ab_memory_curve c = {0};
        uint32_t at = n * 2 / 3;
        double most = 0;
        for (uint32_t i = 0; i < n; i++)
            ab_memory_curve_add(&c, i * LOOK_NS, i == at ? PEAK : 100 + i % 7);
        assert_in_range(c.n, n < AB_CURVE_POINTS ? n : AB_CURVE_POINTS / 2, AB_CURVE_POINTS);
        for (uint32_t i = 0; i < c.n; i++) {
            most = fmax(most, c.points[i].bytes);
            assert_true(i == 0 || c.points[i].ns > c.points[i - 1].ns);
            assert_true(c.points[i].bytes < PEAK || c.points[i].ns == at * LOOK_NS);
        }
        assert_true(most == PEAK);
        assert_true(c.points[c.n - 1].ns + 2 * LOOK_NS * c.stride >= (n - 1) * LOOK_NS);
        assert_true(c.points[0].ns < 2 * LOOK_NS * c.stride);
    }
}

static void it_becomes_a_time_line_in_ms(void **state)
{
    (void)state;
    struct ab_session s = {0};
    struct ab_memory_curve none = {0}, c = {0};
    ab_memory_curve_note(&none, &s, 0, 0);
    assert_int_equal(s.n_timelines, 0);
    ab_memory_curve_add(&c, 5 * LOOK_NS, 4096);
    ab_memory_curve_add(&c, 6 * LOOK_NS, 0);
    ab_memory_curve_note(&c, &s, 1, 2);
    assert_int_equal(s.n_timelines, 1);
    const struct ab_timeline *t = &s.timelines[0];
    assert_int_equal(t->backend, 1);
    assert_int_equal(t->round, 2);
    assert_int_equal(t->n, 2);
    assert_int_equal(t->points[0].position, 50);
    assert_true(t->points[0].footprint_bytes == 4096 && t->points[1].footprint_bytes == 0);
    assert_true(isnan(t->points[0].requested_bytes) && isnan(t->points[0].usable_bytes));
    assert_true(isnan(t->points[0].external_bytes));
    assert_int_equal(s.n_over_time, 0); /* too short for hours */
    free(s.timelines[0].points);
    free(s.timelines);
}

static void of_a_long_program_it_is_memory_over_time_too(void **state)
{
    (void)state;
    struct ab_session s = {0};
    struct ab_memory_curve c = {0};
    const uint64_t second = 1000000000;
    for (unsigned i = 1; i <= 10; i++)
        ab_memory_curve_add(&c, i * second, 4096.0 * i);
    ab_memory_curve_note(&c, &s, 1, 2);
    assert_int_equal(s.n_over_time, 10);
    const struct ab_over_time *row = &s.over_time[9];
    assert_true(row->backend == 1 && row->round == 2 && row->time_ns == 10 * second);
    assert_string_equal(row->phase, "program");
    assert_true(row->resident_bytes == 40960 && isnan(row->live_bytes));
    assert_int_equal(row->position, AB_NO_POSITION);
    free(s.timelines[0].points);
    free(s.timelines);
    free(s.over_time);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_looks_stay_as_they_are),
        cmocka_unit_test(of_a_long_program_it_is_memory_over_time_too),
        cmocka_unit_test(the_peak_stays_whatever_the_time),
        cmocka_unit_test(it_becomes_a_time_line_in_ms),
    };
    return cmocka_run_group_tests_name("memory curve", tests, NULL, NULL);
}
