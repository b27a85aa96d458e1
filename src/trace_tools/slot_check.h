/* SPDX-License-Identifier: MIT
 *
 * The blocks of a trace by slot, while its events pass: whose they are, how old, what number their
 * allocation has. A second book beside the reader's own (trace/live_state.c): it knows slots only, so that
 * what `trace check` proves does not rest on the code that gave the slots out. Memory O(live peak).
 */
#ifndef AB_TRACE_TOOLS_SLOT_CHECK_H
#define AB_TRACE_TOOLS_SLOT_CHECK_H

#include "trace/event.h"

#include <stddef.h>

struct ab_live_block {
    uint64_t number;                 /* of its allocation, counted over the file from 0 */
    uint64_t size;                   /* of its last successful call */
    uint64_t align;                  /* that still holds: 0 once the block was resized */
    uint64_t born_event, born_bytes; /* its allocation's event; bytes asked for up to and with it */
    uint32_t thread;                 /* that made it: by its allocation or its last resize */
    uint8_t kind;                    /* of its allocation; AB_EVENT_ALLOC once it was resized */
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

#endif
