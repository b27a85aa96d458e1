/* SPDX-License-Identifier: MIT
 *
 * Slots for blocks that have no place of their own: blocks of recorded programs, of a workload's
 * lists, regions and queues, and of sets whose blocks move. A slot goes back to the lane that freed it and is taken again by it,
 * youngest first, so that an alloc seldom has to wait for another lane's free. A lane that frees
 * none takes the one that lies idle longest, once the skew window has gone by (or a barrier): then
 * no guard is needed either, and slots stay in proportion to the live blocks.
 */
#ifndef AB_TRACE_SLOT_POOL_H
#define AB_TRACE_SLOT_POOL_H

#include "core/status.h"
#include "trace/tape.h"

struct ab_pooled_slot;

struct ab_slot_pool {
    uint32_t first; /* slots below belong to positions */
    uint32_t n, cap;
    struct ab_pooled_slot *slots;
    uint32_t oldest, youngest;    /* of all that are free */
    uint32_t top[AB_LANES_MAX];   /* the youngest that each lane has freed */
    uint64_t barrier; /* ops when the phase began: what was freed before is free for all */
};

void ab_slot_pool_init(struct ab_slot_pool *pool, uint32_t first);
void ab_slot_pool_fini(struct ab_slot_pool *pool);

/* `now` counts ops. False when out of memory. */
bool ab_slot_pool_take(struct ab_slot_pool *pool, uint32_t lane, uint64_t now, uint32_t *slot);
void ab_slot_pool_give(struct ab_slot_pool *pool, uint32_t lane, uint64_t now, uint32_t slot);

#endif
