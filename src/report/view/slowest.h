/* SPDX-License-Identifier: MIT
 *
 * The slowest calls, or iterations, joined over the rounds by their place in the work: one that is slow in several
 * rounds is the allocator's, one that is slow in one only the scheduler's. Each round keeps its
 * AB_WORST_MAX slowest of a phase and kind (AB_ITERATIONS_WORST_MAX iterations), so that n_seen is a
 * lower bound.
 */
#ifndef AB_REPORT_VIEW_SLOWEST_H
#define AB_REPORT_VIEW_SLOWEST_H

#include "result/result.h"

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

#endif
