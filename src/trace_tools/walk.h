/* SPDX-License-Identifier: MIT
 *
 * One pass over a trace file: opens it, hands its events on in batches with the block of each, and
 * says where in the file a visitor's complaint belongs. What `trace info`, `check`, `dump` and `cut`
 * have in common.
 */
#ifndef AB_TRACE_TOOLS_WALK_H
#define AB_TRACE_TOOLS_WALK_H

#include "core/status.h"
#include "trace/mark_table.h"
#include "trace/site_table.h"
#include "trace_tools/slot_check.h"

enum ab_walk_where {
    AB_WALK_BEGIN,  /* before the first event that is handed on: n = 0, the book is that far */
    AB_WALK_EVENTS, /* n > 0 */
    AB_WALK_END,    /* n = 0 */
};

struct ab_walk_batch {
    enum ab_walk_where where;
    const struct ab_event *events;
    const struct ab_live_block *blocks; /* of each event, as ab_trace_book_take gives it */
    size_t n;
    uint64_t first;                   /* number of events[0] in the file: calls before it */
    const struct ab_trace_book *book; /* after the last of them */
    const struct ab_trace_info *info; /* the reader's; `program` is valid from the start */
};

struct ab_walk {
    const char *path;     /* "-" = standard input */
    bool is_partial;      /* accept a file without its end mark */
    bool has_thread_ends; /* hand AB_EVENT_THREAD_END on too; it has no number and no block */
    struct ab_site_table *sites; /* as in struct ab_trace_options */
    struct ab_mark_table *marks; /* as there */
    char *digest;                /* NULL, or char[65]: set to the digest of the whole file */
    uint64_t begin;              /* calls before it are taken into the book, but not handed on */
    uint64_t end; /* stop before this call, unread what follows; UINT64_MAX = to the end */
    enum ab_status (*visit)(void *user, const struct ab_walk_batch *batch, struct ab_err *err);
    void *user;
    void (*progress)(void *user, uint64_t n_events); /* may be NULL */
    void *progress_user;
};

/* Fails with AB_USAGE when the file has no event `begin` (but 0). *info is the reader's; may be
 * NULL. */
enum ab_status ab_trace_walk(const struct ab_walk *walk, struct ab_trace_info *info,
                             struct ab_err *err);

#endif
