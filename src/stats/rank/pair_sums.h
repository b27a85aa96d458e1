/* SPDX-License-Identifier: MIT
 *
 * Finds order statistics of the sums of all pairs of numbers without storing the sums. For n² sums
 * it needs memory for n numbers, and the time of about 64 passes over them.
 */
#ifndef AB_STATS_PAIR_SUMS_H
#define AB_STATS_PAIR_SUMS_H

#include <stdint.h>

struct ab_pair_sums {
    /* a, b: ascending and finite; borrowed. b NULL = the sums of all pairs within a, each pair
     * once, and of each number with itself */
    const double *a, *b;
    uint32_t n_a, n_b;
};

uint64_t ab_pair_sums_total(const struct ab_pair_sums *p);
/* Returns the number of sums that are at most `value`. */
uint64_t ab_pair_sums_count(const struct ab_pair_sums *p, double value);
/* Returns the rank-th smallest sum; 1 <= rank <= total. */
double ab_pair_sums_at(const struct ab_pair_sums *p, uint64_t rank);
/* Returns the median of the sums; for an even number the mean of the two in the middle; NaN = there
 * are no sums. */
double ab_pair_sums_median(const struct ab_pair_sums *p);

#endif
