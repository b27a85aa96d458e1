/* SPDX-License-Identifier: MIT
 *
 * One pass over a trace file: opens it, hands its events on in batches with the block of each, and
 * says where in the file a visitor's complaint belongs. What `trace info`, `check`, `dump` and `cut`
 * have in common.
 */
#ifndef AB_TRACE_TOOLS_WALK_H
#define AB_TRACE_TOOLS_WALK_H

#include "core/status.h"
#include "trace/event.h"
#include "trace/mark_table.h"
#include "trace/site_table.h"

#include <stddef.h>

/* The blocks of a trace by slot, while its events pass: whose they are, how old, what number their
 * allocation has. A second book beside the reader's own (trace/live_state.c): it knows slots only,
 * so that what `trace check` proves does not rest on the code that gave the slots out. Memory
 * O(live peak). */

struct ab_live_block {
    uint64_t number;                 /* of its allocation, counted over the file from 0 */
    uint64_t size;                   /* of its last successful call */
    uint64_t align;                  /* that still holds: 0 once the block was resized */
    uint64_t born_event, born_bytes; /* its allocation's event; bytes asked for up to and with it */
    uint32_t known_pages, written_pages; /* of the call that gave it last, as an event has them */
    uint32_t thread;                     /* that made it: by its allocation or its last resize */
    uint8_t kind;                        /* of its allocation; AB_EVENT_ALLOC once it was resized */
    bool is_live;
};

struct ab_trace_book {
    struct ab_live_block *slots;
    size_t n_slots, cap_slots;
    struct ab_trace_info totals; /* what follows from the events */
    uint64_t next_number;
    uint8_t *ended; /* threads that have ended, a bit each; NULL = none */
    size_t cap_ended;
};

void ab_trace_book_fini(struct ab_trace_book *b);

/* Prefetches for an event in the slot that comes soon; it may be any number. Always inline: a
 * call of what does nothing else is left out by gcc. */
static inline __attribute__((always_inline)) void ab_trace_book_prefetch(
    const struct ab_trace_book *b, uint32_t slot)
{
    if (slot < b->n_slots)
        __builtin_prefetch(&b->slots[slot], 1);
}

/* Takes one event. *was is its block as it was before (free, resize) or as it is now (alloc
 * kinds); not live when the call has none. NULL, or what is wrong as the end of a sentence. */
const char *ab_trace_book_take(struct ab_trace_book *b, const struct ab_event *e,
                               struct ab_live_block *was);

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

typedef enum ab_status ab_walk_visitor(void *user, const struct ab_walk_batch *batch,
                                       struct ab_err *err);

struct ab_walk {
    const char *path;     /* "-" = standard input */
    bool is_partial;      /* accept a file without its end mark */
    bool has_thread_ends; /* hand AB_EVENT_THREAD_END on too; it has no number and no block */
    struct ab_site_table *sites;            /* as in struct ab_trace_options */
    struct ab_mark_table *marks, *requests; /* as there */
    char *digest;   /* NULL, or char[65]: set to the digest of the whole file */
    uint64_t begin; /* calls before it are taken into the book, but not handed on */
    uint64_t end;   /* stop before this call, unread what follows; 0 = to the end */
    ab_walk_visitor *visit;
    void *user;
    void (*progress)(void *user, uint64_t n_events); /* may be NULL */
    void *progress_user;
};

/* Fails with AB_USAGE when the file has no event `begin` (but 0). *info is the reader's; may be
 * NULL. */
enum ab_status ab_trace_walk(const struct ab_walk *walk, struct ab_trace_info *info,
                             struct ab_err *err);

/* Proves a trace: every call is possible (by a book which is not the reader's), and the totals
 * that the file states are those of its events. walk.visit and walk.user are set here. *info: what
 * the file holds. */
enum ab_status ab_trace_check(const struct ab_walk *walk, struct ab_trace_info *info,
                              struct ab_err *err);

/* Compares the totals that a walk reckoned with those that the file states: NULL, or the name of
 * the first that differs, with both values. */
const char *ab_trace_totals_differ(const struct ab_trace_info *reckoned,
                                   const struct ab_trace_info *stated, uint64_t values[2]);

#endif
