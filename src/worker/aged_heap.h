/* SPDX-License-Identifier: MIT
 *
 * The aged heap of a run. Lane 0 allocates and frees blocks before the first op, in every pass that
 * measures. The blocks that are left stay live to the end of the run; nothing frees them.
 */
#ifndef AB_WORKER_AGED_HEAP_H
#define AB_WORKER_AGED_HEAP_H

#include "worker/worker.h"

struct ab_given;

struct ab_aged_heap {
    struct ab_aging_plan plan;
    struct ab_aging_count foreseen;
    struct ab_aging_block *blocks;
    uint64_t n_blocks;     /* blocks that remain live; 0 until the heap is aged */
    struct ab_facts facts; /* sum of the tape's facts and those of the aged heap */
    bool is_made;
};

/* Plans the aged heap. Called after the tape is mapped, before the heap and the memory pass are
 * opened. Does nothing if the request asks for no aged heap. */
void ab_aged_heap_open(struct ab_worker *w);
/* Returns the most blocks that aging may allocate; 0 = the heap is not aged. */
static inline uint64_t ab_aged_heap_most_blocks(const struct ab_worker *w)
{
    return w->aging != NULL ? w->aging->foreseen.made_blocks : 0;
}
/* Returns the facts of the tape; if the heap is aged, those of the tape and the aged heap
 * together. */
static inline const struct ab_facts *ab_aged_heap_facts(const struct ab_worker *w)
{
    return w->aging != NULL ? &w->aging->facts : &w->image->facts;
}
/* Ages the heap, once; called on the thread of lane 0. */
void ab_aged_heap_make(struct ab_lane *lane);
/* Writes the i-th of the blocks that remain live to *out; returns false past the end. */
bool ab_aged_heap_block(const struct ab_worker *w, uint64_t i, struct ab_given *out);

#endif
