/* SPDX-License-Identifier: MIT
 *
 * False alarms, power, coverage and needed rounds on rounds whose true ratio is known, for a fixed
 * seed: the short form of tests/bench/effect_simulation.c. Expected powers are those of another
 * simulation of the same models, written apart from this one.
 */
#include "support/noise_model.h"

#include "base/bits.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static double percent(const struct noise_experiment *e, enum noise_question question,
                      uint32_t times)
{
    return 100 * noise_share(e, question, times, 1);
}

static void a_thousand_equal_pairs_give_no_false_alarm(void **state)
{
    (void)state;
    for (uint32_t n = 6; n <= 20; n += 7) {
        struct noise_experiment e = {&noise_shared_runner, 1, 0.05, n, true};
        assert_true(percent(&e, NOISE_REGRESSED, 1000) <= 2);
    }
    struct noise_experiment tail = {&noise_far_tail, 1, 0.25, 10, true}; /* the limit of p99.9 */
    assert_true(percent(&tail, NOISE_REGRESSED, 1000) <= 2);
    struct noise_experiment stored = {&noise_shared_runner, 1, 0.05, 10, false};
    assert_true(percent(&stored, NOISE_REGRESSED, 1000) <= 2);
}

static void power_is_as_expected(void **state)
{
    static const double slower[] = {0, 0.02, 0.05, 0.08, 0.10, 0.15};
    static const struct {
        const struct noise_model *model;
        enum noise_question question;
        double percent[AB_ARRAY_LEN(slower)];
    } rows[] = {
        {&noise_shared_runner, NOISE_REGRESSED, {0, 0.5, 48, 96, 99, 99}},
        {&noise_far_tail, NOISE_REGRESSED, {4, 9, 23, 39, 51, 73}},
        {&noise_shared_runner, NOISE_PROVEN, {0, 0, 5, 66, 90, 98}},
        {&noise_far_tail, NOISE_PROVEN, {0.7, 1, 4, 12, 20, 49}},
    };
    (void)state;
    for (size_t r = 0; r < AB_ARRAY_LEN(rows); r++)
        for (size_t i = 0; i < AB_ARRAY_LEN(slower); i++) {
            struct noise_experiment e = {rows[r].model, 1 + slower[i], 0.05, 10, true};
            double found = percent(&e, rows[r].question, 2000);
            if (fabs(found - rows[r].percent[i]) > 3)
                fail_msg("%s, %.0f %% slower: %.1f %%, expected %.1f %%", rows[r].model->name,
                         100 * slower[i], found, rows[r].percent[i]);
        }
}

static void intervals_hold_the_truth_as_often_as_they_say(void **state)
{
    static const uint32_t rounds[] = {6, 10, 20};
    struct noise_model still = noise_shared_runner;
    still.drift = 0; /* two results at different times differ by the drift between them as well */
    (void)state;
    for (size_t i = 0; i < AB_ARRAY_LEN(rounds); i++) {
        const struct noise_experiment cases[] = {
            {&noise_shared_runner, 1.08, 0, rounds[i], true},
            {&noise_far_tail, 0.9, 0, rounds[i], true},
            {&still, 1.08, 0, rounds[i], false},
        };
        for (size_t c = 0; c < AB_ARRAY_LEN(cases); c++) {
            double held = percent(&cases[c], NOISE_COVERED, 1000);
            assert_true(held >= 88 && held <= 95); /* wider is no better */
        }
    }
}

/* One look at the interval calls equal ones different in at most a tenth: 5 % on either side. */
static void equal_ones_are_called_clear_in_a_tenth(void **state)
{
    (void)state;
    struct noise_experiment e = {&noise_shared_runner, 1, 0, 10, true};
    double clear = percent(&e, NOISE_CLEAR, 1000);
    assert_true(clear >= 5 && clear <= 12);
}

/* The median estimate from ten rounds; half of the single ones to a factor of seven. */
static void needed_rounds_are_right_to_a_factor_of_two(void **state)
{
    const struct noise_experiment cases[] = {
        {&noise_shared_runner, 1.02, 0, 10, true},
        {&noise_shared_runner, 1.03, 0, 10, true},
        {&noise_far_tail, 1.10, 0, 10, true},
    };
    (void)state;
    for (size_t c = 0; c < AB_ARRAY_LEN(cases); c++) {
        double estimates[3];
        double truth = noise_rounds_for_power(&cases[c], 1000, 1);
        noise_estimated_rounds(&cases[c], 1000, 1, estimates);
        assert_true(estimates[1] >= truth / 2 && estimates[1] <= truth * 2);
        assert_true(estimates[0] >= truth / 8 && estimates[2] <= truth * 8);
    }
}

/* Who reads "about N rounds would settle it" and measures as many has an answer in four of five. */
static void as_many_rounds_as_were_asked_for_decide(void **state)
{
    const struct noise_experiment cases[] = {
        {&noise_shared_runner, 1.02, 0.05, 10, true},
        {&noise_shared_runner, 1.00, 0.05, 10, true},
        {&noise_far_tail, 1.10, 0.05, 10, true},
    };
    (void)state;
    for (size_t c = 0; c < AB_ARRAY_LEN(cases); c++) {
        struct noise_advice a = noise_follow_advice(&cases[c], 500, 1);
        assert_true(a.asked - a.too_many >= 20);
        assert_true(a.decided >= 0.8);
    }
}

/* Looked at after each round, and left when it is narrow. */
static void stopping_by_precision_leaves_the_coverage_nearly_as_it_is(void **state)
{
    (void)state;
    struct noise_experiment e = {&noise_shared_runner, 1.08, 0, 0, true};
    struct noise_stop s = noise_stop_at(&e, 0.02, 100, 1000, 3);
    assert_true(s.covered >= 0.87 && s.covered <= 0.94);
    assert_true(s.reached > 0.99 && s.rounds >= 8 && s.rounds <= 20);
    e.model = &noise_far_tail;
    s = noise_stop_at(&e, 0.10, 100, 1000, 3);
    assert_true(s.covered >= 0.86 && s.covered <= 0.94);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_equal_pairs_give_no_false_alarm),
        cmocka_unit_test(power_is_as_expected),
        cmocka_unit_test(intervals_hold_the_truth_as_often_as_they_say),
        cmocka_unit_test(equal_ones_are_called_clear_in_a_tenth),
        cmocka_unit_test(needed_rounds_are_right_to_a_factor_of_two),
        cmocka_unit_test(as_many_rounds_as_were_asked_for_decide),
        cmocka_unit_test(stopping_by_precision_leaves_the_coverage_nearly_as_it_is),
    };
    return cmocka_run_group_tests_name("effect_simulation", tests, NULL, NULL);
}
