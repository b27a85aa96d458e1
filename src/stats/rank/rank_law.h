/* SPDX-License-Identifier: MIT
 *
 * Distributions of rank statistics under the hypothesis that nothing differs: the signed-rank
 * statistic of pairs (Wilcoxon 1945) and the rank-sum statistic U of two samples (Mann and Whitney
 * 1947). They are exact, by counting subsets, up to AB_RANK_LAW_PAIRS pairs or AB_RANK_LAW_SAMPLE
 * numbers in each sample. Beyond these sizes, the normal distribution with its fourth cumulant
 * (Edgeworth) is used, which is off by at most one rank.
 */
#ifndef AB_STATS_RANK_LAW_H
#define AB_STATS_RANK_LAW_H

#include <stdint.h>

enum { AB_RANK_LAW_PAIRS = 1000, AB_RANK_LAW_SAMPLE = 400 };

struct ab_rank_law {
    uint32_t n_base; /* size of the first sample; 0 = pairs */
    uint32_t n_new;  /* size of the second sample, or number of pairs */
};

/* Returns the largest value of the statistic: n (n + 1) / 2 for pairs, n_base · n_new for
 * samples. */
uint64_t ab_rank_law_most(struct ab_rank_law law);
/* Returns P(statistic <= value). */
double ab_rank_law_cdf(struct ab_rank_law law, uint64_t value);
/* Returns the largest k with P(statistic <= k) <= alpha; -1 = none. */
int64_t ab_rank_law_bound(struct ab_rank_law law, double alpha);

#endif
