/* SPDX-License-Identifier: MIT */
#include "result/numbers.h"
#include "stats/stopping.h"

#include "support/report_session.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Rounds of which arena takes `apart` longer in every second one: an interval of that width. */
static struct fake_session *rounds(uint32_t n, double apart)
{
    struct fake_session *f = fake_session_of(n);
    for (uint32_t i = 0; i < f->s.n_results; i++) {
        struct ab_result *r = &f->results[i];
        if (r->backend == FAKE_ARENA && r->op == AB_OP_ALL)
            r->ns_per_op = 10 * (r->round % 2 == 0 ? 1 : 1 + apart);
        if (r->backend != FAKE_ARENA && r->op == AB_OP_ALL)
            r->ns_per_op = 20;
    }
    f->s.stopping = (struct ab_stopping){.n_rounds_most = 100};
    return f;
}

static enum ab_ended decide(uint32_t n, double apart, double precision, double budget, double spent)
{
    struct fake_session *f = rounds(n, apart);
    f->s.stopping.precision = precision;
    f->s.stopping.time_budget_s = budget;
    f->s.stopping.spent_s = spent;
    enum ab_ended ended = ab_stopping_decide(&f->s, 1);
    fake_session_free(f);
    return ended;
}

static void the_widest_interval_counts(void **state)
{
    (void)state;
    struct fake_session *f = rounds(10, 0.1);
    double wide = ab_session_precision(&f->s);
    assert_true(wide > 0.03 && wide < 0.08);
    fake_session_free(f);
    f = rounds(10, 0);
    assert_true(ab_session_precision(&f->s) == 0); /* jemalloc's too */
    fake_session_free(f);
    f = rounds(5, 0);
    assert_true(isinf(ab_session_precision(&f->s))); /* ratios, no intervals */
    f->backends[FAKE_ARENA].status = f->backends[FAKE_JEMALLOC].status = AB_BACKEND_CRASHED;
    assert_true(isnan(ab_session_precision(&f->s))); /* no ratio */
    fake_session_free(f);
}

static void precision_ends_a_session_from_the_sixth_round_on(void **state)
{
    (void)state;
    assert_int_equal(decide(5, 0, 0.02, 0, 0), AB_ENDED_NOT);
    assert_int_equal(decide(6, 0, 0.02, 0, 0), AB_ENDED_PRECISION);
    assert_int_equal(decide(10, 0.1, 0.02, 0, 0), AB_ENDED_NOT);
    assert_int_equal(decide(10, 0.1, 0.2, 0, 0), AB_ENDED_PRECISION);
}

static void a_budget_ends_it_where_another_round_does_not_fit(void **state)
{
    (void)state;
    assert_int_equal(decide(8, 0.1, 0, 10, 8.9), AB_ENDED_NOT);
    assert_int_equal(decide(8, 0.1, 0, 10, 9.1), AB_ENDED_TIME);
    assert_int_equal(decide(5, 0.1, 0, 10, 60), AB_ENDED_NOT); /* the least there must be */
    assert_int_equal(decide(6, 0.1, 0, 10, 60), AB_ENDED_TIME);
}

static void both_combine_and_rounds_bound_them(void **state)
{
    (void)state;
    assert_int_equal(decide(8, 0, 0.02, 10, 1), AB_ENDED_PRECISION);
    assert_int_equal(decide(8, 0.1, 0.02, 10, 9.5), AB_ENDED_TIME);
    struct fake_session *f = rounds(8, 0.1);
    f->s.stopping.precision = 0.001;
    f->s.stopping.n_rounds_most = 8;
    assert_int_equal(ab_stopping_decide(&f->s, 1), AB_ENDED_ROUNDS);
    fake_session_free(f);
    f = rounds(3, 0);
    f->s.stopping.time_budget_s = 1;
    f->s.stopping.spent_s = 9;
    f->s.stopping.n_rounds_most = 3; /* fewer than the least were asked for */
    assert_int_equal(ab_stopping_decide(&f->s, 1), AB_ENDED_ROUNDS);
    fake_session_free(f);
}

static void without_a_ratio_precision_does_not_go_on_for_ever(void **state)
{
    (void)state;
    struct fake_session *f = rounds(10, 0);
    f->s.stopping.precision = 0.01;
    f->backends[FAKE_ARENA].status = f->backends[FAKE_JEMALLOC].status = AB_BACKEND_CRASHED;
    assert_int_equal(ab_stopping_decide(&f->s, 1), AB_ENDED_ROUNDS);
    fake_session_free(f);
}

static void what_is_expected_follows_width_and_time(void **state)
{
    (void)state;
    struct fake_session *f = rounds(10, 0.1);
    double width = ab_session_precision(&f->s);
    f->s.stopping.precision = width / 2;
    assert_int_equal(ab_stopping_expected(&f->s, 1), 40); /* four times as many for half of it */
    f->s.stopping.time_budget_s = 30;
    f->s.stopping.spent_s = 10;
    assert_int_equal(ab_stopping_expected(&f->s, 2), 20);
    assert_int_equal(ab_stopping_expected(&f->s, 50), 10);
    f->s.stopping.precision = width / 100;
    f->s.stopping.time_budget_s = 0;
    assert_int_equal(ab_stopping_expected(&f->s, 2), 100);
    fake_session_free(f);
    f = rounds(5, 0.1);
    f->s.stopping.precision = 0.02;
    assert_int_equal(ab_stopping_expected(&f->s, 1), 0); /* nothing to go by yet */
    fake_session_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_widest_interval_counts),
        cmocka_unit_test(precision_ends_a_session_from_the_sixth_round_on),
        cmocka_unit_test(a_budget_ends_it_where_another_round_does_not_fit),
        cmocka_unit_test(both_combine_and_rounds_bound_them),
        cmocka_unit_test(without_a_ratio_precision_does_not_go_on_for_ever),
        cmocka_unit_test(what_is_expected_follows_width_and_time),
    };
    return cmocka_run_group_tests_name("stopping", tests, NULL, NULL);
}
