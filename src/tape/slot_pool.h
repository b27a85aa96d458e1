/* SPDX-License-Identifier: MIT
 *
 * Assigns slots to blocks that have no fixed position: blocks of recorded programs, of lists,
 * regions and queues of a workload, and of sets whose blocks move. A slot belongs to the lane that
 * took it first. If that lane frees it, it is reused youngest first. If another lane frees it, its
 * own lane reuses it only after some time idle, so that an alloc seldom waits for another lane's
 * free.
 *
 * So lanes that share no block share no slot. They share no cache line either, because slots are
 * assigned by the line. A lane takes another's slot only if more slots are idle than in use. This
 * keeps the number of slots in proportion to the live blocks.
 */
#ifndef AB_TAPE_SLOT_POOL_H
#define AB_TAPE_SLOT_POOL_H

#include "core/status.h"
#include "tape/tape.h"

enum {
    AB_SLOTS_A_LINE = 8,    /* slots of 16 bytes: two cache lines, which processors fetch
                               together */
    AB_SLOT_IDLE = 4096,    /* ops for which a slot that another lane freed stays idle */
    AB_SLOTS_SPARE = 65536, /* idle slots beyond those in use, before a lane takes another's */
};

struct ab_pooled_slot;

struct ab_slot_pool {
    uint32_t first; /* first slot of the pool; the slots below it belong to fixed positions */
    uint32_t n;
    size_t cap;
    struct ab_pooled_slot *slots;
    uint32_t *alone; /* while a single lane uses the pool: its n_free free slots, the youngest on
                        top */
    uint32_t only;   /* the single lane that uses the pool; none once the pool is shared */
    bool is_shared;
    uint32_t n_free, n_taken;
    uint32_t oldest, youngest; /* youngest and oldest of all free slots */
    struct ab_lane_slots {
        uint32_t top;        /* youngest slot that the lane freed itself */
        uint32_t head, tail; /* slots freed by others: oldest and youngest */
        uint32_t next, end;  /* unused rest of the line of slots that the lane took last */
    } of[AB_LANES_MAX];
    /* ops at the beginning of the phase: slots freed before it need not stay idle */
    uint64_t barrier;
};

void ab_slot_pool_init(struct ab_slot_pool *pool, uint32_t first);
void ab_slot_pool_fini(struct ab_slot_pool *pool);

/* Take a slot for a lane, and give one back. `now` is the number of ops so far. */
void ab_slot_pool_take(struct ab_slot_pool *pool, uint32_t lane, uint64_t now, uint32_t *slot);
void ab_slot_pool_give(struct ab_slot_pool *pool, uint32_t lane, uint64_t now, uint32_t slot);

#endif
