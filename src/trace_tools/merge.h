/* SPDX-License-Identifier: MIT
 *
 * Several traces as one: side by side, as if their programs had been threads of one, or one after
 * the other. Every thread of every trace is a thread of its own; blocks that one leaves live stay
 * live. Side by side, events go by their times where all traces have them, else by their place: what
 * is halfway through one trace comes with what is halfway through the others.
 */
#ifndef AB_TRACE_TOOLS_MERGE_H
#define AB_TRACE_TOOLS_MERGE_H

#include "core/status.h"
#include "trace/event.h"

#include <stddef.h>
#include <stdio.h>

enum { AB_MERGE_MOST = 256 };

struct ab_merge_request {
    const char *const *paths;
    size_t n; /* at most AB_MERGE_MOST */
    bool is_serial, is_partial;
    size_t most_marks;                               /* kept; 0 = as many as a trace can have */
    FILE *to;                                        /* stays the caller's */
    void (*progress)(void *user, uint64_t n_events); /* may be NULL */
    void *user;
};

struct ab_merge_report {
    struct ab_trace_info info;
    bool is_by_time;
    bool has_lost_times;   /* of the traces that have them: another one has none */
    uint64_t n_lost_marks; /* beyond those that are kept: the last ones */
};

/* Side by side, files are read twice: standard input is refused then (AB_USAGE). */
enum ab_status ab_trace_merge(const struct ab_merge_request *merge, struct ab_merge_report *report,
                              struct ab_err *err);

#endif
