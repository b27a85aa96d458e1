/* SPDX-License-Identifier: MIT
 *
 * Latency of one call: op by phase by back end, over all rounds. Percentiles are of the merged
 * histograms; one below the clock's floor is between 0 and the floor.
 */
#ifndef AB_REPORT_VIEW_LATENCY_H
#define AB_REPORT_VIEW_LATENCY_H

#include "result/result.h"

/* The slowest calls, or iterations, joined over the rounds by their place in the work: one that is slow in several
 * rounds is the allocator's, one that is slow in one only the scheduler's. Each round keeps its
 * AB_WORST_MAX slowest of a phase and kind (AB_ITERATIONS_WORST_MAX iterations), so that n_seen is a
 * lower bound. */

struct ab_view_slow_call {
    uint32_t backend, phase; /* of the session's lists */
    unsigned op;             /* enum ab_op_kind; of an iteration: its lane */
    uint32_t position;       /* in the tape */
    uint32_t iteration;      /* that it is in, or is, from 1 on; 0 = none */
    uint64_t size;           /* or AB_SIZE_UNKNOWN */
    uint32_t n_seen;         /* rounds that have it among their slowest */
    double ns;               /* calls: median over these; iterations: over all rounds, 0 where it is
                                not among the slowest */
    double max_ns;           /* the slowest of these */
    bool repeats;            /* calls: in two rounds; iterations: in most of them */
};

struct ab_view_slowest {
    struct ab_view_slow_call
        *calls; /* by back end; of each those that repeat first, slowest first */
    uint32_t n_calls;
    uint32_t n_rounds; /* those whose tail pass ran: no other has slowest calls */
    size_t cap_calls;
};

void ab_view_slowest_make(const struct ab_session *s, struct ab_view_slowest *out);
void ab_view_slow_iterations_make(const struct ab_session *s, struct ab_view_slowest *out);
void ab_view_slowest_fini(struct ab_view_slowest *x);

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
/* Quantiles of calls that return a block, over all phases: see view.h. ns; NaN = n/a. */
void ab_view_latency_of_allocation(const struct ab_session *s, uint32_t backend,
                                   const double *quantiles, unsigned n, double *ns);

#endif
