/* SPDX-License-Identifier: MIT
 *
 * Slots for blocks that have no place of their own: blocks of recorded programs, of a workload's
 * lists, regions and queues, and of sets whose blocks move. A slot belongs to the lane that took it
 * first. Freed by that lane it is taken again, youngest first; freed by another lane it is taken
 * again by its own once it has lain idle for a while, so that an alloc seldom waits for another
 * lane's free. So lanes that share no block share no slot and, slots being given out by the cache
 * line, no line either. Only where more slots lie idle than are in use does a lane take another's:
 * slots stay in proportion to the live blocks.
 */
#ifndef AB_TAPE_SLOT_POOL_H
#define AB_TAPE_SLOT_POOL_H

#include "core/status.h"
#include "tape/tape.h"

enum {
    AB_SLOTS_A_LINE = 8,    /* of 16 bytes: two cache lines, which processors fetch together */
    AB_SLOT_IDLE = 4096,    /* ops that a slot freed by another lane lies idle */
    AB_SLOTS_SPARE = 65536, /* idle ones beyond those in use, before a lane takes another's */
};

struct ab_pooled_slot;

struct ab_slot_pool {
    uint32_t first; /* slots below belong to positions */
    uint32_t n;
    size_t cap;
    struct ab_pooled_slot *slots;
    uint32_t *alone; /* as long as all is one lane's: its free ones, n_free, the youngest on top */
    uint32_t only;   /* that lane; none of them once it is shared */
    bool is_shared;
    uint32_t n_free, n_taken;
    uint32_t oldest, youngest; /* of all that are free */
    struct ab_lane_slots {
        uint32_t top;        /* the youngest that the lane freed itself */
        uint32_t head, tail; /* freed by others: oldest and youngest */
        uint32_t next, end;  /* of the line that it has taken and not yet used up */
    } of[AB_LANES_MAX];
    uint64_t barrier; /* ops when the phase began: what was freed before needs no idling */
};

void ab_slot_pool_init(struct ab_slot_pool *pool, uint32_t first);
void ab_slot_pool_fini(struct ab_slot_pool *pool);

/* `now` counts ops. */
void ab_slot_pool_take(struct ab_slot_pool *pool, uint32_t lane, uint64_t now, uint32_t *slot);
void ab_slot_pool_give(struct ab_slot_pool *pool, uint32_t lane, uint64_t now, uint32_t slot);

#endif
