/* SPDX-License-Identifier: MIT
 *
 * Latency of single calls: op by phase by back end, over all rounds. Percentiles come from the
 * merged histograms. A percentile below the clock's floor is between 0 and the floor.
 */
#ifndef AB_ANSWER_LATENCY_H
#define AB_ANSWER_LATENCY_H

#include "result/result.h"

/* ---- the slowest calls and iterations ----
 * The slowest calls or iterations, matched across rounds by their position in the work. One that is
 * slow in several rounds is due to the allocator; one that is slow only once may be due to the
 * scheduler. Each round keeps only the AB_WORST_MAX slowest calls of a phase and kind
 * (AB_ITERATIONS_WORST_MAX iterations), so n_seen is a lower bound. */

struct ab_view_slow_call {
    uint32_t backend, phase; /* indexes of the session's lists */
    unsigned op;             /* enum ab_op_kind; for an iteration: its lane */
    /* position of the call in the tape, the list of operations that is replayed */
    uint32_t position;
    uint32_t iteration; /* the iteration that contains the call, or the iteration itself; from
                                1 on, 0 = none */
    uint64_t size;      /* bytes; AB_SIZE_UNKNOWN = not known */
    /* number of rounds in which this call or iteration is among the slowest */
    uint32_t n_seen;
    /* calls: median over these rounds; iterations: median over all rounds, where a round that does
     * not have the iteration among its slowest counts as 0 */
    double ns;
    double max_ns; /* ns in the slowest of these rounds */
    bool repeats;  /* True for calls seen in at least two rounds, and for iterations seen
                                in most rounds */
};

struct ab_view_slowest {
    /* ordered by back end; the calls of a back end that repeat come first, then the slowest */
    struct ab_view_slow_call *calls;
    uint32_t n_calls;
    /* number of rounds whose tail pass ran; other rounds have no slowest calls */
    uint32_t n_rounds;
    size_t cap_calls;
};

void ab_view_slowest_make(const struct ab_session *s, struct ab_view_slowest *out);
void ab_view_slow_iterations_make(const struct ab_session *s, struct ab_view_slowest *out);
void ab_view_slowest_fini(struct ab_view_slowest *x);

struct ab_view_latency_column {
    uint32_t phase; /* index of session->phases */
    unsigned op;    /* enum ab_op_kind; never AB_OP_ALL */
    double n_ops;   /* calls per round; if not known, the timed calls */
    double share;   /* share of the n_ops of all columns, 0 to 1 */
};

struct ab_view_latency_cell {
    uint64_t n;                          /* number of timed calls; 0 = none */
    double quantiles[AB_QUANTILE_COUNT]; /* ns; NaN = n/a, too few samples */
    double max_ns;                       /* slowest call of all; NaN = n/a */
    /* slowest call that was slow in more than one round at the same position of the work, so the
     * allocator caused it. NaN = no call repeats */
    double max_repeated_ns;
    /* True if max_ns is more than twice max_repeated_ns, or if no call repeats. Such a maximum may
     * be an interruption, and must be marked as such */
    bool is_max_single;
};

struct ab_view_latency {
    struct ab_view_latency_column *columns; /* n_columns entries, sorted by phase, then op */
    uint32_t n_columns, n_backends;
    struct ab_view_latency_cell *cells; /* [backend · n_columns + column] */
    /* the clock's floor in ns: the time that it reads for an empty call; NaN = not measured */
    double floor_ns;
};

void ab_view_latency_make(const struct ab_session *s, const struct ab_view_slowest *slowest,
                          struct ab_view_latency *out);
void ab_view_latency_fini(struct ab_view_latency *l);
const struct ab_view_latency_cell *ab_view_latency_at(const struct ab_view_latency *l,
                                                      uint32_t backend, uint32_t column);
/* Sets ns[i] to quantiles[i] of the time of calls that return a block (alloc, alloc_zeroed,
 * alloc_aligned, resize) over all phases, each call kind weighted by its share of the work. NaN =
 * n/a, too few samples. */
void ab_view_latency_of_allocation(const struct ab_session *s, uint32_t backend,
                                   const double *quantiles, unsigned n, double *ns);

#endif
