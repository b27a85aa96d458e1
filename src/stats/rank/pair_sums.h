/* SPDX-License-Identifier: MIT
 *
 * Finds order statistics of the sums of all pairs of numbers without storing them. n² sums cost the
 * memory of n numbers and the time of about 64 passes over n.
 */
#ifndef AB_STATS_PAIR_SUMS_H
#define AB_STATS_PAIR_SUMS_H

#include <stdint.h>

struct ab_pair_sums {
    const double *a, *b; /* both ascending and finite; borrowed. b NULL: all pairs within a, each
                            taken once, and each number of a with itself */
    uint32_t n_a, n_b;
};

uint64_t ab_pair_sums_total(const struct ab_pair_sums *p);
/* Returns the number of sums that are at most `value`. */
uint64_t ab_pair_sums_count(const struct ab_pair_sums *p, double value);
/* Returns the rank-th smallest sum; 1 <= rank <= total. */
double ab_pair_sums_at(const struct ab_pair_sums *p, uint64_t rank);
/* Returns the median: the mean of the two in the middle where their number is even, NaN without
 * any. */
double ab_pair_sums_median(const struct ab_pair_sums *p);

#endif
