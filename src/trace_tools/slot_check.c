/* SPDX-License-Identifier: MIT
 *
 * Follows the blocks of a trace by slot, and finds every call that is not possible.
 */
#include "trace_tools/slot_check.h"

#include "core/grow.h"
#include "core/status.h"

#include <stdlib.h>

void ab_trace_book_fini(struct ab_trace_book *b)
{
    free(b->slots);
    free(b->ended);
    *b = (struct ab_trace_book){0};
}

/* Slots are dense: one beyond those known is the next new one. */
static const char *grow(struct ab_trace_book *b, uint32_t slot)
{
    if (slot > b->n_slots)
        return "an allocation in a slot past the next new one";
    AB_GROW(b->slots, b->cap_slots, slot);
    b->slots[b->n_slots++] = (struct ab_live_block){0};
    b->totals.slots = b->n_slots;
    return NULL;
}

static void note_live(struct ab_trace_info *t, uint64_t old_size, uint64_t new_size)
{
    t->live_end_bytes += new_size - old_size;
    t->total_bytes += new_size;
    if (t->live_end_bytes > t->live_peak_bytes)
        t->live_peak_bytes = t->live_end_bytes;
    if (t->live_end_blocks > t->live_peak_blocks)
        t->live_peak_blocks = t->live_end_blocks;
}

static const char *take_alloc(struct ab_trace_book *b, const struct ab_event *e,
                              struct ab_live_block *was)
{
    if (e->slot >= b->n_slots) {
        const char *wrong = grow(b, e->slot);
        if (wrong != NULL)
            return wrong;
    }
    struct ab_live_block *block = &b->slots[e->slot];
    if (block->is_live)
        return "an allocation of a block that is live";
    if (e->block != b->next_number)
        return "an allocation whose number is not the next";
    *block = (struct ab_live_block){
        .number = b->next_number++,
        .size = e->size,
        .align = e->align,
        .born_event = b->totals.events,
        .born_bytes = b->totals.total_bytes + e->size,
        .thread = e->thread,
        .kind = e->kind,
        .is_live = true,
    };
    *was = *block;
    b->totals.live_end_blocks++;
    note_live(&b->totals, 0, e->size);
    return NULL;
}

static const char *take_known(struct ab_trace_book *b, const struct ab_event *e,
                              struct ab_live_block *was)
{
    bool is_free = e->kind == AB_EVENT_FREE;
    if (e->slot >= b->n_slots || !b->slots[e->slot].is_live)
        return is_free ? "a free of a block that is not live"
                       : "a resize of a block that is not live";
    struct ab_live_block *block = &b->slots[e->slot];
    if (e->block != block->number)
        return "a block with the number of another";
    *was = *block;
    if (is_free || e->released) {
        block->is_live = false;
        b->totals.live_end_blocks--;
        note_live(&b->totals, block->size, 0);
    } else if (!e->failed) {
        note_live(&b->totals, block->size, e->size);
        block->size = e->size;
        block->align = 0;
        block->kind = AB_EVENT_ALLOC;
        block->thread = e->thread;
    }
    return NULL;
}

static bool has_ended(const struct ab_trace_book *b, uint32_t thread)
{
    return thread / 8 < b->cap_ended && (b->ended[thread / 8] >> thread % 8 & 1) != 0;
}

static const char *end_thread(struct ab_trace_book *b, uint32_t thread)
{
    if (thread >= b->totals.threads)
        return "the end of a thread without calls";
    AB_GROW_ZEROED(b->ended, b->cap_ended, thread / 8);
    b->ended[thread / 8] |= (uint8_t)(1u << thread % 8);
    b->totals.thread_ends++;
    return NULL;
}

static const char *check_order(const struct ab_trace_book *b, const struct ab_event *e)
{
    if (e->thread > b->totals.threads)
        return "a thread whose number is not the next new one";
    if (has_ended(b, e->thread))
        return "an event of a thread that has ended";
    return e->time_us < b->totals.time_us ? "a time before that of the event before" : NULL;
}

const char *ab_trace_book_take(struct ab_trace_book *b, const struct ab_event *e,
                               struct ab_live_block *was)
{
    const char *wrong = e->kind > AB_EVENT_THREAD_END ? "an event of unknown kind"
                                                      : check_order(b, e);
    was->is_live = false;
    if (wrong != NULL)
        return wrong;
    b->totals.time_us = e->time_us;
    if (e->kind == AB_EVENT_THREAD_END)
        return end_thread(b, e->thread);
    if (e->kind == AB_EVENT_FREE || e->kind == AB_EVENT_RESIZE)
        wrong = take_known(b, e, was);
    else if (!e->failed)
        wrong = take_alloc(b, e, was);
    if (wrong != NULL)
        return wrong;
    if (e->thread == b->totals.threads)
        b->totals.threads++;
    b->totals.events++;
    b->totals.ops[e->kind]++;
    b->totals.failed += e->failed;
    return NULL;
}
