/* SPDX-License-Identifier: MIT
 *
 * The library, or the machine: what unchanged libraries, the speed of the CPU and other programs say
 * about a verdict.
 */
#include "stats/compare_drift.h"

#include "support/compare_sides.h"

#include <math.h>
#include <stdio.h>

/* glibc is the same build in both; jemalloc as well, or not. */
static void what_unchanged_libraries_do_as_well_is_the_machine(void **state)
{
    static const struct {
        double glibc, jemalloc;
        bool is_new_build;
        enum ab_verdict verdict;
    } cases[] = {
        {1.08, 1.08, true, AB_VERDICT_INCONCLUSIVE},
        {1.08, 1.08, false, AB_VERDICT_INCONCLUSIVE},
        {1.00, 1.08, true, AB_VERDICT_REGRESSED},
        {1.00, 1.08, false, AB_VERDICT_REGRESSED}, /* alone it is no witness for itself */
        {1 / 1.08, 1.08, true, AB_VERDICT_REGRESSED},
        {1.20, 1.40, true, AB_VERDICT_REGRESSED}, /* 17 % more than the machine explains */
        {1.20, 1.40, false, AB_VERDICT_INCONCLUSIVE},
        {1.20, 1.22, true, AB_VERDICT_INCONCLUSIVE},
        {1.20, 2.00, false, AB_VERDICT_REGRESSED}, /* less than half of the way */
        {1 / 1.08, 1 / 1.08, true, AB_VERDICT_INCONCLUSIVE},
        {1.00, 1 / 1.08, true, AB_VERDICT_IMPROVED},
    };
    struct fixture *x = *state;
    strcpy(x->a->backends[FAKE_GLIBC].build_id, "91bc");
    strcpy(x->b->backends[FAKE_GLIBC].build_id, "91bc");
    strcpy(x->a->backends[FAKE_JEMALLOC].build_id, "11aa");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        strcpy(x->b->backends[FAKE_JEMALLOC].build_id, cases[i].is_new_build ? "22bb" : "11aa");
        slow_down(x->b, FAKE_GLIBC, cases[i].glibc);
        slow_down(x->b, FAKE_JEMALLOC, cases[i].jemalloc);
        compare(x, false);
        const struct ab_cell *c = time_of(x, FAKE_JEMALLOC);
        if (c->verdict != cases[i].verdict)
            fail_msg("case %zu: %s, %g", i, ab_verdict_name(c->verdict), c->effect.ratio);
        bool is_excused = cases[i].verdict == AB_VERDICT_INCONCLUSIVE;
        assert_int_equal(c->is_drift, is_excused);
        assert_int_equal(strstr(c->reason, "glibc, the same build in both") != NULL, is_excused);
        slow_down(x->b, FAKE_GLIBC, 1 / cases[i].glibc);
        slow_down(x->b, FAKE_JEMALLOC, 1 / cases[i].jemalloc);
    }
}

/* Without witnesses the loop between the slices says how fast the CPU was. */
static void a_slower_cpu_is_no_slower_library(void **state)
{
    static const struct {
        double canary, jemalloc;
        enum ab_verdict verdict;
    } cases[] = {
        {1.00, 1.08, AB_VERDICT_REGRESSED},        {1.06, 1.08, AB_VERDICT_INCONCLUSIVE},
        {1.20, 1.40, AB_VERDICT_REGRESSED},        {1.02, 1.08, AB_VERDICT_REGRESSED},
        {0.94, 1.08, AB_VERDICT_REGRESSED},        {0.94, 1 / 1.08, AB_VERDICT_INCONCLUSIVE},
        {(double)NAN, 1.08, AB_VERDICT_REGRESSED}, {0, 1.08, AB_VERDICT_REGRESSED},
    };
    struct fixture *x = *state;
    strcpy(x->a->backends[FAKE_JEMALLOC].build_id, "11aa");
    strcpy(x->b->backends[FAKE_JEMALLOC].build_id, "22bb");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        x->a->s.noise.canary_quiet_ns = 1250;
        x->b->s.noise.canary_quiet_ns = 1250 * cases[i].canary;
        slow_down(x->b, FAKE_JEMALLOC, cases[i].jemalloc);
        compare(x, false);
        const struct ab_cell *c = time_of(x, FAKE_JEMALLOC);
        if (c->verdict != cases[i].verdict)
            fail_msg("case %zu: %s, %g", i, ab_verdict_name(c->verdict), c->effect.ratio);
        assert_int_equal(strstr(c->reason, "test loop") != NULL, c->is_drift);
        slow_down(x->b, FAKE_JEMALLOC, 1 / cases[i].jemalloc);
    }
}

/* Where others had the CPU the whole interval must be beyond the limit. */
static void of_a_busy_machine_more_is_asked(void **state)
{
    struct fixture *x = *state;
    slow_down(x->b, FAKE_JEMALLOC, 1.06);
    compare(x, false);
    const struct ab_cell *c = time_of(x, FAKE_JEMALLOC);
    assert_int_equal(c->verdict, AB_VERDICT_REGRESSED);
    assert_true(c->effect.low < 1.05); /* or this test shows nothing */
    x->b->s.noise = (struct ab_noise){.runs = 60, .wall_s = 10, .cpu_s = 8};
    compare(x, false); /* several threads: they wait for each other */
    assert_int_equal(time_of(x, FAKE_JEMALLOC)->verdict, AB_VERDICT_REGRESSED);
    x->b->s.noise.slices_s = 10;
    compare(x, false);
    c = time_of(x, FAKE_JEMALLOC);
    assert_int_equal(c->verdict, AB_VERDICT_INCONCLUSIVE);
    assert_non_null(strstr(c->reason, "the runs had no CPU for 20 % of the time"));
    x->b->s.noise.cpu_s = 9;
    compare(x, false);
    assert_int_equal(time_of(x, FAKE_JEMALLOC)->verdict, AB_VERDICT_REGRESSED);
    x->b->s.noise.cpu_s = 5;
    slow_down(x->b, FAKE_JEMALLOC, 2);
    compare(x, false);
    assert_int_equal(time_of(x, FAKE_JEMALLOC)->verdict, AB_VERDICT_REGRESSED);
}

/* A changed companion says nothing about the machine, and neither does one without a build id. */
static void what_changed_itself_is_no_witness(void **state)
{
    struct fixture *x = *state;
    slow_down(x->b, FAKE_GLIBC, 1.08);
    slow_down(x->b, FAKE_JEMALLOC, 1.08);
    strcpy(x->a->backends[FAKE_GLIBC].build_id, "91bc");
    strcpy(x->b->backends[FAKE_GLIBC].build_id, "92bc");
    compare(x, false);
    assert_int_equal(time_of(x, FAKE_JEMALLOC)->verdict, AB_VERDICT_REGRESSED);
    x->a->backends[FAKE_GLIBC].build_id[0] = x->b->backends[FAKE_GLIBC].build_id[0] = 0;
    compare(x, false);
    assert_int_equal(time_of(x, FAKE_JEMALLOC)->verdict, AB_VERDICT_REGRESSED);
    assert_int_equal(ab_comparison_status(&x->c), AB_GATE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_unchanged_libraries_do_as_well_is_the_machine),
        TEST(a_slower_cpu_is_no_slower_library),
        TEST(of_a_busy_machine_more_is_asked),
        TEST(what_changed_itself_is_no_witness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
