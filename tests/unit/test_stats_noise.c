/* SPDX-License-Identifier: MIT
 *
 * Noise from pairs whose law is known.
 */
#include "base/rng.h"
#include "stats/noise.h"
#include "support/cmocka.h"

#include <math.h>
#include <string.h>

enum { PAIRS = 200 };

static void equal_numbers_have_none(void **state)
{
    (void)state;
    double x[20], y[20];
    for (int i = 0; i < 20; i++)
        x[i] = y[i] = 5 + i;
    assert_true(ab_noise_of_pairs(x, y, 20, 10) == 0);
    y[3] = NAN; /* that round is passed over */
    assert_true(ab_noise_of_pairs(x, y, 20, 10) == 0);
}

static void too_few_pairs_are_not_known(void **state)
{
    (void)state;
    const double x[3] = {1, NAN, 0}, y[3] = {2, 2, 2};
    assert_true(isnan(ab_noise_of_pairs(x, y, 3, 10)));
    assert_true(isnan(ab_noise_of_pairs(x, y, 0, 10)));
}

/* Nearly normal, standard deviation 1 */
static double normal(struct ab_rng *rng)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += ab_rng_unit(rng);
    return sum;
}

/* Log-ratios of sd s: the estimate of n rounds has an sd of about s / sqrt(n) (a little more: the
 * Hodges-Lehmann estimate has an efficiency of 0.955), and 95 % lie within 1.96 of these. */
static void of_normal_noise_it_is_what_theory_says(void **state)
{
    (void)state;
    struct ab_rng rng;
    double x[PAIRS], y[PAIRS];
    ab_rng_init(&rng, 3, 3);
    for (int i = 0; i < PAIRS; i++) {
        x[i] = 10 * exp(0.02 * normal(&rng));
        y[i] = 10 * exp(0.02 * normal(&rng));
    }
    double sd = 0.02 * sqrt(2), p95 = ab_noise_of_pairs(x, y, PAIRS, 10);
    double expected = 1.96 * sd / sqrt(10 * 0.955);
    if (!(p95 > 0.8 * expected && p95 < 1.2 * expected))
        fail_msg("%g, expected %g", p95, expected);
    double of_40 = ab_noise_of_pairs(x, y, PAIRS, 40);
    assert_true(of_40 > 0.4 * p95 && of_40 < 0.6 * p95);
}

/* Which is called new is drawn: one that is always slower by 3 % is noise of the machine, too. */
static void a_difference_of_the_names_is_noise(void **state)
{
    (void)state;
    double x[20], y[20];
    for (int i = 0; i < 20; i++) {
        x[i] = 100;
        y[i] = 103;
    }
    double p95 = ab_noise_of_pairs(x, y, 20, 10);
    assert_true(p95 > 0.01 && p95 < 0.0300001);
}

static void numbers_are_found_by_op_and_metric(void **state)
{
    (void)state;
    struct ab_noise_levels noise = {
        .n = 3,
        .rounds = 16,
        .entries = {{"alloc", "p99", 0.02}, {"free", "p99", 0.05}, {"all", "ns_per_op", 0.01}}};
    assert_true(ab_noise_of(&noise, "alloc", "p99", 16) == 0.02);
    assert_true(ab_noise_of(&noise, "alloc", "p99", 100) == 0.02);
    assert_true(fabs(ab_noise_of(&noise, "alloc", "p99", 4) - 0.04) < 1e-12);
    assert_true(ab_noise_of(&noise, "resize", "p99", 16) == 0.05); /* the noisiest */
    assert_true(isnan(ab_noise_of(&noise, "all", "instr_per_op", 16)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_numbers_have_none),
        cmocka_unit_test(too_few_pairs_are_not_known),
        cmocka_unit_test(of_normal_noise_it_is_what_theory_says),
        cmocka_unit_test(a_difference_of_the_names_is_noise),
        cmocka_unit_test(numbers_are_found_by_op_and_metric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
