/* SPDX-License-Identifier: MIT
 *
 * Rank laws against the counting of every subset, against printed tables, and where counting ends.
 */
#include "stats/rank/rank_law.h"

#include "base/bits.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Subsets of 1 … n with a sum of at most `value`, in parts of all. */
static double signed_rank_by_force(unsigned n, unsigned value)
{
    unsigned hits = 0;
    for (unsigned set = 0; set < 1u << n; set++) {
        unsigned sum = 0;
        for (unsigned i = 0; i < n; i++)
            sum += (set >> i & 1) * (i + 1);
        hits += sum <= value;
    }
    return hits / (double)(1u << n);
}

/* Ways to place m of m + n ranks whose U is at most `value`, in parts of all. */
static double rank_sum_by_force(unsigned m, unsigned n, unsigned value)
{
    unsigned hits = 0, all = 0;
    for (unsigned set = 0; set < 1u << (m + n); set++) {
        unsigned sum = 0;
        if ((unsigned)__builtin_popcount(set) != m)
            continue;
        for (unsigned i = 0; i < m + n; i++)
            sum += (set >> i & 1) * (i + 1);
        all++;
        hits += sum - m * (m + 1) / 2 <= value;
    }
    return hits / (double)all;
}

static void pairs_agree_with_counting_every_subset(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 12; n++)
        for (unsigned v = 0; v <= n * (n + 1) / 2; v++)
            assert_true(fabs(ab_rank_law_cdf((struct ab_rank_law){0, n}, v) -
                             signed_rank_by_force(n, v)) < 1e-12);
}

static void samples_agree_with_counting_every_placement(void **state)
{
    (void)state;
    for (unsigned m = 1; m <= 7; m++)
        for (unsigned n = 1; n <= 8; n++)
            for (unsigned v = 0; v <= m * n; v++)
                assert_true(fabs(ab_rank_law_cdf((struct ab_rank_law){m, n}, v) -
                                 rank_sum_by_force(m, n, v)) < 1e-12);
}

static void bounds_of_pairs_are_those_of_the_tables(void **state)
{
    static const int at_5_percent[] = {0, 2, 3, 5, 8, 10, 13, 17, 21, 25, 30, 35, 41, 47, 53, 60};
    (void)state;
    for (unsigned i = 0; i < AB_ARRAY_LEN(at_5_percent); i++)
        assert_int_equal(ab_rank_law_bound((struct ab_rank_law){0, 5 + i}, 0.05), at_5_percent[i]);
    for (unsigned n = 1; n <= 4; n++) /* 1/16 is too much */
        assert_int_equal(ab_rank_law_bound((struct ab_rank_law){0, n}, 0.05), -1);
    assert_int_equal(ab_rank_law_bound((struct ab_rank_law){0, 10}, 0.025), 8);
}

/* Critical values of U, one-sided 5 %, as printed in every table. */
static void bounds_of_samples_are_those_of_the_tables(void **state)
{
    static const struct {
        unsigned m, n;
        int bound;
    } table[] = {{3, 3, 0},    {5, 5, 4},    {6, 6, 7},    {6, 8, 10},    {8, 8, 15},
                 {10, 10, 27}, {12, 12, 42}, {15, 15, 72}, {20, 20, 138}, {9, 20, 54}};
    (void)state;
    for (unsigned i = 0; i < AB_ARRAY_LEN(table); i++) {
        assert_int_equal(ab_rank_law_bound((struct ab_rank_law){table[i].m, table[i].n}, 0.05),
                         table[i].bound);
        assert_int_equal(ab_rank_law_bound((struct ab_rank_law){table[i].n, table[i].m}, 0.05),
                         table[i].bound);
    }
}

/* The counted laws and the normal one meet where the first ends, within a rank. */
static void where_counting_ends_nothing_jumps(void **state)
{
    enum { P = AB_RANK_LAW_PAIRS, S = AB_RANK_LAW_SAMPLE };
    (void)state;
    for (int of_samples = 0; of_samples < 2; of_samples++) {
        double share[4]; /* how far below the middle the bound lies, in standard deviations */
        for (unsigned i = 0; i < 4; i++) {
            unsigned n = (of_samples ? (unsigned)S : (unsigned)P) - 1 + i;
            struct ab_rank_law law = {of_samples ? n : 0, n};
            double sd = of_samples ? sqrt((double)n * n * (2.0 * n + 1) / 12)
                                   : sqrt((double)n * (n + 1.0) * (2.0 * n + 1) / 24);
            double below = (double)ab_rank_law_most(law) / 2 - (double)ab_rank_law_bound(law, 0.05);
            share[i] = below / sd;
            assert_true(fabs(below - 1.644854 * sd) < 3);
        }
        for (unsigned i = 1; i < 4; i++)
            assert_true(fabs(share[i] - share[i - 1]) < 2e-3);
    }
}

static void a_law_is_symmetric_and_ends_at_one(void **state)
{
    static const struct ab_rank_law laws[] = {{0, 7},   {0, 40},   {6, 11},
                                              {30, 31}, {0, 1100}, {401, 500}};
    (void)state;
    for (unsigned i = 0; i < AB_ARRAY_LEN(laws); i++) {
        uint64_t most = ab_rank_law_most(laws[i]), step = most / 37 + 1;
        double before = 0;
        for (uint64_t v = 0; v < most; v += step) {
            double p = ab_rank_law_cdf(laws[i], v);
            assert_true(p >= before);
            assert_true(fabs(p + ab_rank_law_cdf(laws[i], most - v - 1) - 1) < 1e-12);
            before = p;
        }
        assert_true(ab_rank_law_cdf(laws[i], most) == 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_agree_with_counting_every_subset),
        cmocka_unit_test(samples_agree_with_counting_every_placement),
        cmocka_unit_test(bounds_of_pairs_are_those_of_the_tables),
        cmocka_unit_test(bounds_of_samples_are_those_of_the_tables),
        cmocka_unit_test(where_counting_ends_nothing_jumps),
        cmocka_unit_test(a_law_is_symmetric_and_ends_at_one),
    };
    return cmocka_run_group_tests_name("rank_law", tests, NULL, NULL);
}
