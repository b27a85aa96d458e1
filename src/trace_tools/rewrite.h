/* SPDX-License-Identifier: MIT
 *
 * Traces made of traces: a stretch of one, some blocks of one, and several as one. Threads are numbered
 * anew, in the order of their first event there, as the format wants it, and blocks by their
 * allocations. Marks stay between the calls that they were between, of which some may be gone. Ends of
 * threads are kept, and times begin anew with the first event.
 */
#ifndef AB_TRACE_TOOLS_REWRITE_H
#define AB_TRACE_TOOLS_REWRITE_H

#include "trace_tools/walk.h"

#include <stdbool.h>
#include <stdio.h>

/* In all of these the file that is written, `to`, stays the caller's. */

/* A stretch. A trace has no phases, so the blocks that live where the cut begins either come first, as
 * allocations in the order they had (they are replayed with it, and their memory is there when it
 * begins), or are dropped with every call on them. Blocks live at the end of the cut stay live. */
struct ab_cut_report {
    struct ab_trace_info info; /* of the part */
    uint64_t n_kept;           /* allocations put in front */
    uint64_t n_dropped;        /* calls left out, because their block is from before the cut */
};

/* walk.begin, walk.end and is_partial say which part; walk.visit and walk.user are set here. */
enum ab_status ab_trace_cut(const struct ab_walk *walk, bool is_keeping_live, FILE *to,
                            struct ab_cut_report *report, struct ab_err *err);

/* The blocks that were allocated by some threads, from some call sites, with some sizes, in some
 * stretch, with every call on them, whoever makes it and whenever. */
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
    /* What is not a number is left out, too: the name of the program and of libraries, call sites.
     * Marks get names that say nothing. */
    bool is_anonymous;
    /* Puts a stack of the table into that of an anonymous trace; its number there. NULL = they have
     * no call sites. */
    uint32_t (*know_site)(void *user, const struct ab_site_table *table, uint32_t stack,
                          struct ab_site_table *out);
};

struct ab_filter_report {
    struct ab_trace_info info;   /* of what was written */
    struct ab_trace_info before; /* of the original */
};

/* walk: path, is_partial and progress; the rest is set here. Times begin anew with the first event that
 * is kept. AB_USAGE when the trace has no such thread, no times, or nothing that is kept. */
enum ab_status ab_trace_filter(const struct ab_walk *walk, const struct ab_filter *filter, FILE *to,
                               struct ab_filter_report *report, struct ab_err *err);

/* Side by side, as if their programs had been threads of one, or one after the other. Every thread of
 * every trace is a thread of its own; blocks that one leaves live stay live. Side by side, events go by
 * their times where all traces have them, else by their place: what is halfway through one trace comes
 * with what is halfway through the others. */
enum { AB_MERGE_MOST = 256 };

struct ab_merge_request {
    const char *const *paths;
    size_t n; /* at most AB_MERGE_MOST */
    bool is_serial, is_partial;
    size_t most_marks; /* kept; 0 = as many as a trace can have */
    FILE *to;
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
