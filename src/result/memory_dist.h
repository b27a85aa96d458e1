/* SPDX-License-Identifier: MIT
 *
 * Distributions of the memory of a phase over its ops: their kinds (memory_dists.def), and the
 * figures that may be reported of each.
 */
#ifndef AB_RESULT_MEMORY_DIST_H
#define AB_RESULT_MEMORY_DIST_H

#include "result/result.h"

#include <stddef.h>

struct ab_memory_dist_kind_info {
    const char *name; /* "external_ratio" */
    const char *unit, *doc;
    double step; /* size of one unit of the histogram's values, in `unit` */
};
extern const struct ab_memory_dist_kind_info ab_memory_dists[AB_DIST_COUNT];
extern const char *const ab_memory_dist_names[]; /* names indexed by kind; ends with NULL */

/* Number of figures that are reported of each distribution: p50, p90, p99 and the maximum. */
enum { AB_DIST_STATS = 4 };
extern const char *const ab_dist_stat_names[AB_DIST_STATS];
enum { AB_DIST_MAX = AB_DIST_STATS - 1 };

/* Returns figure `stat` of the distribution in the unit of its kind; NaN = n/a. It is n/a if the
 * number is known for less than 90 % of the ops. A percentile is also n/a with fewer than 10
 * samples above it, unless each op was sampled. */
double ab_memory_dist_value(const struct ab_memory_dist *d, unsigned stat);
/* Writes the reason why the figure is n/a; "" when it is not. */
void ab_memory_dist_why(const struct ab_memory_dist *d, unsigned stat, char *buf, size_t cap);

/* Returns a malloc'ed histogram. Its counters are written only when they are used, because most
 * never are. */
struct ab_hdr *ab_memory_dist_histogram(void);
/* Adds `value` for `n` ops. Ignores NaN and negative values. */
void ab_memory_dist_add(struct ab_memory_dist *d, double value, uint64_t n);

#endif
