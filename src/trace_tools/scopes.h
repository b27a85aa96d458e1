/* SPDX-License-Identifier: MIT
 *
 * Scopes of a trace: stretches of successive calls (a frame, a request, a parsed document) whose
 * blocks are freed by their end. Scopes follow each other without gaps. They are the iterations of
 * the program, as far as its allocations show them.
 *
 * If the trace has marks, scopes end at marks; among several names of marks, the one whose scopes
 * contain most blocks is used. Without marks, scopes end where the set of short-lived blocks is
 * empty or nearly empty (scope_search.h). With several threads, the blocks of all threads together
 * are tried, then those of the busiest thread, then those of the next threads. If scopes are of one
 * thread, blocks of other threads do not count. ab_scopes_part_threads finds the scopes of several
 * threads.
 */
#ifndef AB_TRACE_TOOLS_SCOPES_H
#define AB_TRACE_TOOLS_SCOPES_H

#include "core/text.h"
#include "trace_tools/walk.h"

enum ab_scopes_from {
    AB_SCOPES_NONE,
    AB_SCOPES_MARKS, /* scopes end at marks of the program */
    AB_SCOPES_FOUND,
};

enum ab_scopes_wish { /* choice among scopes that were found; marks always win */
                      /* scopes that contain their blocks best: frames, or levels of a game */
                      AB_SCOPES_BEST,
                      AB_SCOPES_NESTED, /* the smallest */
                      AB_SCOPES_OUTER,  /* the largest */
};

struct ab_scope_kind {     /* a kind of scopes found by a search */
    double count, typical; /* count: number of scopes; typical: allocations of a typical scope */
};

struct ab_scopes {
    /* numbers of the calls before which scopes end (struct ab_walk_batch.first + i), ascending. The
     * first scope begins at call 0; the calls after the last end are one more scope. An end may
     * equal the number of all calls */
    uint64_t *ends;
    size_t n;
    /* ends of other possible scopes (smaller, larger, of other marks), unsorted; only those that
     * are known */
    uint64_t *more;
    size_t n_more;
    enum ab_scopes_from from;
    bool is_of_thread; /* True if the scopes are those of the blocks of `thread` only */
    uint32_t thread;
    char mark[AB_MARK_NAME_MAX + 1]; /* name of the mark, if `from` is AB_SCOPES_MARKS */
    /* other sizes of scopes, if `from` is AB_SCOPES_FOUND; 0 = not known */
    struct ab_scope_kind nested, outer;
};

/* Finds the scopes of a trace. `file` has path, is_partial, and progress, which is called in each
 * pass. Reads the file up to three times, so that standard input and pipes are refused (AB_USAGE).
 * Sets *out on success; free it with ab_scopes_fini. */
enum ab_status ab_scopes_find(const struct ab_walk *file, enum ab_scopes_wish wish,
                              struct ab_scopes *out, struct ab_err *err);
void ab_scopes_fini(struct ab_scopes *s);

/* ---- exact statistics of known scopes, in one pass; calls after the last end are not in a
 * scope ---- */

struct ab_scope_stats {             /* set `scopes` and zero the other fields */
    const struct ab_scopes *scopes; /* scopes of this trace */
    /* number of allocations in the trace, by `scopes->thread` if scopes are of one thread */
    uint64_t allocs;
    /* number of these blocks that are freed in the scope in which they were made */
    uint64_t gone;
    /* maximum over all scopes of the live bytes of their own blocks */
    uint64_t most_live;
    /* maximum over all scopes of the sum of the sizes of blocks freed before the end. An arena for
     * the scope needs this many bytes, without alignment and what resizes leave */
    uint64_t most_gone;
    uint64_t at; /* internal: index of the scope of the next call */
    uint64_t live_bytes, gone_bytes;
    uint64_t *born; /* scope in which the block in a slot was made + 1, by slot; 0 = none */
    size_t cap_slots;
};

/* Visitor for struct ab_walk; `user` is the stats. */
enum ab_status ab_scope_stats_visit(void *user, const struct ab_walk_batch *batch,
                                    struct ab_err *err);
void ab_scope_stats_fini(struct ab_scope_stats *s);

/* Returns the median of calls per scope. There must be at least one scope. */
double ab_scopes_median_calls(const struct ab_scopes *scopes);

/* ---- scopes of several threads, each by itself: workers that serve requests of their own ----
 *
 * If the scopes of a trace are those of one thread (struct ab_scopes.is_of_thread), these functions
 * find the scopes of the other threads by the same rules. */

enum {
    AB_SCOPES_OF_THREADS_MAX = 15, /* number of threads that are tried: the busiest */
    /* a thread is tried only if it allocates at least 1/16 of what the thread of the scopes does */
    AB_SCOPES_OF_THREADS_PART = 16,
};

struct ab_thread_scopes {
    uint32_t thread;
    uint64_t *ends; /* as in struct ab_scopes */
    size_t n, cap;
};

struct ab_scopes_of_threads {                                /* zero-initialize it */
    struct ab_thread_scopes items[AB_SCOPES_OF_THREADS_MAX]; /* threads with scopes */
    size_t n;
};

void ab_scopes_of_threads_fini(struct ab_scopes_of_threads *s);

/* Decides whether the scopes of a trace are global or each thread's own, for back ends with a heap
 * per thread. If global scopes are really scopes of separate threads, *scopes becomes the scopes of
 * the busiest thread. They are if there are more than any thread has, but not more than all threads
 * have together, because threads take turns. They also are if blocks outlive global scopes but no
 * scope of their own thread. If *scopes are of one thread, *out gets the scopes of the other
 * threads. Marks stay as they are. Zero *out first; call ab_scopes_of_threads_fini in any case. */
enum ab_status ab_scopes_part_threads(const struct ab_walk *file, struct ab_scopes *scopes,
                                      struct ab_scopes_of_threads *out, struct ab_err *err);

/* Appends a description of found scopes and of other possible ones to `line`; nothing for marks.
 * `time_us` is the time of the whole trace, 0 = not known. Returns true if scopes of several sizes
 * were found, so that --scope nested and --scope outer differ. */
bool ab_scopes_ask(struct ab_text *line, const struct ab_scopes *s, double median_calls,
                   uint64_t time_us);

/* ---- spans: scopes with a beginning and an end, possibly nested, as a heap with save points needs
 * them ----
 *
 * At the end of a span, no block is live that the thread of the span has allocated or resized in
 * the span. */

struct ab_scope_spans { /* zero-initialize it */
    struct ab_scope_span {
        uint64_t begin, end; /* calls [begin, end) of the file */
    } * items; /* sorted by begin, the longest first; any two are disjoint or nested */
    size_t n, cap;
};

/* Finds the spans of a trace, one for each end of the chosen scopes or of other possible ones. A
 * span begins after the youngest block that outlives it, or at the end of the last span that began
 * there. Spans with less than AB_SCOPE_ALLOCS_LEAST allocations are omitted. If scopes are of all
 * threads of a trace with several threads, there are no spans. One pass over the file. Call
 * ab_scope_spans_fini in any case. */
enum ab_status ab_scope_spans_find(const struct ab_walk *file, const struct ab_scopes *scopes,
                                   struct ab_scope_spans *out, struct ab_err *err);
void ab_scope_spans_fini(struct ab_scope_spans *s);

#endif
