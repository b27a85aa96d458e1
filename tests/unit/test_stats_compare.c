/* SPDX-License-Identifier: MIT
 *
 * Two sessions written by hand, the second a copy with one thing changed: every verdict, everything
 * that must not end in "ok", and what is only told.
 * tests: compare.c check.c
 */
#include "result/numbers.h"
#include "stats/compare.h"

#include "support/compare_sides.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect_failed(struct fixture *x, unsigned backend, const char *why)
{
    const struct ab_checked *c = time_of(x, backend);
    assert_int_equal(c->verdict, AB_VERDICT_NOT_EVALUATED);
    assert_true(ab_check_is_judged(c));
    if (strstr(c->reason, why) == NULL)
        fail_msg("no '%s' in: %s", why, c->reason);
    assert_int_equal(ab_comparison_status(&x->c), AB_BACKEND);
}

static void expect_note(const struct fixture *x, const char *what)
{
    for (uint32_t i = 0; i < x->c.n_notes; i++)
        if (strstr(x->c.notes[i], what) != NULL)
            return;
    fail_msg("no note '%s'", what);
}

static void a_result_and_its_copy_are_ok(void **state)
{
    struct fixture *x = *state;
    compare(x);
    for (unsigned b = 0; b < 2; b++) {
        assert_int_equal(time_of(x, b)->verdict, AB_VERDICT_PASS);
        assert_true(fabs(time_of(x, b)->effect.ratio - 1) < 1e-12);
    }
    assert_int_equal(ab_comparison_status(&x->c), AB_OK);
    assert_int_equal(ab_comparison_count(&x->c, AB_VERDICT_PASS), 2);
    assert_false(x->c.is_advisory);
    assert_int_equal(x->c.n_notes, 0);
}

static void verdicts_go_by_limit_and_interval(void **state)
{
    static const struct {
        double factor;
        enum ab_verdict verdict;
        enum ab_status status;
    } cases[] = {
        {1.08, AB_VERDICT_FAIL, AB_GATE},
        {1.02, AB_VERDICT_PASS, AB_OK},
        {1 / 1.08, AB_VERDICT_IMPROVED, AB_OK},
        {1.045, AB_VERDICT_INCONCLUSIVE, AB_INCONCLUSIVE}, /* the drift of the rounds is 1 % */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture *x = *state;
        slow_down(x->b, FAKE_JEMALLOC, cases[i].factor);
        compare(x);
        const struct ab_checked *c = time_of(x, FAKE_JEMALLOC);
        if (c->verdict != cases[i].verdict)
            fail_msg("%g: %s, %g [%g, %g]", cases[i].factor, ab_comparison_verdicts[c->verdict],
                     c->effect.ratio, c->effect.low, c->effect.high);
        assert_int_equal(ab_comparison_status(&x->c), cases[i].status);
        assert_int_equal(time_of(x, FAKE_GLIBC)->verdict, AB_VERDICT_PASS);
        assert_true(fabs(c->now / c->base - cases[i].factor) < 1e-9);
        slow_down(x->b, FAKE_JEMALLOC, 1 / cases[i].factor);
    }
}

static void the_rule_knows_both_bounds(void **state)
{
    (void)state;
    struct ab_effect e = {.ratio = 1.06, .low = 0.99, .high = 1.2};
    assert_int_equal(ab_verdict_of(&e, 0.05), AB_VERDICT_INCONCLUSIVE); /* may be nothing */
    e.low = 1.01;
    assert_int_equal(ab_verdict_of(&e, 0.05), AB_VERDICT_FAIL);
    assert_int_equal(ab_verdict_of(&e, 0.1), AB_VERDICT_INCONCLUSIVE);
    assert_int_equal(ab_verdict_of(&e, 0.2), AB_VERDICT_PASS);
    e = (struct ab_effect){.ratio = 0.9, .low = 0.8, .high = 1.01};
    assert_int_equal(ab_verdict_of(&e, 0.05), AB_VERDICT_PASS); /* faster, not surely */
    e.high = 0.99;
    assert_int_equal(ab_verdict_of(&e, 0.05), AB_VERDICT_IMPROVED);
    e = (struct ab_effect){.ratio = 1, .low = NAN, .high = NAN};
    assert_int_equal(ab_verdict_of(&e, 0.05), AB_VERDICT_INCONCLUSIVE);
}

static void too_few_rounds_are_inconclusive_and_say_so(void **state)
{
    struct fixture *x = *state;
    fake_session_free(x->a);
    x->a = new_side(5);
    slow_down(x->b, FAKE_GLIBC, 3);
    compare(x);
    const struct ab_checked *c = time_of(x, FAKE_GLIBC);
    assert_int_equal(c->verdict, AB_VERDICT_INCONCLUSIVE);
    assert_non_null(strstr(c->reason, "the base has 5"));
    assert_true(c->rounds_needed >= AB_EFFECT_MIN_ROUNDS);
    assert_int_equal(ab_comparison_status(&x->c), AB_INCONCLUSIVE);
    assert_string_equal(ab_check_word(cell(x, FAKE_GLIBC, "steady", "alloc", "p99")), "n/a");
    fake_session_free(x->b);
    x->b = new_side(1);
    compare(x);
    assert_int_equal(time_of(x, FAKE_GLIBC)->rounds_needed, AB_EFFECT_MIN_ROUNDS);
}

static void a_back_end_that_failed_on_either_side_is_never_ok(void **state)
{
    struct fixture *x = *state;
    x->b->backends[FAKE_JEMALLOC].status = AB_BACKEND_CRASHED;
    strcpy(x->b->backends[FAKE_JEMALLOC].reason, "SIGSEGV in free");
    compare(x);
    expect_failed(x, FAKE_JEMALLOC, "in the new result it is crashed: SIGSEGV in free");
    x->b->backends[FAKE_JEMALLOC].status = AB_BACKEND_OK;
    x->a->backends[FAKE_JEMALLOC].status = AB_BACKEND_PARTIAL;
    compare(x);
    expect_failed(x, FAKE_JEMALLOC, "in the base it is partial");
    x->a->backends[FAKE_JEMALLOC].status = AB_BACKEND_ABSENT;
    compare(x);
    expect_failed(x, FAKE_JEMALLOC, "in the base it is absent");
}

static void a_time_that_is_missing_is_never_ok(void **state)
{
    struct fixture *x = *state;
    for (uint32_t i = 0; i < x->b->s.n_results; i++)
        if (x->b->results[i].backend == FAKE_GLIBC)
            x->b->results[i].ns_per_op = NAN;
    compare(x);
    expect_failed(x, FAKE_GLIBC, "no time was measured on the new side");
}

static void what_one_side_lacks_is_said(void **state)
{
    struct fixture *x = *state;
    x->b->s.n_backends = 1;
    compare(x);
    assert_int_equal(ab_comparison_status(&x->c), AB_OK);
    expect_note(x, "jemalloc of the base was not run");
    x->a->s.n_backends = 1;
    x->b->s.n_backends = 2;
    compare(x);
    assert_null(cell(x, FAKE_JEMALLOC, NULL, NULL, "time"));
    expect_note(x, "jemalloc is not in the base");
    strcpy(x->b->backends[FAKE_JEMALLOC].name, "\x1b[31mred");
    compare(x);
    expect_note(x, "\\x1b[31mred is not in the base");
}

static void what_neither_side_could_do_is_a_note(void **state)
{
    struct fixture *x = *state;
    x->a->backends[FAKE_JEMALLOC].status = x->b->backends[FAKE_JEMALLOC].status =
        AB_BACKEND_PARTIAL;
    compare(x);
    expect_note(x, "jemalloc is partial in both");
    assert_int_equal(ab_comparison_status(&x->c), AB_OK);
    x->a->backends[FAKE_JEMALLOC].status = x->b->backends[FAKE_JEMALLOC].status =
        AB_BACKEND_CRASHED;
    compare(x);
    expect_failed(x, FAKE_JEMALLOC, "crashed");
}

static void another_machine_makes_it_advice(void **state)
{
    struct fixture *x = *state;
    strcpy(x->b->s.host.fingerprint, "0000");
    strcpy(x->b->s.host.kernel, "Linux 9.9.9");
    slow_down(x->b, FAKE_GLIBC, 1.5);
    compare(x);
    assert_int_equal(time_of(x, FAKE_GLIBC)->verdict, AB_VERDICT_FAIL);
    assert_true(x->c.is_advisory);
    assert_non_null(strstr(x->c.advisory, "now Linux 9.9.9"));
    assert_int_equal(ab_comparison_status(&x->c), AB_OK);
    x->b->backends[FAKE_GLIBC].status = AB_BACKEND_CRASHED; /* still no advice */
    compare(x);
    assert_int_equal(ab_comparison_status(&x->c), AB_BACKEND);
    x->a->s.host.fingerprint[0] = x->b->s.host.fingerprint[0] = 0;
    compare(x);
    assert_non_null(strstr(x->c.advisory, "the machine is not known"));
}

static void a_new_build_is_told_and_has_no_effect(void **state)
{
    struct fixture *x = *state;
    strcpy(x->a->backends[FAKE_JEMALLOC].build_id, "11aa");
    strcpy(x->b->backends[FAKE_JEMALLOC].build_id, "22bb");
    compare(x);
    expect_note(x, "jemalloc, build id: 11aa, now 22bb");
    assert_int_equal(ab_comparison_status(&x->c), AB_OK);
}

static void a_tail_alone_moves_its_percentiles_and_not_the_median(void **state)
{
    struct fixture *x = *state;
    for (uint32_t i = 0; i < x->b->s.n_results; i++) {
        struct ab_result *r = &x->b->results[i];
        if (r->backend != FAKE_GLIBC || r->op != AB_OP_ALLOC)
            continue;
        for (unsigned q = 0; q < AB_QUANTILE_COUNT; q++)
            if (ab_quantile_values[q] > 0.99)
                r->quantiles[q] += 5000;
        struct ab_hdr was = *r->hdr;
        ab_hdr_init(r->hdr);
        for (unsigned k = 0; k < AB_HDR_COUNTS; k++) { /* 1 % of the calls */
            bool is_tail = ab_hdr_high(k) > 100 && ab_hdr_high(k) < 5000;
            for (uint64_t n = was.counts[k]; n > 0; n--)
                ab_hdr_record(r->hdr, ab_hdr_high(k) + (is_tail ? 5000 : 0));
        }
    }
    compare(x);
    assert_string_equal(ab_check_word(cell(x, FAKE_GLIBC, "steady", "alloc", "p50")), "~");
    assert_string_equal(ab_check_word(cell(x, FAKE_GLIBC, "steady", "alloc", "p99.5")), "worse");
    assert_false(ab_check_is_judged(cell(x, FAKE_GLIBC, "steady", "alloc", "p99.5")));
    assert_string_equal(ab_check_word(cell(x, FAKE_JEMALLOC, "steady", "alloc", "p99.5")), "~");
    assert_int_equal(ab_comparison_status(&x->c), AB_OK);
}

/* A reader divides the one by the other. */
static void the_ratio_is_that_of_the_numbers_beside_it(void **state)
{
    struct fixture *x = *state;
    for (uint32_t i = 0; i < x->b->s.n_results; i++)
        if (x->b->results[i].backend == FAKE_GLIBC && x->b->results[i].op == AB_OP_ALL)
            x->b->results[i].ns_per_op *= 1.1 + 0.2 * (i % 3);
    compare(x);
    unsigned n = 0;
    for (uint32_t i = 0; i < x->c.n_cells; i++) {
        const struct ab_checked *c = &x->c.cells[i];
        double floor = c->op != NULL ? fmax(x->c.base->timer.floor_ns, x->c.now->timer.floor_ns)
                                     : 0;
        if (!isfinite(c->effect.ratio) || !isfinite(c->base) || !isfinite(c->now))
            continue;
        double shown = fmax(c->now, floor) / fmax(c->base, floor);
        assert_true(fabs(c->effect.ratio / shown - 1) < 1e-9);
        assert_true(isnan(c->effect.low) || (c->effect.low <= shown && shown <= c->effect.high));
        n += fabs(shown - 1) > 0.05;
    }
    assert_true(n > 0);
}

static void less_than_two_steps_of_the_clock_is_nothing(void **state)
{
    struct fixture *x = *state;
    for (uint32_t i = 0; i < x->b->s.n_results; i++)
        if (x->b->results[i].backend == FAKE_GLIBC)
            x->b->results[i].quantiles[0] *= 1.5; /* p50 of 42 ns, beside a clock of 20 ns steps */
    x->a->s.timer.quantum_ns = 20;
    compare(x);
    const struct ab_checked *p50 = cell(x, FAKE_GLIBC, "steady", "alloc", "p50");
    assert_true(p50->effect.high > 1.4);
    assert_string_equal(ab_check_word(p50), "~");
    assert_non_null(strstr(p50->reason, "two steps of the clock"));
}

static void back_ends_of_one_result_are_pairs(void **state)
{
    struct fixture *x = *state;
    ab_compare_backends(&x->a->s, FAKE_GLIBC, limit, &x->c);
    assert_null(cell(x, FAKE_GLIBC, NULL, NULL, "time"));
    const struct ab_checked *c = time_of(x, FAKE_JEMALLOC);
    assert_string_equal(c->base_backend, "glibc");
    assert_int_equal(c->verdict, AB_VERDICT_IMPROVED);
    assert_true(c->effect.high - c->effect.low < 1e-9); /* the drift of a round is in both */
    double want = (15.25 * 2000000 + 29.5 * 90000) / (21.5 * 2000000 + 40.25 * 90000);
    assert_true(fabs(c->effect.ratio - want) < 1e-9);
}

/* What a table of the back ends shows: whoever divides the two numbers beside it has the effect. */
static void the_effect_within_one_result_is_the_ratio_of_the_two_numbers(void **state)
{
    struct fixture *x = *state;
    for (uint32_t i = 0; i < x->a->s.n_results; i++) { /* so that no round is like another */
        struct ab_result *r = &x->a->results[i];
        r->ns_per_op *= 1 + 0.05 * ((r->round * 5 + r->backend * 3) % 7);
    }
    ab_compare_backends(&x->a->s, FAKE_GLIBC, limit, &x->c);
    const struct ab_checked *c = time_of(x, FAKE_JEMALLOC);
    assert_true(fabs(c->effect.ratio - c->now / c->base) < 1e-12);
    assert_true(c->effect.low <= c->effect.ratio && c->effect.ratio <= c->effect.high);
    assert_true(c->effect.low < c->effect.high);
}

/* What a default list lacks is a note, what was asked for and failed a failure. */
static void a_back_end_of_one_result_that_is_absent_fails_only_where_it_was_asked_for(void **state)
{
    struct fixture *x = *state;
    struct ab_backend_info *b = &x->a->backends[FAKE_JEMALLOC];
    b->status = AB_BACKEND_ABSENT;
    b->was_named = false;
    ab_compare_backends(&x->a->s, FAKE_GLIBC, limit, &x->c);
    assert_int_equal(ab_comparison_count(&x->c, AB_VERDICT_NOT_EVALUATED), 0);
    assert_int_equal(x->c.n_notes, 1);
    assert_non_null(strstr(x->c.notes[0], "jemalloc is absent: not compared"));
    ab_comparison_fini(&x->c);
    b->was_named = true;
    ab_compare_backends(&x->a->s, FAKE_GLIBC, limit, &x->c);
    assert_int_equal(time_of(x, FAKE_JEMALLOC)->verdict, AB_VERDICT_NOT_EVALUATED);
    assert_non_null(strstr(time_of(x, FAKE_JEMALLOC)->reason, "it is absent"));
    assert_int_equal(ab_comparison_status(&x->c), AB_BACKEND);
}

static void a_regression_has_to_show_again(void **state)
{
    struct fixture *x = *state;
    struct fake_session *again = new_side(ROUNDS);
    struct ab_comparison second;
    bool is_concerned[2] = {false, false};
    slow_down(x->b, FAKE_JEMALLOC, 1.08);
    compare(x);
    assert_int_equal(ab_checks_suspicious(x->c.cells, x->c.n_cells, &x->b->s, is_concerned), 1);
    assert_false(is_concerned[FAKE_GLIBC]);
    assert_true(is_concerned[FAKE_JEMALLOC]);
    slow_down(again, FAKE_JEMALLOC, 1.1);
    ab_compare_results(&x->a->s, &again->s, limit, &second);
    ab_checks_confirm(x->c.cells, x->c.n_cells, second.cells, second.n_cells, ROUNDS);
    assert_int_equal(time_of(x, FAKE_JEMALLOC)->verdict, AB_VERDICT_FAIL);
    assert_int_equal(time_of(x, FAKE_JEMALLOC)->n_confirm, ROUNDS);
    ab_comparison_fini(&second);
    slow_down(again, FAKE_JEMALLOC, 1 / 1.1);
    ab_compare_results(&x->a->s, &again->s, limit, &second);
    ab_checks_confirm(x->c.cells, x->c.n_cells, second.cells, second.n_cells, ROUNDS);
    assert_int_equal(time_of(x, FAKE_JEMALLOC)->verdict, AB_VERDICT_INCONCLUSIVE);
    assert_non_null(strstr(time_of(x, FAKE_JEMALLOC)->reason, "not confirmed"));
    ab_comparison_fini(&second);
    fake_session_free(again);
}

static void other_work_is_refused(void **state)
{
    struct fixture *x = *state;
    struct ab_err err;
    assert_int_equal(ab_compare_check_work(&x->a->s, "a.json", &x->b->s, "b.json", &err), AB_OK);
    x->b->s.is_strict = true;
    assert_int_equal(ab_compare_check_work(&x->a->s, "a.json", &x->b->s, "b.json", &err), AB_USAGE);
    assert_non_null(strstr(err.text, "b.json was measured with --order strict"));
    x->b->s.is_strict = false;
    x->b->s.tape_sha256 = "5e6f";
    assert_int_equal(ab_compare_check_work(&x->a->s, "a.json", &x->b->s, "b.json", &err), AB_USAGE);
    assert_non_null(strstr(err.text, "different work"));
    x->a->s.tape_sha256 = x->b->s.tape_sha256 = ""; /* not known is not the same */
    assert_int_equal(ab_compare_check_work(&x->a->s, "a.json", &x->b->s, "b.json", &err), AB_USAGE);
}

static void nothing_in_common_is_refused(void **state)
{
    struct fixture *x = *state;
    struct ab_err err;
    strcpy(x->b->backends[0].name, "old");
    strcpy(x->b->backends[1].name, "new");
    assert_int_equal(ab_compare_check_work(&x->a->s, "a.json", &x->b->s, "b.json", &err), AB_USAGE);
    assert_non_null(strstr(err.text, "no back end in common"));
}

static void half_a_result_is_refused(void **state)
{
    struct fixture *x = *state;
    struct ab_err err;
    assert_int_equal(ab_compare_check_whole(&x->a->s, "a.json", &err), AB_OK);
    x->a->s.is_complete = false;
    x->a->s.n_rounds_planned = 20;
    assert_int_equal(ab_compare_check_whole(&x->a->s, "a.json", &err), AB_INPUT);
    assert_non_null(strstr(err.text, "a.json is incomplete, 8 of 20 rounds"));
    x->a->s.is_complete = true;
    x->a->backends[0].status = x->a->backends[1].status = AB_BACKEND_TIMEOUT;
    assert_int_equal(ab_compare_check_whole(&x->a->s, "a.json", &err), AB_BACKEND);
    x->a->s.n_rounds = 0;
    assert_int_equal(ab_compare_check_whole(&x->a->s, "a.json", &err), AB_INPUT);
    x->a->s.n_rounds = ROUNDS;
}

/* A comparison of hand-made cells: n with a limit, whose chance of no regression is p[i]. */
static void fill_cells(struct ab_comparison *c, struct ab_checked *cells, const double *p,
                       uint32_t n, double cell_limit)
{
    for (uint32_t i = 0; i < n; i++)
        cells[i] = (struct ab_checked){
            .backend = "glibc",
            .metric = "p99",
            .bound = cell_limit,
            .effect = {.ratio = 1.2, .low = 1.1, .high = 1.3, .p_larger = p[i], .p_smaller = 1},
            .verdict = isnan(cell_limit) ? AB_VERDICT_PASS : AB_VERDICT_FAIL};
    *c = (struct ab_comparison){.cells = cells, .n_cells = n};
}

static void what_is_clear_alone_need_not_be_among_many(void **state)
{
    (void)state;
    static const double p[] = {0.001, 0.04, 0.02}, alone = 0.04;
    struct ab_checked cells[3], one;
    struct ab_comparison c[2];
    fill_cells(&c[0], cells, p, 3, limit);
    ab_comparisons_join(c, 1);
    assert_true(c[0].is_joint);
    assert_int_equal(cells[0].verdict, AB_VERDICT_FAIL);
    assert_int_equal(cells[1].verdict, AB_VERDICT_FAIL); /* 0.02 · 2 and 0.04 · 1 */
    assert_int_equal(cells[2].verdict, AB_VERDICT_FAIL);
    fill_cells(&c[0], cells, p, 3, limit);
    cells[2].effect.p_larger = 0.03;
    fill_cells(&c[1], &one, &alone, 1, NAN);
    ab_comparisons_join(c, 2); /* what has no limit is a family of its own */
    assert_int_equal(cells[0].verdict, AB_VERDICT_FAIL);
    assert_int_equal(cells[1].verdict, AB_VERDICT_INCONCLUSIVE);
    assert_int_equal(cells[2].verdict, AB_VERDICT_INCONCLUSIVE);
    assert_non_null(strstr(cells[1].reason, "correction for 3 comparisons"));
    assert_string_equal(ab_check_word(&one), "worse");
    fill_cells(&c[0], cells, p, 3, NAN);
    cells[1].effect.p_larger = cells[2].effect.p_larger = 0.03;
    ab_comparisons_join(c, 1);
    assert_string_equal(ab_check_word(&cells[0]), "worse");
    assert_string_equal(ab_check_word(&cells[1]), "~");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_result_and_its_copy_are_ok),
        TEST(verdicts_go_by_limit_and_interval),
        TEST(the_rule_knows_both_bounds),
        TEST(too_few_rounds_are_inconclusive_and_say_so),
        TEST(a_back_end_that_failed_on_either_side_is_never_ok),
        TEST(a_time_that_is_missing_is_never_ok),
        TEST(what_one_side_lacks_is_said),
        TEST(what_neither_side_could_do_is_a_note),
        TEST(another_machine_makes_it_advice),
        TEST(a_new_build_is_told_and_has_no_effect),
        TEST(a_tail_alone_moves_its_percentiles_and_not_the_median),
        TEST(less_than_two_steps_of_the_clock_is_nothing),
        TEST(the_ratio_is_that_of_the_numbers_beside_it),
        TEST(back_ends_of_one_result_are_pairs),
        TEST(the_effect_within_one_result_is_the_ratio_of_the_two_numbers),
        TEST(a_back_end_of_one_result_that_is_absent_fails_only_where_it_was_asked_for),
        TEST(a_regression_has_to_show_again),
        TEST(what_is_clear_alone_need_not_be_among_many),
        TEST(other_work_is_refused),
        TEST(nothing_in_common_is_refused),
        TEST(half_a_result_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
