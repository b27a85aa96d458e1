/* SPDX-License-Identifier: MIT
 *
 * Ratios of two numbers with their confidence intervals. The unit is one number for each round, or
 * between stored results for each round of either. Samples of one process depend on each other and
 * are never the unit. Ratios are computed on logarithms, so that both directions are treated alike.
 * Numbers that may be 0 have a difference instead of a ratio, see ab_effect_difference.
 *
 * Methods: the Hodges-Lehmann estimate (1963), which is the median of the Walsh averages (for
 * pairs) or of all differences (for two samples). The interval is that of the exact signed-rank
 * test (Wilcoxon 1945) or of the exact rank-sum test (Mann and Whitney 1947), see rank_law.h.
 *
 * All functions are pure. A missing number is NaN, and so is a result that is not known.
 */
#ifndef AB_STATS_EFFECT_H
#define AB_STATS_EFFECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AB_EFFECT_MIN_ROUNDS = 6 }; /* fewer rounds give no interval */
#define AB_EFFECT_ALPHA 0.05       /* largest probability that one bound of an interval is wrong */

enum ab_effect_method {
    AB_EFFECT_NONE,     /* nothing to compare: ratio is NaN */
    AB_EFFECT_PAIRED,   /* both numbers of each pair come from one round */
    AB_EFFECT_UNPAIRED, /* the numbers come from two stored results */
    AB_EFFECT_EXACT,    /* all numbers of a side are equal, so the interval is the ratio itself */
    AB_EFFECT_FEW,      /* there is a ratio, but too few rounds for an interval */
    AB_EFFECT_METHOD_COUNT
};
/* "none" "paired" "unpaired" "exact" "few_rounds", as in JSON. */
extern const char *const ab_effect_method_names[AB_EFFECT_METHOD_COUNT];

struct ab_effect {
    double ratio;     /* new / base; NaN = not known */
    double low, high; /* 90 % interval: each bound is wrong in at most 5 % of cases; NaN = none */
    /* standard deviation of the logarithm of the ratio in one round; for two samples sqrt(v_base +
     * v_new), with the variance of one round of each; NaN = not known */
    double sd;
    /* probability of data that are at least as clear as these if new is not larger than base. low >
     * 1 if and only if p_larger is at most 0.05, unless ab_effect_shown widened the interval. NaN =
     * no interval */
    double p_larger;
    /* probability of data that are at least as clear as these if new is not smaller than base */
    double p_smaller;
    uint32_t n_base, n_new; /* number of rounds that were used; equal for pairs */
    enum ab_effect_method method;
};

/* Computes the effect of pairs: base[i] and new_[i] are from the same round. Ignores pairs in which
 * a number is missing (NaN) or not above 0. The method is EXACT if there are at least six rounds
 * and all numbers of a side are equal. */
struct ab_effect ab_effect_paired(const double *base, const double *new_, uint32_t n);
/* Computes the effect of two samples, each with at least AB_EFFECT_MIN_ROUNDS numbers. */
struct ab_effect ab_effect_unpaired(const double *base, uint32_t n_base, const double *new_,
                                    uint32_t n_new);
/* Computes the effect of counts (instructions, faults). If all numbers of a side are equal, one
 * round is enough for EXACT; otherwise it is the same as ab_effect_unpaired. */
struct ab_effect ab_effect_counted(const double *base, uint32_t n_base, const double *new_,
                                   uint32_t n_new);
/* Compute the effect as a difference, new - base, for numbers that may be 0 or negative. ratio,
 * low, high and sd are then in the unit of the numbers, and "the same" is 0, not 1. */
struct ab_effect ab_effect_difference(const double *base, const double *new_, uint32_t n);
struct ab_effect ab_effect_difference_unpaired(const double *base, uint32_t n_base,
                                               const double *new_, uint32_t n_new);

/* Computes the effect of numbers that are 0 in some rounds, in which there is no ratio. The ratio
 * is 1 + the difference divided by the mean of the base's rounds. sd is in the same unit. With
 * is_paired, n_base must equal n_new. */
struct ab_effect ab_effect_by_mean(const double *base, uint32_t n_base, const double *new_,
                                   uint32_t n_new, bool is_paired);

/* Returns the effect with the ratio (or difference) `shown`, which a reader can compute from the
 * two numbers that are shown. The interval is widened if necessary to contain it. */
struct ab_effect ab_effect_shown(const struct ab_effect *effect, double shown);

/* Returns the effect of the inverse ratio, base / new. */
struct ab_effect ab_effect_turned(const struct ab_effect *effect);

/* True if the interval of a ratio excludes 1 and the ratio differs from 1 in the three digits that
 * are shown. False without an interval. */
bool ab_effect_is_clear(const struct ab_effect *effect);

/* Returns the total number of rounds (for two samples, of each) that would decide about a ratio of
 * this size with a probability of 80 %. A ratio beyond 1 + limit is decided if it is certainly
 * above 1; any other, if it is certainly within the limit. With a limit of NaN, a ratio is decided
 * if it certainly differs from 1. 0 = already decided, UINT32_MAX = never in practice, or not
 * known. Not for differences. */
uint32_t ab_effect_rounds_needed(const struct ab_effect *effect, double limit);

/* Corrects p[0..n), each from one test, for the number of tests (Holm 1979). The results are in [0,
 * 1]. NaN stays NaN and is not counted as a test. A test is significant if its result is at most
 * alpha. */
void ab_effect_holm(double *p, size_t n);

#endif
