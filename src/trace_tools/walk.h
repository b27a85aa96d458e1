/* SPDX-License-Identifier: MIT
 *
 * One pass over a trace file: passes its events to a visitor in batches, with the block of each,
 * and adds the position in the file to errors of the visitor. Shared by `trace info`, `check`,
 * `dump` and `cut`.
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
 * A second book beside the reader's own (trace/live_state.c). It knows only slots, so that
 * `trace check` does not depend on the code that assigned them. Memory O(live peak). */

struct ab_live_block {
    uint64_t number; /* number of its allocation, from 0 in the file */
    uint64_t size;   /* of its last successful call */
    uint64_t align;  /* 0 after a resize, which does not keep the alignment */
    /* event of its allocation; total requested bytes including it */
    uint64_t born_event, born_bytes;
    uint32_t known_pages, written_pages; /* of the call that gave it last, as in struct ab_event */
    uint32_t thread;                     /* thread of its allocation or last resize */
    uint8_t kind;                        /* kind of its allocation; AB_EVENT_ALLOC after a resize */
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

/* Prefetches the slot of a coming event; any number is allowed. Always inline, because gcc drops
 * a call to a function that only prefetches. */
static inline __attribute__((always_inline)) void ab_trace_book_prefetch(
    const struct ab_trace_book *b, uint32_t slot)
{
    if (slot < b->n_slots)
        __builtin_prefetch(&b->slots[slot], 1);
}

/* Takes one event. *was is its block before the call (free, resize) or after it (allocation);
 * not live if the call has none. Returns NULL, or what is wrong as the end of a sentence. */
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
    const struct ab_live_block *blocks; /* block of each event, from ab_trace_book_take */
    size_t n;
    /* number of events[0] in the file, that is, of calls before it */
    uint64_t first;
    const struct ab_trace_book *book; /* state after the last event */
    const struct ab_trace_info *info; /* from the reader; `program` is valid from the start */
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
    uint64_t begin;                         /* earlier calls are only taken into the book */
    uint64_t end; /* stops before this call, without reading on; 0 = goes to the end */
    ab_walk_visitor *visit;
    void *user;
    void (*progress)(void *user, uint64_t n_events); /* may be NULL */
    void *progress_user;
};

/* Walks over a trace. Returns AB_USAGE if the file has no event `begin` (except 0). *info gets
 * the reader's totals; may be NULL. */
enum ab_status ab_trace_walk(const struct ab_walk *walk, struct ab_trace_info *info,
                             struct ab_err *err);

/* Checks a trace: every call must be possible (by a book that is not the reader's), and the
 * totals in the file must match the events. walk.visit and walk.user are set here. *info gets
 * the totals. */
enum ab_status ab_trace_check(const struct ab_walk *walk, struct ab_trace_info *info,
                              struct ab_err *err);

/* Compares computed totals with those in the file. Returns NULL, or the name of the first that
 * differs, and both values. */
const char *ab_trace_totals_differ(const struct ab_trace_info *reckoned,
                                   const struct ab_trace_info *stated, uint64_t values[2]);

#endif
