/* SPDX-License-Identifier: MIT
 *
 * Several traces in one table: each back end on each trace, with the time of the whole run, its ratio
 * to the base with interval, and the peak; the numbers of the answers above it.
 */
#ifndef AB_REPORT_VIEW_TRACES_H
#define AB_REPORT_VIEW_TRACES_H

#include "core/text.h"
#include "report/view/grid.h"

struct ab_traces { /* begins as zeroes */
    struct ab_grid grid;
    size_t n, n_compared; /* traces; those that have a result and enough work to compare */
    char *base;           /* of all traces that have a result; owned */
    bool has_no_base;     /* there is none, or not one */
    /* "Clearly faster than glibc in 2 of 3 traces: mimalloc, slab." Of those that win most often, and of
     * the traces that can be compared; nothing where there is no common base. */
    struct ab_text sentence;
};

/* Keeps what the table shows of a session, which may end after that. */
void ab_traces_add(struct ab_traces *t, const struct ab_session *session);
/* A trace that has no result. */
void ab_traces_add_failed(struct ab_traces *t, const char *trace);
void ab_traces_fini(struct ab_traces *t);

#endif
