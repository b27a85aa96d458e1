/* SPDX-License-Identifier: MIT
 *
 * Ordered sums of pairs against writing them all down and sorting them.
 */
#include "stats/rank/pair_sums.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 40 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Few different values, so that many sums are equal; some negative, some 0, some far apart. */
static void draw(double *x, uint32_t n, struct ab_rng *rng)
{
    static const double scale[] = {1, 1e-300, 1e12, 0.25};
    double by = scale[ab_rng_next(rng) % 4];
    for (uint32_t i = 0; i < n; i++)
        x[i] = ((double)(ab_rng_next(rng) % 9) - 4) * by;
    qsort(x, n, sizeof *x, by_value);
}

static uint64_t write_down(const struct ab_pair_sums *p, double *all)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->n_a; i++)
        for (uint32_t j = p->b == NULL ? i : 0; j < (p->b == NULL ? p->n_a : p->n_b); j++)
            all[n++] = p->a[i] + (p->b == NULL ? p->a : p->b)[j];
    qsort(all, n, sizeof *all, by_value);
    return n;
}

static void hold_to_sorted(const struct ab_pair_sums *p)
{
    static double all[MOST * MOST];
    uint64_t n = write_down(p, all);
    assert_int_equal(ab_pair_sums_total(p), n);
    for (uint64_t i = 0; i < n; i++)
        assert_true(ab_pair_sums_at(p, i + 1) == all[i]);
    for (uint64_t i = 0; i < n; i += 5) {
        uint64_t count = 0;
        while (count < n && all[count] <= all[i])
            count++;
        assert_int_equal(ab_pair_sums_count(p, all[i]), count);
    }
    assert_int_equal(ab_pair_sums_count(p, -INFINITY), 0);
    assert_int_equal(ab_pair_sums_count(p, INFINITY), n);
    assert_true(ab_pair_sums_median(p) == (all[(n - 1) / 2] + all[n / 2]) / 2);
}

static void sums_are_those_of_writing_them_down(void **state)
{
    struct ab_rng rng;
    double a[MOST], b[MOST];
    (void)state;
    ab_rng_init(&rng, 20, 0);
    for (unsigned round = 0; round < 60; round++) {
        uint32_t n_a = 1 + (uint32_t)ab_rng_below(&rng, MOST);
        uint32_t n_b = 1 + (uint32_t)ab_rng_below(&rng, MOST);
        draw(a, n_a, &rng);
        draw(b, n_b, &rng);
        hold_to_sorted(&(struct ab_pair_sums){a, b, n_a, n_b});
        hold_to_sorted(&(struct ab_pair_sums){a, NULL, n_a, 0});
    }
}

static void of_none_there_is_no_median(void **state)
{
    (void)state;
    assert_true(isnan(ab_pair_sums_median(&(struct ab_pair_sums){NULL, NULL, 0, 0})));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_writing_them_down),
        cmocka_unit_test(of_none_there_is_no_median),
    };
    return cmocka_run_group_tests_name("pair_sums", tests, NULL, NULL);
}
