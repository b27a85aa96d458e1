/* SPDX-License-Identifier: MIT
 *
 * Makes traces from traces: a range of one trace, some blocks of one, or several traces merged.
 * Threads are renumbered in the order of their first event, as the format requires, and blocks in
 * the order of their allocations. Marks stay between the same calls, of which some may be gone.
 * Ends of threads are kept, and times start from the first event.
 */
#ifndef AB_TRACE_TOOLS_REWRITE_H
#define AB_TRACE_TOOLS_REWRITE_H

#include "trace_tools/walk.h"

#include <stdbool.h>
#include <stdio.h>

/* ---- in all functions, the output file `to` is borrowed ---- */

/* Report of a cut, a range of a trace. A trace has no phases, so there are two ways to handle
 * blocks that live at the beginning of the range. They can become allocations at the beginning,
 * in their original order: then they are replayed too, and their memory exists when the range
 * begins. Or they are dropped with all their calls. Blocks live at the end of the range stay
 * live. */
struct ab_cut_report {
    struct ab_trace_info info; /* totals of the new trace */
    uint64_t n_kept;           /* number of allocations added at the beginning */
    uint64_t n_dropped;        /* calls dropped because their block is from before the range */
};

/* Writes a range of a trace to `to`. `walk` has begin, end and is_partial; its visit and user are
 * set here. */
enum ab_status ab_trace_cut(const struct ab_walk *walk, bool is_keeping_live, FILE *to,
                            struct ab_cut_report *report, struct ab_err *err);

/* A filter keeps the blocks allocated by some threads, from some call sites, with some sizes, or
 * in some range, with all calls on these blocks. */
struct ab_extent { /* range from `first` to before `end` */
    uint64_t first, end;
};
#define AB_EXTENT_ALL ((struct ab_extent){0, UINT64_MAX})

struct ab_filter { /* conditions on allocations; all must hold */
    const struct ab_extent *threads;
    size_t n_threads; /* 0 = all threads */
    struct ab_extent sizes, events;
    bool has_times;
    struct ab_extent times_us;
    /* Function that returns true if stack `stack` of the table is kept. The table is the same in
     * each call, and grows. NULL = all stacks are kept. */
    bool (*has_site)(void *user, const struct ab_site_table *table, uint32_t stack);
    void *site_user;
    /* True to drop everything that is not a number: the names of the program and of libraries, and
     * call sites. Marks get meaningless names. */
    bool is_anonymous;
    /* Function that adds stack `stack` to `out`, the table of an anonymous trace, and returns its
     * number there. NULL = anonymous traces have no call sites. */
    uint32_t (*know_site)(void *user, const struct ab_site_table *table, uint32_t stack,
                          struct ab_site_table *out);
};

struct ab_filter_report {
    struct ab_trace_info info;   /* totals of the new trace */
    struct ab_trace_info before; /* totals of the original */
};

/* Writes the filtered trace. `walk` has path, is_partial and progress; its other fields are set
 * here. Times start from the first event that is kept. Returns AB_USAGE if the trace lacks a
 * requested thread or times, or if nothing is kept. */
enum ab_status ab_trace_filter(const struct ab_walk *walk, const struct ab_filter *filter, FILE *to,
                               struct ab_filter_report *report, struct ab_err *err);

/* A merge combines traces side by side, as if their programs had been threads of one program, or
 * one after the other. Every thread of every trace stays a separate thread; blocks that are live at
 * the end of a trace stay live. Side by side, events are ordered by time if all traces have times.
 * Otherwise they are ordered by position: the middle of one trace comes with the middle of the
 * others. */
enum { AB_MERGE_MOST = 256 };

struct ab_merge_request {
    const char *const *paths;
    size_t n; /* at most AB_MERGE_MOST */
    bool is_serial, is_partial;
    size_t most_marks; /* maximum number of marks; 0 = the most that a trace can have */
    FILE *to;
    void (*progress)(void *user, uint64_t n_events); /* may be NULL */
    void *user;
};

struct ab_merge_report {
    struct ab_trace_info info;
    bool is_by_time;
    /* True if some traces have times, which were dropped because others have none */
    bool has_lost_times;
    uint64_t n_lost_marks; /* marks beyond the maximum, dropped from the end */
};

/* Merges traces. Side by side, files are read twice, so that standard input is refused
 * (AB_USAGE). */
enum ab_status ab_trace_merge(const struct ab_merge_request *merge, struct ab_merge_report *report,
                              struct ab_err *err);

#endif
