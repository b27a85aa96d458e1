/* SPDX-License-Identifier: MIT
 *
 * Time in the allocator per iteration as metrics: what gates bound and comparisons show of the
 * records of iterations.
 */
#ifndef AB_STATS_METRIC_METRIC_ITERATIONS_H
#define AB_STATS_METRIC_METRIC_ITERATIONS_H

#include "result/merge/merge_iterations.h"
#include "stats/metric.h"

struct ab_iteration_field {
    const char *name, *unit, *doc; /* all are better when lower */
};
enum {
    AB_ITERATION_P50,
    AB_ITERATION_P99,
    AB_ITERATION_MAX,
    AB_ITERATION_MEAN,
    AB_ITERATION_MISSED,
    AB_ITERATION_MISSED_PERCENT,
    AB_ITERATION_FIELDS
};
extern const struct ab_iteration_field ab_iteration_fields[AB_ITERATION_FIELDS];

/* The field of this name; NULL = none. */
const struct ab_iteration_field *ab_iteration_field_find(const char *name, size_t n);
/* Only with a budget. */
bool ab_iteration_field_needs_budget(const struct ab_iteration_field *field);

/* NaN = n/a, such as a time that cannot be told from that of the null back end. */
double ab_iteration_field_value(const struct ab_iterations *x,
                                const struct ab_iteration_field *field);
/* The same of one round or AB_ITERATIONS_ALL_ROUNDS. */
double ab_metric_iterations_value(const struct ab_session *s, uint32_t backend,
                                  const struct ab_metric *m, uint32_t round);
/* False: of iterations, and in a round of either the time cannot be told from that of the null back
 * end. The others alone would be a choice. */
bool ab_metric_iterations_have_ratio(const struct ab_session *base, uint32_t base_backend,
                                     const struct ab_metric *m, const struct ab_session *now,
                                     uint32_t backend);
/* Over all rounds, where the time cannot be distinguished from that of the null back end: the
 * largest value it may have, which is what timing the calls takes. NaN = it can be, or nothing is
 * known. */
double ab_metric_iterations_most(const struct ab_session *s, uint32_t backend,
                                 const struct ab_metric *m);
void ab_metric_iterations_why(const struct ab_session *s, uint32_t backend,
                              const struct ab_metric *m, bool in_each_round, char *buf, size_t cap);

/* The iterations of a phase, of any back end; NULL = it has none. */
const struct ab_iterations *ab_session_iterations(const struct ab_session *s, const char *phase);
/* Are missed iterations of the two counted against the same budget, or is the metric none of these? */
bool ab_metric_iterations_are_alike(const struct ab_session *base, const struct ab_session *now,
                                    const struct ab_metric *m);

#endif
