/* SPDX-License-Identifier: MIT
 *
 * How much larger one number is than another, and how sure that is. The unit is one number for each
 * round (or, between stored results, for each round of either): samples of one process depend on
 * each other and are never the unit. All formulas work on logarithms of ratios, so both directions
 * are treated alike; numbers that are zero or negative have no effect but a difference, see
 * ab_effect_difference.
 * Methods: Hodges and Lehmann (1963), the median of the Walsh averages; the interval is that of the
 * exact signed-rank test (Wilcoxon 1945) for pairs, of the exact rank-sum test (Mann and Whitney
 * 1947) for two samples, found by counting subsets, not by a normal approximation.
 */
#ifndef AB_STATS_EFFECT_H
#define AB_STATS_EFFECT_H

#include <stdint.h>

enum { AB_EFFECT_MIN_ROUNDS = 6 }; /* with fewer there is no interval */

enum ab_effect_method {
    AB_EFFECT_NONE,     /* nothing to compare: ratio is NaN */
    AB_EFFECT_PAIRED,   /* both numbers of each pair are of one round */
    AB_EFFECT_UNPAIRED, /* two stored results */
    AB_EFFECT_EXACT,    /* all numbers of a side are equal: no test is needed */
    AB_EFFECT_FEW,      /* a ratio, but too few rounds for an interval */
};

struct ab_effect {
    double ratio;     /* new by base; NaN = not known */
    double low, high; /* its 90 % interval: each bound is wrong in at most 5 %; NaN = none */
    double sd; /* standard deviation of the log-ratios (of the pooled logs); NaN = not known */
    uint32_t n_base, n_new;
    enum ab_effect_method method;
};

/* base[i] and new_[i] are of the same round; pairs of which one is missing (NaN) or not above 0 are
 * passed over. */
struct ab_effect ab_effect_paired(const double *base, const double *new_, uint32_t n);
struct ab_effect ab_effect_unpaired(const double *base, uint32_t n_base, const double *new_,
                                    uint32_t n_new);
/* The same on differences, for numbers that may be 0: ratio, low and high are then in their unit. */
struct ab_effect ab_effect_difference(const double *base, const double *new_, uint32_t n);

/* Rounds after which an effect of this size is found with a probability of 80 %, or shown to be
 * within ln(1 + limit); UINT32_MAX = never in practice, 0 = it is decided. */
uint32_t ab_effect_rounds_needed(const struct ab_effect *effect, double limit);

#endif
