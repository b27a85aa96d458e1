/* SPDX-License-Identifier: MIT
 *
 * How much larger one number is than another, and how sure that is. The unit is one number for each
 * round (or, between stored results, for each round of either): samples of one process depend on
 * each other and are never the unit. Ratios are worked out on logarithms, so that both directions
 * are treated alike; numbers that may be 0 have no ratio but a difference, see
 * ab_effect_difference.
 * Methods: Hodges and Lehmann (1963), the median of the Walsh averages (of pairs) or of all
 * differences (of two samples); the interval is that of the exact signed-rank test (Wilcoxon 1945)
 * or of the exact rank-sum test (Mann and Whitney 1947), see rank_law.h.
 * Pure functions; a number that is missing is NaN, and so is a result that is not known.
 */
#ifndef AB_STATS_EFFECT_H
#define AB_STATS_EFFECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AB_EFFECT_MIN_ROUNDS = 6 }; /* with fewer there is no interval */
#define AB_EFFECT_ALPHA 0.05       /* each bound of an interval is wrong with at most this */

enum ab_effect_method {
    AB_EFFECT_NONE,     /* nothing to compare: ratio is NaN */
    AB_EFFECT_PAIRED,   /* both numbers of each pair are of one round */
    AB_EFFECT_UNPAIRED, /* two stored results */
    AB_EFFECT_EXACT,    /* all numbers of a side are equal: the interval is the ratio itself */
    AB_EFFECT_FEW,      /* a ratio, but too few rounds for an interval */
    AB_EFFECT_METHOD_COUNT
};
/* "none" "paired" "unpaired" "exact" "few_rounds", as in JSON. */
extern const char *const ab_effect_method_names[AB_EFFECT_METHOD_COUNT];

struct ab_effect {
    double ratio;     /* new by base; NaN = not known */
    double low, high; /* its 90 % interval: each bound is wrong in at most 5 %; NaN = none */
    double sd; /* standard deviation of the log-ratio of a round; of two samples, of one round of
                         each: sqrt(var + var); NaN = not known */
    double p_larger;  /* probability of data like these or clearer, were new not larger than base;
                         low > 1 exactly where it is at most 0.05 (before ab_effect_shown,
                         which may widen the interval). NaN = no interval */
    double p_smaller; /* the same, were it not smaller */
    uint32_t n_base, n_new; /* rounds that were used; alike where they are pairs */
    enum ab_effect_method method;
};

/* base[i] and new_[i] are of the same round; pairs of which one is missing (NaN) or not above 0 are
 * passed over. Six rounds or more in which all numbers of a side are equal make it EXACT. */
struct ab_effect ab_effect_paired(const double *base, const double *new_, uint32_t n);
/* Both sides need AB_EFFECT_MIN_ROUNDS. */
struct ab_effect ab_effect_unpaired(const double *base, uint32_t n_base, const double *new_,
                                    uint32_t n_new);
/* For what is counted, not timed (instructions, faults): where all numbers of a side are equal, one
 * round is enough to be EXACT; else as ab_effect_unpaired. */
struct ab_effect ab_effect_counted(const double *base, uint32_t n_base, const double *new_,
                                   uint32_t n_new);
/* The same on differences new - base, for numbers that may be 0 or negative: ratio, low, high and
 * sd are then in their unit, and "the same" is 0, not 1. */
struct ab_effect ab_effect_difference(const double *base, const double *new_, uint32_t n);
struct ab_effect ab_effect_difference_unpaired(const double *base, uint32_t n_base,
                                               const double *new_, uint32_t n_new);

/* For what is 0 in some rounds: the ratio is 1 + the difference by the mean of the base's rounds,
 * which has none to 0; sd is in that unit. Paired: n_base is n_new. */
struct ab_effect ab_effect_by_mean(const double *base, uint32_t n_base, const double *new_,
                                   uint32_t n_new, bool is_paired);

/* The effect as it is shown beside two numbers whose ratio (or difference) is `shown`, which a
 * reader can work out: that one, with an interval that holds it. */
struct ab_effect ab_effect_shown(const struct ab_effect *effect, double shown);

/* The same seen from the other side: base by new. Of ratios. */
struct ab_effect ab_effect_turned(const struct ab_effect *effect);

/* Does the interval leave out 1, and does the ratio differ from it in the three digits that are
 * shown? Never without an interval. Of ratios. */
bool ab_effect_is_clear(const struct ab_effect *effect);

/* Rounds in all (of two samples: of either) after which a ratio of this size, if it is beyond 1 +
 * limit, is found to be above 1, and else is shown to be within the limit, with a probability of 80
 * %; with NaN as limit: is found to differ from 1. 0 = it is decided, UINT32_MAX = never in
 * practice, or not known. Not for differences. */
uint32_t ab_effect_rounds_needed(const struct ab_effect *effect, double limit);

/* Holm (1979): p[0..n), each of one test, become what they are among n tests; in [0, 1], NaN stays
 * and does not count. Reject where the result is at most alpha. */
void ab_effect_holm(double *p, size_t n);

#endif
