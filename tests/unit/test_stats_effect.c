/* SPDX-License-Identifier: MIT
 *
 * Effects against definitions written out: every Walsh average sorted, every subset counted.
 */
#include "stats/effect.h"

#include "base/bits.h"
#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 14 };

static bool near(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-12 * (1 + fabs(b));
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Positive, with ties. */
static void draw(double *x, uint32_t n, struct ab_rng *rng)
{
    for (uint32_t i = 0; i < n; i++)
        x[i] = 20 + (double)ab_rng_below(rng, 12);
}

/* P(signed-rank statistic of n pairs <= value). */
static double pairs_law(uint32_t n, uint64_t value)
{
    uint32_t hits = 0;
    for (uint32_t set = 0; set < 1u << n; set++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < n; i++)
            sum += (set >> i & 1) * (i + 1);
        hits += sum <= value;
    }
    return hits / (double)(1u << n);
}

static double middle(const double *sorted, uint64_t n)
{
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

static void pairs_are_what_the_definition_says(void **state)
{
    static const unsigned bounds[] = {2, 3, 5, 8, 10, 13, 17, 21, 25}; /* of 6 … 14 rounds */
    struct ab_rng rng;
    double base[MOST], now[MOST], walsh[MOST * MOST];
    (void)state;
    ab_rng_init(&rng, 1, 0);
    for (uint32_t n = 6; n <= MOST; n++) {
        uint64_t k = bounds[n - 6], n_walsh = 0, not_above = 0;
        draw(base, n, &rng);
        draw(now, n, &rng);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = i; j < n; j++)
                walsh[n_walsh++] = (log(now[i] / base[i]) + log(now[j] / base[j])) / 2;
        qsort(walsh, n_walsh, sizeof walsh[0], by_value);
        for (uint64_t i = 0; i < n_walsh; i++)
            not_above += walsh[i] <= 1e-15;
        struct ab_effect e = ab_effect_paired(base, now, n);
        assert_int_equal(e.method, AB_EFFECT_PAIRED);
        assert_true(e.n_base == n && e.n_new == n);
        assert_true(near(e.ratio, exp(middle(walsh, n_walsh))));
        assert_true(near(e.low, exp(walsh[k])));
        assert_true(near(e.high, exp(walsh[n_walsh - 1 - k])));
        assert_true(near(e.p_larger, pairs_law(n, not_above)));
    }
}

static void samples_are_what_the_definition_says(void **state)
{
    static const struct {
        uint32_t m, n;
        uint64_t k; /* printed tables of U, one-sided 5 % */
    } sizes[] = {{6, 6, 7}, {6, 8, 10}, {8, 8, 15}, {10, 10, 27}, {12, 12, 42}};
    struct ab_rng rng;
    double base[MOST], now[MOST], shifts[MOST * MOST];
    (void)state;
    ab_rng_init(&rng, 2, 0);
    for (unsigned s = 0; s < AB_ARRAY_LEN(sizes); s++) {
        uint64_t n_shifts = 0, k = sizes[s].k;
        draw(base, sizes[s].m, &rng);
        draw(now, sizes[s].n, &rng);
        for (uint32_t i = 0; i < sizes[s].m; i++)
            for (uint32_t j = 0; j < sizes[s].n; j++)
                shifts[n_shifts++] = log(now[j] / base[i]);
        qsort(shifts, n_shifts, sizeof shifts[0], by_value);
        struct ab_effect e = ab_effect_unpaired(base, sizes[s].m, now, sizes[s].n);
        assert_int_equal(e.method, AB_EFFECT_UNPAIRED);
        assert_true(e.n_base == sizes[s].m && e.n_new == sizes[s].n);
        assert_true(near(e.ratio, exp(middle(shifts, n_shifts))));
        assert_true(near(e.low, exp(shifts[k])));
        assert_true(near(e.high, exp(shifts[n_shifts - 1 - k])));
    }
}

static void the_other_way_round_is_the_inverse(void **state)
{
    struct ab_rng rng;
    double base[MOST], now[MOST];
    (void)state;
    ab_rng_init(&rng, 3, 0);
    for (unsigned round = 0; round < 50; round++) {
        draw(base, MOST, &rng);
        draw(now, MOST, &rng);
        for (int is_paired = 0; is_paired < 2; is_paired++) {
            struct ab_effect e = is_paired ? ab_effect_paired(base, now, MOST)
                                           : ab_effect_unpaired(base, MOST, now, MOST);
            struct ab_effect o = is_paired ? ab_effect_paired(now, base, MOST)
                                           : ab_effect_unpaired(now, MOST, base, MOST);
            assert_true(near(e.ratio, 1 / o.ratio) && near(e.low, 1 / o.high));
            assert_true(near(e.high, 1 / o.low) && near(e.sd, o.sd));
            assert_true(near(e.p_larger, o.p_smaller) && near(e.p_smaller, o.p_larger));
            assert_true((e.low > 1) == (e.p_larger <= AB_EFFECT_ALPHA));
            assert_true((e.high < 1) == (e.p_smaller <= AB_EFFECT_ALPHA));
        }
    }
}

static void one_bad_round_moves_little(void **state)
{
    double base[10], now[10];
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        base[i] = 100 + i;
        now[i] = base[i] * (1.10 + 0.001 * (i % 4));
    }
    now[3] *= 8; /* a time slice of the scheduler */
    struct ab_effect e = ab_effect_paired(base, now, 10);
    assert_true(e.ratio > 1.095 && e.ratio < 1.11);
    assert_true(e.low > 1.099);
}

static void rounds_that_miss_a_number_do_not_count(void **state)
{
    const double base[] = {10, 11, NAN, 12, 0, 13, -1, 11.5, 12.5, INFINITY};
    const double now[] = {20, 21, 7, 24, 5, 27, 8, 22, NAN, 4};
    (void)state;
    struct ab_effect e = ab_effect_paired(base, now, AB_ARRAY_LEN(base));
    assert_int_equal(e.n_new, 5);
    assert_int_equal(e.method, AB_EFFECT_FEW);
    assert_true(e.ratio > 1.8 && e.ratio < 2.2);
    assert_true(isnan(e.low) && isnan(e.high) && isnan(e.p_larger) && e.sd > 0);
    e = ab_effect_paired(base, now, 0);
    assert_int_equal(e.method, AB_EFFECT_NONE);
    assert_true(isnan(e.ratio));
    e = ab_effect_unpaired(base + 2, 1, now, 8);
    assert_int_equal(e.method, AB_EFFECT_NONE);
    e = ab_effect_paired(base, now, 1);
    assert_int_equal(e.method, AB_EFFECT_FEW);
    assert_true(near(e.ratio, 2) && isnan(e.sd));
}

static void below_six_rounds_of_either_there_is_no_interval(void **state)
{
    const double a[] = {10, 11, 12, 13, 14, 15, 16, 17}, b[] = {30, 31, 32, 33, 34, 35, 36, 37};
    (void)state;
    assert_int_equal(ab_effect_paired(a, b, 5).method, AB_EFFECT_FEW);
    assert_int_equal(ab_effect_paired(a, b, 6).method, AB_EFFECT_PAIRED);
    assert_int_equal(ab_effect_unpaired(a, 5, b, 8).method, AB_EFFECT_FEW);
    assert_int_equal(ab_effect_unpaired(a, 8, b, 5).method, AB_EFFECT_FEW);
    assert_int_equal(ab_effect_unpaired(a, 6, b, 6).method, AB_EFFECT_UNPAIRED);
}

static void equal_numbers_need_no_test(void **state)
{
    const double a[] = {50, 50, 50, 50, 50, 50}, b[] = {51, 51, 51, 51, 51, 51};
    (void)state;
    struct ab_effect e = ab_effect_paired(a, b, 6);
    assert_int_equal(e.method, AB_EFFECT_EXACT);
    assert_true(e.ratio == 1.02 && e.low == 1.02 && e.high == 1.02 && e.sd == 0);
    assert_true(e.p_larger == 0 && e.p_smaller == 1);
    assert_true(ab_effect_paired(a, a, 6).low == 1);
    /* Five equal readings of a clock may be chance; five equal counts are not. */
    assert_int_equal(ab_effect_paired(a, b, 5).method, AB_EFFECT_FEW);
    e = ab_effect_counted(a, 1, b, 1);
    assert_int_equal(e.method, AB_EFFECT_EXACT);
    assert_true(e.low == 1.02 && e.n_base == 1);
    const double c[] = {51, 51.5, 51, 51, 51, 51};
    assert_int_equal(ab_effect_counted(a, 1, c, 2).method, AB_EFFECT_FEW);
    assert_int_equal(ab_effect_counted(a, 6, c, 6).method, AB_EFFECT_UNPAIRED);
}

static void numbers_that_may_be_zero_have_differences(void **state)
{
    const double a[] = {0, 0, 1, 0, 2, 0, 0}, b[] = {3, 4, 4, 3, 5, -1, 3};
    (void)state;
    struct ab_effect e = ab_effect_difference(a, b, 7);
    assert_int_equal(e.method, AB_EFFECT_PAIRED);
    assert_true(near(e.ratio, 3) && e.low > 0 && e.high <= 4);
    assert_int_equal(e.n_new, 7);
    assert_int_equal(ab_effect_paired(a, b, 7).n_new, 2);
    e = ab_effect_difference_unpaired(a, 7, b, 7);
    assert_true(near(e.ratio, 3) && e.method == AB_EFFECT_UNPAIRED);
    const double zero[] = {0, 0, 0, 0, 0, 0};
    e = ab_effect_difference(zero, zero, 6);
    assert_true(e.method == AB_EFFECT_EXACT && e.ratio == 0 && e.low == 0 && e.high == 0);
}

static void what_is_shown_lies_in_its_interval(void **state)
{
    const struct ab_effect e = {.ratio = 1.1, .low = 1.05, .high = 1.15, .n_new = 10};
    (void)state;
    struct ab_effect shown = ab_effect_shown(&e, 1.12);
    assert_true(shown.ratio == 1.12 && shown.low == 1.05 && shown.high == 1.15);
    assert_true(ab_effect_shown(&e, 1.2).high == 1.2);
    assert_true(ab_effect_shown(&e, 0.9).low == 0.9);
    const struct ab_effect few = {.ratio = 1.1, .low = NAN, .high = NAN};
    assert_true(isnan(ab_effect_shown(&few, 1.2).high));
}

static struct ab_effect of(double ratio, double low, double high, double sd)
{
    return (struct ab_effect){.ratio = ratio,
                              .low = low,
                              .high = high,
                              .sd = sd,
                              .n_base = 10,
                              .n_new = 10,
                              .method = AB_EFFECT_PAIRED};
}

static uint32_t needed(double ratio, double low, double high, double sd, double limit)
{
    struct ab_effect e = of(ratio, low, high, sd);
    return ab_effect_rounds_needed(&e, limit);
}

static void needed_rounds_follow_the_formula(void **state)
{
    (void)state;
    /* 1.05 (2.487 · 0.2 / ln 1.1)² = 28.6 */
    assert_int_equal(needed(1.10, 0.98, 1.2, 0.2, 0.05), 29);
    /* Within the limit: the distance to ln 1.05 counts; 1.05 (2.487 · 0.03 / 0.0388)² = 3.9 */
    assert_int_equal(needed(1.01, 0.97, 1.06, 0.03, 0.05), 11); /* ten were not enough */
    assert_int_equal(needed(1.04, 1.00, 1.08, 0.03, 0.05), 64);
    assert_int_equal(needed(1.10, 0.98, 1.2, 0.2, NAN), 29);
    assert_int_equal(needed(1.10, 1.02, 1.2, 0.2, NAN), 0);
    assert_int_equal(needed(1.10, 1.02, 1.2, 0.2, 0.05), 0);
    assert_int_equal(needed(1.00, 0.97, 1.04, 0.2, 0.05), 0);
    assert_int_equal(needed(1.0499, 0.97, 1.09, 0.2, 0.05), UINT32_MAX);
    assert_int_equal(needed(1.10, NAN, NAN, NAN, 0.05), UINT32_MAX);
    struct ab_effect few = of(1.5, NAN, NAN, 0.01);
    few.n_base = few.n_new = 3;
    assert_int_equal(ab_effect_rounds_needed(&few, 0.05), AB_EFFECT_MIN_ROUNDS);
}

static void holm_asks_more_of_the_smallest(void **state)
{
    double p[] = {0.01, 0.04, NAN, 0.03, 0.005, 0.5};
    const double expected[] = {0.04, 0.09, NAN, 0.09, 0.025, 0.5};
    (void)state;
    ab_effect_holm(p, AB_ARRAY_LEN(p));
    for (unsigned i = 0; i < AB_ARRAY_LEN(p); i++)
        assert_true(near(p[i], expected[i]));
    double many[] = {0.9, 0.8, 0.7};
    ab_effect_holm(many, 3);
    assert_true(many[0] == 1 && many[1] == 1 && many[2] == 1);
    ab_effect_holm(NULL, 0);
}

static void methods_have_names(void **state)
{
    (void)state;
    for (int m = 0; m < AB_EFFECT_METHOD_COUNT; m++)
        assert_true(strlen(ab_effect_method_names[m]) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_what_the_definition_says),
        cmocka_unit_test(samples_are_what_the_definition_says),
        cmocka_unit_test(the_other_way_round_is_the_inverse),
        cmocka_unit_test(one_bad_round_moves_little),
        cmocka_unit_test(rounds_that_miss_a_number_do_not_count),
        cmocka_unit_test(below_six_rounds_of_either_there_is_no_interval),
        cmocka_unit_test(equal_numbers_need_no_test),
        cmocka_unit_test(numbers_that_may_be_zero_have_differences),
        cmocka_unit_test(what_is_shown_lies_in_its_interval),
        cmocka_unit_test(needed_rounds_follow_the_formula),
        cmocka_unit_test(holm_asks_more_of_the_smallest),
        cmocka_unit_test(methods_have_names),
    };
    return cmocka_run_group_tests_name("effect", tests, NULL, NULL);
}
