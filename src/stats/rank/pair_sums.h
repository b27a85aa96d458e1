/* SPDX-License-Identifier: MIT
 *
 * The sums of all pairs of numbers, in ascending order, without writing them down: n² of them cost
 * the memory of n and the time of some 64 walks over n.
 */
#ifndef AB_STATS_PAIR_SUMS_H
#define AB_STATS_PAIR_SUMS_H

#include <stdint.h>

struct ab_pair_sums {
    const double *a, *b; /* both ascending, finite; borrowed. b NULL: each pair of two of a, taken
                            once, and each of a with itself */
    uint32_t n_a, n_b;
};

uint64_t ab_pair_sums_total(const struct ab_pair_sums *p);
/* How many are at most `value`. */
uint64_t ab_pair_sums_count(const struct ab_pair_sums *p, double value);
/* The rank-th smallest; 1 <= rank <= total. */
double ab_pair_sums_at(const struct ab_pair_sums *p, uint64_t rank);
/* Returns the median: the mean of the two in the middle where their number is even, NaN without
 * any. */
double ab_pair_sums_median(const struct ab_pair_sums *p);

#endif
