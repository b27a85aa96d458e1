/* SPDX-License-Identifier: MIT
 *
 * Counts combinations as probabilities: each step of the recursions divides by the number of cases,
 * so that nothing overflows. Only the lower half of a distribution is computed, because both are
 * symmetric. The last half is cached, because tables ask for the same one repeatedly. Only one
 * thread may call these functions.
 */
#include "stats/rank/rank_law.h"

#include "core/alloc.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct ab_rank_law law;
    double *cdf; /* probabilities of all values up to 0 … most / 2 */
} kept;

uint64_t ab_rank_law_most(struct ab_rank_law law)
{
    uint64_t n = law.n_new;
    return law.n_base == 0 ? n * (n + 1) / 2 : n * law.n_base;
}

/* Computes the probability of each sum of a random subset of 1 … n, in which each number is in or
 * out with equal probability. */
static void count_subsets(double *p, uint64_t last, uint32_t n)
{
    for (uint64_t i = 1; i <= n; i++)
        for (uint64_t s = last + 1; s-- > 0;)
            p[s] = (p[s] + (s >= i ? p[s - i] : 0)) / 2;
}

/* Computes the probability of each value of U for samples of the sizes `few` and `many`. The counts
 * are coefficients of the Gaussian binomial, the product over i of (1 - q^(many + i)) / (1 - q^i).
 * These coefficients add up to the binomial coefficient (many + i over i). */
static void count_rank_sums(double *p, uint64_t last, uint32_t few, uint32_t many)
{
    for (uint64_t i = 1; i <= few; i++) {
        double share = (double)i / (double)(many + i);
        for (uint64_t s = last + 1; s-- > 0;)
            p[s] = share * (p[s] - (s >= many + i ? p[s - many - i] : 0));
        for (uint64_t s = i; s <= last; s++)
            p[s] += p[s - i];
    }
}

/* Returns the lower half of the distribution; NULL = the samples are too large to count. */
static const double *lower_half(struct ab_rank_law law)
{
    uint64_t last = ab_rank_law_most(law) / 2;
    bool is_pairs = law.n_base == 0;
    uint32_t few = law.n_base < law.n_new ? law.n_base : law.n_new;
    if (is_pairs ? law.n_new > AB_RANK_LAW_PAIRS
                 : law.n_base > AB_RANK_LAW_SAMPLE || law.n_new > AB_RANK_LAW_SAMPLE)
        return NULL;
    if (kept.cdf != NULL && memcmp(&kept.law, &law, sizeof law) == 0)
        return kept.cdf;
    double *p = ab_alloc_zeroed(last + 1, sizeof *p);
    p[0] = 1;
    if (is_pairs)
        count_subsets(p, last, law.n_new);
    else
        count_rank_sums(p, last, few, law.n_base + law.n_new - few);
    for (uint64_t s = 1; s <= last; s++)
        p[s] += p[s - 1];
    free(kept.cdf);
    kept.law = law;
    return kept.cdf = p;
}

static double normal_law(struct ab_rank_law law, double value)
{
    double m = law.n_base, n = law.n_new, variance, fourth;
    if (law.n_base == 0) {
        variance = n * (n + 1) * (2 * n + 1) / 24;
        fourth = -n * (n + 1) * (2 * n + 1) * (3 * n * n + 3 * n - 1) / 240;
    } else {
        variance = m * n * (m + n + 1) / 12;
        fourth = -m * n * (m + n + 1) * (m * m + n * n + m * n + m + n) / 120;
    }
    double mean = (double)ab_rank_law_most(law) / 2, z = (value + 0.5 - mean) / sqrt(variance);
    double density = exp(-z * z / 2) / sqrt(2 * M_PI);
    double p = erfc(-z / M_SQRT2) / 2 -
               density * fourth / (24 * variance * variance) * (z * z - 3) * z;
    /* farther out than about nine deviations, the correction is too large */
    return fmin(fmax(p, 0), 1);
}

double ab_rank_law_cdf(struct ab_rank_law law, uint64_t value)
{
    uint64_t most = ab_rank_law_most(law);
    const double *half = lower_half(law);
    if (value >= most)
        return 1;
    if (half == NULL)
        return normal_law(law, (double)value);
    return value <= most / 2 ? half[value] : 1 - half[most - value - 1];
}

int64_t ab_rank_law_bound(struct ab_rank_law law, double alpha)
{
    /* invariant: cdf(low - 1) <= alpha < cdf(high) */
    uint64_t low = 0, high = ab_rank_law_most(law);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (ab_rank_law_cdf(law, middle) <= alpha)
            low = middle + 1;
        else
            high = middle;
    }
    return (int64_t)low - 1;
}
