/* SPDX-License-Identifier: MIT
 *
 * The slowest calls, joined over the rounds by their place in the work: one that is slow in several
 * rounds is the allocator's, one that is slow in one only the scheduler's. Each round keeps its
 * AB_WORST_MAX slowest of a phase and kind, so that n_seen is a lower bound.
 */
#ifndef AB_REPORT_VIEW_SLOWEST_H
#define AB_REPORT_VIEW_SLOWEST_H

#include "result/result.h"

struct ab_view_slow_call {
    uint32_t backend, phase; /* of the session's lists */
    unsigned op;             /* enum ab_op_kind */
    uint32_t position;       /* in the tape */
    uint64_t size;           /* or AB_SIZE_UNKNOWN */
    uint32_t n_seen;         /* rounds that have it among their slowest */
    double ns;               /* median over these */
    double max_ns;           /* the slowest of these */
};

struct ab_view_slowest {
    struct ab_view_slow_call
        *calls; /* by back end; of each those that repeat first, slowest first */
    uint32_t n_calls;
    uint32_t n_rounds; /* those whose tail pass ran: no other has slowest calls */
    size_t cap_calls;
};

void ab_view_slowest_make(const struct ab_session *s, struct ab_view_slowest *out);
void ab_view_slowest_fini(struct ab_view_slowest *x);
bool ab_view_slow_call_repeats(const struct ab_view_slow_call *call);

#endif
