/* SPDX-License-Identifier: MIT
 *
 * The blocks of a trace that were allocated by some threads, from some call sites, with some sizes, in
 * some stretch of it, with every call on them, whoever makes it and whenever: a trace of its own, that can be replayed.
 */
#ifndef AB_TRACE_TOOLS_FILTER_H
#define AB_TRACE_TOOLS_FILTER_H

#include "trace_tools/walk.h"

#include <stdio.h>

struct ab_extent { /* from `first` to before `end` */
    uint64_t first, end;
};
#define AB_EXTENT_ALL ((struct ab_extent){0, UINT64_MAX})

struct ab_filter { /* of allocations; all of it has to hold */
    const struct ab_extent *threads;
    size_t n_threads; /* 0 = all */
    struct ab_extent sizes, events;
    bool has_times;
    struct ab_extent times_us;
    /* Is this stack of the table one to keep? The table is the same each time, and grows. NULL =
     * all are. */
    bool (*has_site)(void *user, const struct ab_site_table *table, uint32_t stack);
    void *site_user;
    bool is_anonymous; /* the name of the program and the call sites are left out as well */
};

struct ab_filter_report {
    struct ab_trace_info info;   /* of what was written */
    struct ab_trace_info before; /* of the original */
};

/* walk: path, is_partial and progress; the rest is set here. Times begin anew with the first event that
 * is kept. AB_USAGE when the trace has no such thread, no times, or nothing that is kept. `to` stays
 * the caller's. */
enum ab_status ab_trace_filter(const struct ab_walk *walk, const struct ab_filter *filter, FILE *to,
                               struct ab_filter_report *report, struct ab_err *err);

#endif
