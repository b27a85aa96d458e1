/* SPDX-License-Identifier: MIT
 *
 * Latency of one call: op by phase by back end, over all rounds. Percentiles are of the merged
 * histograms; one below the clock's floor is between 0 and the floor.
 */
#ifndef AB_REPORT_VIEW_LATENCY_H
#define AB_REPORT_VIEW_LATENCY_H

#include "report/view/slowest.h"
#include "result/result.h"

struct ab_view_latency_column {
    uint32_t phase; /* of session->phases */
    unsigned op;    /* enum ab_op_kind; never AB_OP_ALL */
    double n_ops;   /* how many of a round; where it is not known the timed ones */
    double share;   /* of n_ops of all columns: in [0, 1] */
};

struct ab_view_latency_cell {
    uint64_t n;                          /* timed calls; 0 = none */
    double quantiles[AB_QUANTILE_COUNT]; /* ns; NaN = n/a, too few samples */
    double max_ns;                       /* slowest of all; NaN = n/a */
    /* The slowest call that was slow in more than one round, at the same place in the work: the
     * allocator's. NaN = none repeats */
    double max_repeated_ns;
    bool
        is_max_single; /* max_ns was seen in one round only, or there was one round only: it may be an
                           interruption, and must be marked as such */
};

struct ab_view_latency {
    struct ab_view_latency_column *columns; /* n_columns: by phase, then op */
    uint32_t n_columns, n_backends;
    struct ab_view_latency_cell *cells; /* [backend · n_columns + column] */
    double floor_ns;                    /* NaN = not measured */
};

void ab_view_latency_make(const struct ab_session *s, const struct ab_view_slowest *slowest,
                          struct ab_view_latency *out);
void ab_view_latency_fini(struct ab_view_latency *l);
const struct ab_view_latency_cell *ab_view_latency_at(const struct ab_view_latency *l,
                                                      uint32_t backend, uint32_t column);
/* Quantiles of calls that return a block, over all phases: see ranking.h. ns; NaN = n/a. */
void ab_view_latency_of_allocation(const struct ab_session *s, uint32_t backend,
                                   const double *quantiles, unsigned n, double *ns);

#endif
