/* SPDX-License-Identifier: MIT
 *
 * Draws against what the formulas promise: bounds always, shape by comparing shares with the exact
 * ones within five standard deviations (seeds are fixed: these tests give the same every time).
 * tests: dist.c
 */
#include "workload/dist.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>

enum { DRAWS = 200000 };

/* The share of draws below `limit`. */
static double share_below(const struct ab_dist *dist, uint64_t limit)
{
    struct ab_dist copy = *dist;
    struct ab_dists all = {.items = &copy, .n = 1};
    struct ab_rng rng;
    uint64_t turns[1] = {0}, below = 0;
    ab_dist_prepare(&copy);
    ab_rng_init(&rng, 11, 1);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t x = ab_dist_draw(&all, 0, turns, &rng);
        if (x < dist->min || x > dist->max)
            fail_msg("%llu is outside", (unsigned long long)x);
        below += x < limit;
    }
    return (double)below / DRAWS;
}

static void expect_share(const struct ab_dist *dist, uint64_t limit, double exact)
{
    double found = share_below(dist, limit), deviation = sqrt(exact * (1 - exact) / DRAWS);
    if (fabs(found - exact) > 5 * deviation + 1e-9)
        fail_msg("kind %d: share below %llu is %g, should be %g", dist->kind,
                 (unsigned long long)limit, found, exact);
}

static void every_formula_has_the_shape_that_its_header_states(void **state)
{
    (void)state;
    struct ab_dist d = {.kind = AB_DIST_UNIFORM, .min = 8, .max = 255};
    expect_share(&d, 70, 62.0 / 248);
    d = (struct ab_dist){.kind = AB_DIST_LOGUNIFORM, .min = 16, .max = 65535};
    expect_share(&d, 256, log(256.0 / 16) / log(65536.0 / 16));
    d = (struct ab_dist){.kind = AB_DIST_POW2, .min = 8, .max = 1024};
    expect_share(&d, 64, 3.0 / 8);
    d = (struct ab_dist){.kind = AB_DIST_LOGNORMAL, .min = 1, .max = 1u << 30, .p = 1e6, .q = 1};
    expect_share(&d, 1000000, 0.5);
    expect_share(&d, 367879, 0.158655); /* one sigma below the median */
    d = (struct ab_dist){.kind = AB_DIST_PARETO, .min = 100, .max = 999999, .p = 1.5};
    expect_share(&d, 1000, (1 - pow(0.1, 1.5)) / (1 - pow(1e-4, 1.5)));
    d = (struct ab_dist){.kind = AB_DIST_POWER, .min = 4, .max = 32767, .p = 2};
    expect_share(&d, 40, (1.0 / 4 - 1.0 / 40) / (1.0 / 4 - 1.0 / 32768));
    d = (struct ab_dist){.kind = AB_DIST_LINEAR_FALLOFF, .min = 0, .max = 999};
    expect_share(&d, 500, 0.75);
    d = (struct ab_dist){.kind = AB_DIST_EXP_FALLOFF, .min = 0, .max = 999};
    expect_share(&d, 100, 0.5 / (1 - 0x1p-10));
}

static void a_cycle_repeats_its_counts_without_chance(void **state)
{
    (void)state;
    struct ab_dist_row rows[] = {{.value = 16, .upto = 2}, {.value = 48, .upto = 3}};
    struct ab_dist d = {.kind = AB_DIST_CYCLE, .min = 16, .max = 48, .rows = rows, .n_rows = 2};
    struct ab_dists all = {.items = &d, .n = 1};
    struct ab_rng rng;
    uint64_t turns[1] = {0};
    ab_rng_init(&rng, 1, 1);
    static const uint64_t expected[] = {16, 16, 48, 16, 16, 48, 16};
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(ab_dist_draw(&all, 0, turns, &rng), expected[i]);
}

static void tables_and_mixes_follow_their_weights(void **state)
{
    (void)state;
    struct ab_dist_row rows[] = {{.value = 8, .share = 0.25}, {.value = 16, .share = 1}};
    struct ab_dist table = {.kind = AB_DIST_TABLE, .min = 8, .max = 16, .rows = rows, .n_rows = 2};
    expect_share(&table, 16, 0.25);
    struct ab_dist_row parts[] = {{.value = 0, .share = 0.9, .times = 1},
                                  {.value = 0, .share = 1, .times = 100}};
    struct ab_dist items[] = {{.kind = AB_DIST_FIXED, .min = 5, .max = 5},
                              {.kind = AB_DIST_MIX, .rows = parts, .n_rows = 2}};
    struct ab_dists all = {.items = items, .n = 2};
    struct ab_rng rng;
    uint64_t turns[2] = {0}, large = 0;
    ab_rng_init(&rng, 1, 1);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t x = ab_dist_draw(&all, 1, turns, &rng);
        assert_true(x == 5 || x == 500);
        large += x == 500;
    }
    assert_true(fabs((double)large / DRAWS - 0.1) < 0.005);
}

static void own_logarithm_and_exponential_agree_with_libm(void **state)
{
    (void)state;
    struct ab_rng rng;
    ab_rng_init(&rng, 3, 3);
    for (int i = 0; i < DRAWS; i++) {
        double y = 1300 * ab_rng_unit(&rng) - 650, x = exp(y / 20);
        assert_true(fabs(ab_real_exp(y) / exp(y) - 1) < 1e-15);
        assert_true(fabs(ab_real_log(x) - log(x)) <= 1e-15 * fmax(1, fabs(log(x))));
    }
    assert_true(ab_real_exp(-1000) == 0 && ab_real_log(1) == 0 && ab_real_exp(0) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_formula_has_the_shape_that_its_header_states),
        cmocka_unit_test(a_cycle_repeats_its_counts_without_chance),
        cmocka_unit_test(tables_and_mixes_follow_their_weights),
        cmocka_unit_test(own_logarithm_and_exponential_agree_with_libm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
