/* SPDX-License-Identifier: MIT
 *
 * One pass over a trace file: passes its events to a visitor in batches, together with the block of
 * each event, and adds the position in the file to errors of the visitor. Shared by `trace info`,
 * `check`, `dump`, `cut` and other tools.
 */
#ifndef AB_TRACE_TOOLS_WALK_H
#define AB_TRACE_TOOLS_WALK_H

#include "core/status.h"
#include "trace/event.h"
#include "trace/mark_table.h"
#include "trace/site_table.h"

#include <stddef.h>

/* ---- the book: live blocks of a trace by slot ----
 *
 * The reader also keeps the live blocks (trace/live_state.c). The book is separate and knows only
 * slots, so that `trace check` does not depend on the code that assigned them. Memory O(live
 * peak). */

struct ab_live_block {
    uint64_t number; /* number of its allocation, from 0 in the file */
    uint64_t size;   /* requested bytes of the last successful call on the block */
    uint64_t align;  /* requested alignment; 0 after a resize, which does not keep it */
    /* born_event: number of the call that allocated the block; born_bytes: total requested bytes up
     * to that call, including it */
    uint64_t born_event, born_bytes;
    /* pages of the last call that gave the block, as in struct ab_event */
    uint32_t known_pages, written_pages;
    uint32_t thread; /* thread of its allocation or last resize */
    /* enum ab_event_kind of its allocation; AB_EVENT_ALLOC after a resize */
    uint8_t kind;
    bool is_live;
};

struct ab_trace_book {
    struct ab_live_block *slots;
    size_t n_slots, cap_slots;
    struct ab_trace_info totals; /* totals computed from the events */
    uint64_t next_number;
    uint8_t *ended; /* one bit per thread that has ended; NULL = none */
    size_t cap_ended;
};

void ab_trace_book_fini(struct ab_trace_book *b);

/* Prefetches the slot of a coming event; any slot number is allowed. Always inline, because gcc
 * drops a call to a function that only prefetches. */
static inline __attribute__((always_inline)) void ab_trace_book_prefetch(
    const struct ab_trace_book *b, uint32_t slot)
{
    if (slot < b->n_slots)
        __builtin_prefetch(&b->slots[slot], 1);
}

/* Processes one event. Sets *was to its block before the call (free, resize) or after it
 * (allocation); *was is not live if the event has no block. Returns NULL, or what is wrong as the
 * end of a sentence. */
const char *ab_trace_book_take(struct ab_trace_book *b, const struct ab_event *e,
                               struct ab_live_block *was);

enum ab_walk_where {
    AB_WALK_BEGIN,  /* before the first event: n = 0, and the book is up to date */
    AB_WALK_EVENTS, /* n > 0 */
    AB_WALK_END,    /* n = 0 */
};

struct ab_walk_batch {
    enum ab_walk_where where;
    const struct ab_event *events;
    const struct ab_live_block *blocks; /* block of each event, as ab_trace_book_take sets it */
    size_t n;
    /* number of calls in the file before events[0] */
    uint64_t first;
    const struct ab_trace_book *book; /* state after the last event of the batch */
    /* totals from the reader; `program` is valid from the start */
    const struct ab_trace_info *info;
};

typedef enum ab_status ab_walk_visitor(void *user, const struct ab_walk_batch *batch,
                                       struct ab_err *err);

struct ab_walk {
    const char *path; /* "-" = standard input */
    bool is_partial;  /* True to accept a file without end mark */
    /* True to pass on AB_EVENT_THREAD_END, which has no number and no block */
    bool has_thread_ends;
    struct ab_site_table *sites;            /* as in struct ab_trace_options */
    struct ab_mark_table *marks, *requests; /* as in struct ab_trace_options */
    char *digest;                           /* NULL, or char[65] for the digest of the whole file */
    /* number of the first call to pass on; earlier calls are only taken into the book */
    uint64_t begin;
    /* number of the call before which the walk stops, without reading on; 0 = goes to the end */
    uint64_t end;
    ab_walk_visitor *visit;
    void *user;
    void (*progress)(void *user, uint64_t n_events); /* may be NULL */
    void *progress_user;
};

/* Walks over a trace. Returns AB_USAGE if the file has no call `begin` (unless begin is 0). Sets
 * *info to the reader's totals; `info` may be NULL. */
enum ab_status ab_trace_walk(const struct ab_walk *walk, struct ab_trace_info *info,
                             struct ab_err *err);

/* Checks a trace. Every call must be possible, as judged by a book that is not the reader's, and
 * the totals in the file must match the events. walk.visit and walk.user are set here. Sets *info
 * to the totals. */
enum ab_status ab_trace_check(const struct ab_walk *walk, struct ab_trace_info *info,
                              struct ab_err *err);

/* Compares computed totals with those stated in the file. Returns NULL if they are equal. Otherwise
 * returns the name of the first total that differs, and sets `values` to its computed and its
 * stated value. */
const char *ab_trace_totals_differ(const struct ab_trace_info *reckoned,
                                   const struct ab_trace_info *stated, uint64_t values[2]);

#endif
