/* SPDX-License-Identifier: MIT
 *
 * Distributions of the memory of a phase over its ops: what they are (memory_dists.def), and what
 * may be told of one.
 */
#ifndef AB_RESULT_MEMORY_DIST_H
#define AB_RESULT_MEMORY_DIST_H

#include "result/result.h"

#include <stddef.h>

struct ab_memory_dist_kind_info {
    const char *name; /* "external_ratio" */
    const char *unit, *doc;
    double step; /* what a unit of the histogram's values stands for */
};
extern const struct ab_memory_dist_kind_info ab_memory_dists[AB_DIST_COUNT];
extern const char *const ab_memory_dist_names[]; /* by kind; ends with NULL */

/* What is shown: p50, p90, p99 and the most. */
enum { AB_DIST_STATS = 4 };
extern const char *const ab_dist_stat_names[AB_DIST_STATS];
enum { AB_DIST_MAX = AB_DIST_STATS - 1 };

/* A number of the distribution in its unit, NaN = n/a: where it is known for less than 90 % of the
 * ops, and a percentile with fewer than 10 samples above it, unless each op was one. */
double ab_memory_dist_value(const struct ab_memory_dist *d, unsigned stat);
/* Why, where it is n/a; "" when it is not. */
void ab_memory_dist_why(const struct ab_memory_dist *d, unsigned stat, char *buf, size_t cap);

/* Malloc'ed; counters are written only as they are used, for most never are. */
struct ab_hdr *ab_memory_dist_histogram(void);
/* For `n` ops; not a number and negative ones are passed over. */
void ab_memory_dist_add(struct ab_memory_dist *d, double value, uint64_t n);

#endif
