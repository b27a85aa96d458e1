/* SPDX-License-Identifier: MIT
 *
 * The library, or the machine: what unchanged libraries, the speed of the CPU and other programs say
 * about a verdict.
 */
#include "result/numbers.h"
#include "stats/compare_drift.h"

#include "base/rng.h"
#include "support/compare_sides.h"

#include <math.h>
#include <stdio.h>

static void set_builds(struct fixture *x, const char *jemalloc)
{
    strcpy(x->a->backends[FAKE_GLIBC].build_id, "91bc");
    strcpy(x->b->backends[FAKE_GLIBC].build_id, "91bc");
    strcpy(x->a->backends[FAKE_JEMALLOC].build_id, "11aa");
    strcpy(x->b->backends[FAKE_JEMALLOC].build_id, jemalloc);
}

/* Both back ends slower by so much in the new result; verdicts by a limit. */
static void compare_at(struct fixture *x, double glibc, double jemalloc, double within)
{
    slow_down(x->b, FAKE_GLIBC, glibc);
    slow_down(x->b, FAKE_JEMALLOC, jemalloc);
    ab_comparison_fini(&x->c);
    ab_compare_results(&x->a->s, &x->b->s, within, &x->c);
    slow_down(x->b, FAKE_GLIBC, 1 / glibc);
    slow_down(x->b, FAKE_JEMALLOC, 1 / jemalloc);
}

static void a_changed_build_is_judged_by_its_ratio_to_the_unchanged_one(void **state)
{
    static const struct {
        double glibc, jemalloc, limit;
        enum ab_verdict verdict, of_glibc;
        enum ab_status status;
    } cases[] = {
        /* 5 % slower on a machine that is 8 % faster than it was */
        {7.64 / 8.31, 9.30 / 9.61, 0.03, AB_VERDICT_FAIL, AB_VERDICT_MOVED, AB_GATE},
        {7.77 / 8.31, 9.39 / 9.61, 0.03, AB_VERDICT_FAIL, AB_VERDICT_MOVED, AB_GATE},
        {1.08, 1.08 * 1.05, 0.03, AB_VERDICT_FAIL, AB_VERDICT_MOVED, AB_GATE},
        {1 / 1.08, 1.05 / 1.08, 0.03, AB_VERDICT_FAIL, AB_VERDICT_MOVED, AB_GATE},
        {1.08, 1.08, 0.05, AB_VERDICT_INCONCLUSIVE, AB_VERDICT_MOVED, AB_INCONCLUSIVE},
        {1.08, 1.00, 0.05, AB_VERDICT_IMPROVED, AB_VERDICT_MOVED, AB_OK},
        {1.00, 1.08, 0.05, AB_VERDICT_FAIL, AB_VERDICT_PASS, AB_GATE},
        {1.03, 1.03, 0.05, AB_VERDICT_PASS, AB_VERDICT_PASS, AB_OK},
        {1.00, 1 / 1.08, 0.05, AB_VERDICT_IMPROVED, AB_VERDICT_PASS, AB_OK},
        {1 / 1.08, 1 / 1.08, 0.05, AB_VERDICT_INCONCLUSIVE, AB_VERDICT_MOVED, AB_INCONCLUSIVE},
    };
    struct fixture *x = *state;
    set_builds(x, "22bb");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        compare_at(x, cases[i].glibc, cases[i].jemalloc, cases[i].limit);
        const struct ab_checked *c = time_of(x, FAKE_JEMALLOC);
        enum ab_verdict glibc = time_of(x, FAKE_GLIBC)->verdict;
        if (c->verdict != cases[i].verdict || glibc != cases[i].of_glibc)
            fail_msg("case %zu: %s, %g; glibc %s", i, ab_comparison_verdicts[c->verdict],
                     c->relative.ratio, ab_comparison_verdicts[glibc]);
        assert_true(fabs(c->relative.ratio * cases[i].glibc / cases[i].jemalloc - 1) < 1e-9);
        assert_string_equal(c->controls, "glibc");
        assert_int_equal(ab_comparison_status(&x->c), cases[i].status);
        bool is_withheld = c->verdict == AB_VERDICT_INCONCLUSIVE;
        assert_int_equal(c->is_drift, is_withheld);
        assert_int_equal(strstr(c->reason, "unchanged glibc") != NULL, is_withheld);
    }
}

/* Whatever happened to the machine: nothing was changed that could have regressed. */
static void an_unchanged_build_never_regresses_or_improves(void **state)
{
    static const double factors[] = {0.3, 0.9, 1, 1.12, 7.66, 100};
    struct fixture *x = *state;
    set_builds(x, "11aa");
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++)
        for (size_t k = 0; k < sizeof factors / sizeof factors[0]; k++) {
            compare_at(x, factors[i], factors[k], 0.03);
            assert_int_equal(ab_comparison_count(&x->c, AB_VERDICT_FAIL), 0);
            assert_int_equal(ab_comparison_count(&x->c, AB_VERDICT_IMPROVED), 0);
            assert_int_equal(ab_comparison_count(&x->c, AB_VERDICT_MOVED),
                             (factors[i] != 1) + (factors[k] != 1));
            assert_int_equal(ab_comparison_status(&x->c), AB_OK);
        }
    x->b->s.n_backends = 1; /* and where it is alone */
    compare_at(x, 8.58 / 7.66, 1, 0.03);
    assert_int_equal(time_of(x, FAKE_GLIBC)->verdict, AB_VERDICT_MOVED);
    assert_int_equal(ab_comparison_status(&x->c), AB_OK);
    strcpy(x->b->backends[FAKE_GLIBC].settings, "{A=b}"); /* other settings are another build */
    compare_at(x, 8.58 / 7.66, 1, 0.03);
    assert_int_equal(time_of(x, FAKE_GLIBC)->verdict, AB_VERDICT_FAIL);
}

/* Rounds that vary, of each back end by itself and of both together. */
static void another_program_is_no_control(void **state)
{
    struct fixture *x = *state;
    set_builds(x, "11aa");
    strcpy(x->a->backends[FAKE_GLIBC].program_sha256, "11");
    strcpy(x->b->backends[FAKE_GLIBC].program_sha256, "22");
    assert_false(ab_drift_is_unchanged(&x->a->backends[FAKE_GLIBC], &x->b->backends[FAKE_GLIBC]));
    compare_at(x, 1.08, 1.00, 0.05);
    assert_int_equal(time_of(x, FAKE_GLIBC)->verdict, AB_VERDICT_FAIL);
    strcpy(x->b->backends[FAKE_GLIBC].program_sha256, "11");
    assert_true(ab_drift_is_unchanged(&x->a->backends[FAKE_GLIBC], &x->b->backends[FAKE_GLIBC]));
}

static void make_noisy(struct fake_session *f, struct ab_rng *rng)
{
    double of_round[ROUNDS][3];
    for (unsigned r = 0; r < ROUNDS; r++)
        for (unsigned k = 0; k < 3; k++)
            of_round[r][k] = exp(0.03 * (ab_rng_unit(rng) - 0.5));
    for (uint32_t i = 0; i < f->s.n_results; i++) {
        struct ab_result *r = &f->results[i];
        r->ns_per_op *= of_round[r->round][2] * of_round[r->round][r->backend == FAKE_GLIBC];
    }
}

/* The speed of the machine is in both rows: with any other it is the same verdict, or, beyond the
 * limit, none instead of "ok". */
static void the_speed_of_the_machine_changes_no_verdict(void **state)
{
    struct fixture *x = *state;
    struct ab_rng rng;
    unsigned seen[AB_VERDICT_COUNT] = {0};
    ab_rng_init(&rng, 7, 0);
    set_builds(x, "22bb");
    for (unsigned i = 0; i < 60; i++) {
        double library = exp(0.3 * (ab_rng_unit(&rng) - 0.5)), machine;
        make_noisy(x->a, &rng);
        make_noisy(x->b, &rng);
        compare_at(x, 1, library, limit);
        const struct ab_checked was = *time_of(x, FAKE_JEMALLOC);
        machine = exp(3 * (ab_rng_unit(&rng) - 0.5));
        compare_at(x, machine, library * machine, limit);
        const struct ab_checked *is = time_of(x, FAKE_JEMALLOC);
        assert_true(fabs(is->relative.ratio / was.relative.ratio - 1) < 1e-9);
        /* a reader can work it out from the two changes that are shown */
        assert_true(fabs(is->relative.ratio * is->machine_ratio / is->effect.ratio - 1) < 1e-9);
        assert_true(fabs(is->relative.low / was.relative.low - 1) < 1e-9);
        assert_true(fabs(is->relative.high / was.relative.high - 1) < 1e-9);
        bool is_far = fabs(log(is->machine_ratio)) > log1p(limit);
        enum ab_verdict expected = is_far && was.verdict == AB_VERDICT_PASS
                                       ? AB_VERDICT_INCONCLUSIVE
                                       : was.verdict;
        assert_int_equal(is->verdict, expected);
        seen[was.verdict]++;
    }
    assert_true(seen[AB_VERDICT_FAIL] > 5 && seen[AB_VERDICT_IMPROVED] > 5 &&
                seen[AB_VERDICT_PASS] > 5);
}

/* A third back end, the same build in both, made of the results of jemalloc. */
static void add_control(struct fake_session *f, double factor)
{
    f->s.n_backends = 3;
    struct ab_backend_info *b = &f->backends[2];
    *b = f->backends[FAKE_JEMALLOC];
    strcpy(b->name, "third");
    strcpy(b->build_id, "33cc");
    for (uint32_t i = 0; i < f->s.n_results; i++)
        if (f->results[i].backend == 2)
            f->results[i].ns_per_op = factor * (10 + 0.01 * (f->results[i].round % 3));
}

static void of_two_witnesses_both_must_agree(void **state)
{
    struct fixture *x = *state;
    set_builds(x, "22bb");
    add_control(x->a, 1);
    add_control(x->b, 1.01);
    compare_at(x, 1.00, 1.10, limit);
    const struct ab_checked *c = time_of(x, FAKE_JEMALLOC);
    assert_string_equal(c->controls, "glibc and 1 other");
    assert_int_equal(c->verdict, AB_VERDICT_FAIL);
    compare_at(x, 1.15, 1.10, limit); /* slower than the one expects, faster than the other */
    c = time_of(x, FAKE_JEMALLOC);
    assert_true(c->relative.low < 1 && c->relative.high > 1.05);
    assert_int_equal(c->verdict, AB_VERDICT_INCONCLUSIVE);
}

/* Without witnesses the loop between the slices says how fast the CPU was. */
static void a_slower_cpu_is_no_slower_library(void **state)
{
    static const struct {
        double canary, jemalloc;
        enum ab_verdict verdict;
    } cases[] = {
        {1.00, 1.08, AB_VERDICT_FAIL},        {1.06, 1.08, AB_VERDICT_INCONCLUSIVE},
        {1.20, 1.40, AB_VERDICT_FAIL},        {1.02, 1.08, AB_VERDICT_FAIL},
        {0.94, 1.08, AB_VERDICT_FAIL},        {0.94, 1 / 1.08, AB_VERDICT_INCONCLUSIVE},
        {(double)NAN, 1.08, AB_VERDICT_FAIL}, {0, 1.08, AB_VERDICT_FAIL},
    };
    struct fixture *x = *state;
    strcpy(x->a->backends[FAKE_JEMALLOC].build_id, "11aa");
    strcpy(x->b->backends[FAKE_JEMALLOC].build_id, "22bb");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        x->a->s.noise.canary_quiet_ns = 1250;
        x->b->s.noise.canary_quiet_ns = 1250 * cases[i].canary;
        slow_down(x->b, FAKE_JEMALLOC, cases[i].jemalloc);
        compare(x);
        const struct ab_checked *c = time_of(x, FAKE_JEMALLOC);
        if (c->verdict != cases[i].verdict)
            fail_msg("case %zu: %s, %g", i, ab_comparison_verdicts[c->verdict], c->effect.ratio);
        assert_int_equal(strstr(c->reason, "test loop") != NULL, c->is_drift);
        slow_down(x->b, FAKE_JEMALLOC, 1 / cases[i].jemalloc);
    }
}

/* Where others had the CPU the whole interval must be beyond the limit. */
static void of_a_busy_machine_more_is_asked(void **state)
{
    struct fixture *x = *state;
    slow_down(x->b, FAKE_JEMALLOC, 1.06);
    compare(x);
    const struct ab_checked *c = time_of(x, FAKE_JEMALLOC);
    assert_int_equal(c->verdict, AB_VERDICT_FAIL);
    assert_true(c->effect.low < 1.05); /* or this test shows nothing */
    x->b->s.noise = (struct ab_noise){.runs = 60, .wall_s = 10, .cpu_s = 8};
    compare(x); /* several threads: they wait for each other */
    assert_int_equal(time_of(x, FAKE_JEMALLOC)->verdict, AB_VERDICT_FAIL);
    x->b->s.noise.slices_s = 10;
    compare(x);
    c = time_of(x, FAKE_JEMALLOC);
    assert_int_equal(c->verdict, AB_VERDICT_INCONCLUSIVE);
    assert_non_null(strstr(c->reason, "the runs had no CPU for 20 % of the time"));
    x->b->s.noise.cpu_s = 9;
    compare(x);
    assert_int_equal(time_of(x, FAKE_JEMALLOC)->verdict, AB_VERDICT_FAIL);
    x->b->s.noise.cpu_s = 5;
    slow_down(x->b, FAKE_JEMALLOC, 2);
    compare(x);
    assert_int_equal(time_of(x, FAKE_JEMALLOC)->verdict, AB_VERDICT_FAIL);
}

/* A changed companion says nothing about the machine, and neither does one without a build id. */
static void without_a_witness_the_verdict_says_so(void **state)
{
    struct fixture *x = *state;
    set_builds(x, "22bb");
    strcpy(x->b->backends[FAKE_GLIBC].build_id, "92bc");
    compare_at(x, 1.08, 1.08, limit);
    assert_int_equal(time_of(x, FAKE_JEMALLOC)->verdict, AB_VERDICT_FAIL);
    assert_non_null(strstr(time_of(x, FAKE_JEMALLOC)->reason, "no witness: no other library"));
    x->a->backends[FAKE_GLIBC].build_id[0] = x->b->backends[FAKE_GLIBC].build_id[0] = 0;
    compare_at(x, 1.08, 1.08, limit);
    assert_int_equal(ab_comparison_status(&x->c), AB_GATE);
    compare_at(x, 1, 1, limit);
    assert_int_equal(time_of(x, FAKE_JEMALLOC)->verdict, AB_VERDICT_PASS);
    assert_non_null(strstr(time_of(x, FAKE_JEMALLOC)->reason, "no witness"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_changed_build_is_judged_by_its_ratio_to_the_unchanged_one),
        TEST(an_unchanged_build_never_regresses_or_improves),
        TEST(another_program_is_no_control),
        TEST(the_speed_of_the_machine_changes_no_verdict),
        TEST(of_two_witnesses_both_must_agree),
        TEST(a_slower_cpu_is_no_slower_library),
        TEST(of_a_busy_machine_more_is_asked),
        TEST(without_a_witness_the_verdict_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
