/* SPDX-License-Identifier: MIT
 *
 * The scopes of a trace: stretches of calls (a frame, a request, a parsed document) whose blocks
 * are gone when they end. They follow each other without gaps: what an iteration of the program is,
 * as far as its allocations show it.
 *
 * Marks in the trace say where they end (of several, the one whose scopes hold most
 * blocks). Without any, they are found where the set of short-lived blocks is empty, or nearly: scope/search.h says how.
 * Of a program with several threads, the blocks of all threads together are tried, and those of the
 * thread that allocates most, or where these have none the next one that has; blocks of other threads
 * take no part in scopes of one thread (scope/of_threads.h: those of more threads).
 */
#ifndef AB_TRACE_TOOLS_SCOPES_H
#define AB_TRACE_TOOLS_SCOPES_H

#include "core/status.h"
#include "trace/mark_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Reads the file once, or up to three times: standard input and pipes are refused (AB_USAGE). *out is set in full on
 * success; free it with ab_scopes_fini. */
enum ab_status ab_scopes_find(const char *trace_path, bool is_partial, enum ab_scopes_wish wish,
                              struct ab_scopes *out, struct ab_err *err);
/* The same, and says how far each search is: progress as in struct ab_walk; NULL = not asked for. */
enum ab_status ab_scopes_find_watched(const char *trace_path, bool is_partial,
                                      enum ab_scopes_wish wish,
                                      void (*progress)(void *user, uint64_t n_events), void *user,
                                      struct ab_scopes *out, struct ab_err *err);
void ab_scopes_fini(struct ab_scopes *s);

#endif
