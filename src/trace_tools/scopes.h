/* SPDX-License-Identifier: MIT
 *
 * The scopes of a trace: stretches of calls (a frame, a request, a parsed document) whose blocks
 * are gone when they end. They follow each other without gaps: what an iteration of the program
 * is, as far as its allocations show it.
 *
 * Marks in the trace say where they end (of several, the one whose scopes hold most blocks).
 * Without any, they are found where the set of short-lived blocks is empty, or nearly:
 * scope_search.h says how. Of a program with several threads, the blocks of all threads together
 * are tried, and those of the thread that allocates most, or where these have none the next one
 * that has; blocks of other threads take no part in scopes of one thread (ab_scopes_part_threads:
 * those of more threads).
 */
#ifndef AB_TRACE_TOOLS_SCOPES_H
#define AB_TRACE_TOOLS_SCOPES_H

#include "core/text.h"
#include "trace_tools/walk.h"

enum ab_scopes_from {
    AB_SCOPES_NONE,
    AB_SCOPES_MARKS, /* the program said where they end */
    AB_SCOPES_FOUND,
};

enum ab_scopes_wish {                 /* which of those that are found; marks are always taken */
                      AB_SCOPES_BEST, /* whose blocks are gone best: frames, or levels of a game */
                      AB_SCOPES_NESTED, /* the smallest */
                      AB_SCOPES_OUTER,  /* the largest */
};

struct ab_scope_kind {     /* that a search has found */
    double count, typical; /* scopes; allocations of a typical one */
};

struct ab_scopes {
    uint64_t *ends; /* a scope ends before the call of that number (struct ab_walk_batch.first + i),
                       ascending; the first begins at call 0, what follows the last end is one more.
                       An end can be the number of all calls: with the trace */
    size_t n;
    uint64_t *more; /* ends of what else could be scopes, smaller or larger or of other marks: in no
                       order, as far as they are known */
    size_t n_more;
    enum ab_scopes_from from;
    bool is_of_thread; /* found in the blocks of one thread: `thread` */
    uint32_t thread;
    char mark[AB_MARK_NAME_MAX + 1];    /* AB_SCOPES_MARKS: its name */
    struct ab_scope_kind nested, outer; /* AB_SCOPES_FOUND: what else it could be; 0 = not known */
};

/* file: path, is_partial and progress, which says how far each search is. Reads it once, or up to
 * three times: standard input and pipes are refused (AB_USAGE). *out is set in full on success;
 * free it with ab_scopes_fini. */
enum ab_status ab_scopes_find(const struct ab_walk *file, enum ab_scopes_wish wish,
                              struct ab_scopes *out, struct ab_err *err);
void ab_scopes_fini(struct ab_scopes *s);

/* What scopes whose ends are known hold: counted exactly, in one pass. The stretch after the last
 * end is no scope here. */

struct ab_scope_stats {             /* begins with `scopes` set, the rest 0 */
    const struct ab_scopes *scopes; /* of this trace */
    uint64_t allocs;                /* of the whole trace, by the threads that are looked at */
    uint64_t gone;                  /* of these: freed in the scope that they were made in */
    uint64_t most_live;             /* highest live bytes of blocks of one scope, in it */
    uint64_t most_gone; /* highest sum of the sizes, when they were freed, of blocks of one scope
                           that were gone before its end: what an arena for it must hold, without
                           alignment and without what resizes leave behind */
    uint64_t at;        /* internal: scope that the next call belongs to */
    uint64_t live_bytes, gone_bytes;
    uint64_t *born; /* by slot: scope that its block was made in + 1; 0 = not looked at */
    size_t cap_slots;
};

/* For struct ab_walk: user is the stats. */
enum ab_status ab_scope_stats_visit(void *user, const struct ab_walk_batch *batch,
                                    struct ab_err *err);
void ab_scope_stats_fini(struct ab_scope_stats *s);

/* Calls of a scope; there is one at least. */
double ab_scopes_median_calls(const struct ab_scopes *scopes);

/* Scopes of several threads, each by itself: workers that serve requests of their own. Where the
 * scopes of a trace are those of one thread (struct ab_scopes.is_of_thread), the others are asked
 * for here, by the same rules. */

enum {
    AB_SCOPES_OF_THREADS_MAX = 15,  /* that are looked at: those that allocate most */
    AB_SCOPES_OF_THREADS_PART = 16, /* at least this part of what the first one does */
};

struct ab_thread_scopes {
    uint32_t thread;
    uint64_t *ends; /* as in struct ab_scopes */
    size_t n, cap;
};

struct ab_scopes_of_threads {                                /* begins as {0} */
    struct ab_thread_scopes items[AB_SCOPES_OF_THREADS_MAX]; /* that have scopes */
    size_t n;
};

void ab_scopes_of_threads_fini(struct ab_scopes_of_threads *s);

/* Decides whether the scopes of a trace are global or each thread's own, for back ends with a heap
 * for each thread. Where scopes of all threads together were found although they are those of each
 * by itself, *scopes becomes that of the thread which allocates most. That is so where they are
 * more than any thread has, and no more than all of them have, for they take turns; or where
 * blocks outlive them that no scope of their thread ends before. *out: the other threads' scopes,
 * where those of the trace are of a thread. Nothing is done to marks. *out begins as {0}; end it
 * with ab_scopes_of_threads_fini in any case. */
enum ab_status ab_scopes_part_threads(const struct ab_walk *file, struct ab_scopes *scopes,
                                      struct ab_scopes_of_threads *out, struct ab_err *err);

/* Appends what scopes that were found are like, and what else could be meant; nothing about marks.
 * time_us: of the whole trace, 0 = not known. Returns true if scopes of several sizes were found, so that
 * --scope nested and --scope outer differ. */
bool ab_scopes_ask(struct ab_text *line, const struct ab_scopes *s, double median_calls,
                   uint64_t time_us);

/* Scopes with begin and end, also within each other, as a heap with save points could serve them:
 * at the end of a span nothing lives of what its thread has allocated or resized in it. */

struct ab_scope_spans { /* begins as {0} */
    struct ab_scope_span {
        uint64_t begin, end; /* calls [begin, end) of the file */
    } * items; /* by begin, of these with the same begin the longest first; two are apart, or one is
                  in the other */
    size_t n, cap;
};

/* At each end of a scope, of those that were taken and those that could be, a span that begins
 * behind the youngest block that outlives it, or with the end of the last span that began there;
 * none with less than AB_SCOPE_ALLOCS_LEAST allocations. Of scopes of all threads, where the trace
 * has several: none. One pass over the file. Free it with ab_scope_spans_fini in any case. */
enum ab_status ab_scope_spans_find(const struct ab_walk *file, const struct ab_scopes *scopes,
                                   struct ab_scope_spans *out, struct ab_err *err);
void ab_scope_spans_fini(struct ab_scope_spans *s);

#endif
