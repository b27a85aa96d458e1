/* SPDX-License-Identifier: MIT
 *
 * Free slots are in two doubly linked lists: one of all slots by age, and one for each lane. A
 * lane's own list is a stack of slots that it freed, and a queue of slots that others freed. While
 * there is one lane, both lists are the same stack, which is an array. Most traces have one thread,
 * and their free slots stay untouched.
 */
#include "tape/slot_pool.h"

#include "base/bits.h"
#include "core/alloc.h"

#include <stdlib.h>

#define NONE UINT32_MAX

struct ab_pooled_slot {
    uint64_t freed_at;
    uint32_t older, newer; /* neighbours in the list of all free slots */
    uint32_t below, above; /* neighbours in the stack or queue of its lane */
    uint16_t home;         /* lane that the slot belongs to */
    bool is_queued;        /* True if another lane freed the slot */
};

void ab_slot_pool_init(struct ab_slot_pool *pool, uint32_t first)
{
    *pool = (struct ab_slot_pool){.first = first, .oldest = NONE, .youngest = NONE};
    for (uint32_t i = 0; i < AB_LANES_MAX; i++)
        pool->of[i] = (struct ab_lane_slots){.top = NONE, .head = NONE, .tail = NONE};
}

void ab_slot_pool_fini(struct ab_slot_pool *pool)
{
    free(pool->slots);
    free(pool->alone);
    pool->slots = NULL;
    pool->alone = NULL;
}

static uint32_t unlink_slot(struct ab_slot_pool *pool, uint32_t index)
{
    struct ab_pooled_slot *s = &pool->slots[index];
    struct ab_lane_slots *home = &pool->of[s->home];
    uint32_t *top = s->is_queued ? &home->tail : &home->top;
    *(s->older != NONE ? &pool->slots[s->older].newer : &pool->oldest) = s->newer;
    *(s->newer != NONE ? &pool->slots[s->newer].older : &pool->youngest) = s->older;
    *(s->above != NONE ? &pool->slots[s->above].below : top) = s->below;
    if (s->below != NONE)
        pool->slots[s->below].above = s->above;
    else if (s->is_queued)
        home->head = s->above;
    pool->n_free--;
    pool->n_taken++;
    return pool->first + index;
}

/* Makes room for one more line in both arrays, which have the same length. */
static void grow(struct ab_slot_pool *pool)
{
    size_t cap = pool->cap, last = (size_t)pool->n + AB_SLOTS_A_LINE - 1;
    if (!pool->is_shared)
        AB_GROW(pool->alone, cap, last);
    AB_GROW(pool->slots, pool->cap, last);
}

/* Takes the next slot of the lane's line, or the first of a new line. */
static void take_new(struct ab_slot_pool *pool, uint32_t lane, uint32_t *slot)
{
    struct ab_lane_slots *of = &pool->of[lane];
    if (of->next == of->end) {
        uint32_t in_line = (pool->first + pool->n) % AB_SLOTS_A_LINE;
        grow(pool);
        of->next = pool->n;
        of->end = pool->n += AB_SLOTS_A_LINE - in_line;
    }
    pool->slots[of->next].home = (uint16_t)lane;
    *slot = pool->first + of->next++;
    pool->n_taken++;
}

static void put_free(struct ab_slot_pool *pool, uint32_t lane, uint64_t now, uint32_t index)
{
    struct ab_pooled_slot *s = &pool->slots[index];
    struct ab_lane_slots *home = &pool->of[s->home];
    bool is_queued = lane != s->home;
    uint32_t *top = is_queued ? &home->tail : &home->top;
    *s = (struct ab_pooled_slot){.freed_at = now,
                                 .older = pool->youngest,
                                 .newer = NONE,
                                 .below = *top,
                                 .above = NONE,
                                 .home = s->home,
                                 .is_queued = is_queued};
    *(pool->youngest != NONE ? &pool->slots[pool->youngest].newer : &pool->oldest) = index;
    if (*top != NONE)
        pool->slots[*top].above = index;
    else if (is_queued)
        home->head = index;
    pool->youngest = *top = index;
}

/* Moves the free slots of the single lane from the array to the lists. Times of freeing are not
 * kept, because they do not matter for slots that their own lane freed. */
static __attribute__((noinline)) void share(struct ab_slot_pool *pool)
{
    for (uint32_t i = 0; i < pool->n_free; i++)
        put_free(pool, pool->only, 0, pool->alone[i]);
    free(pool->alone);
    pool->alone = NULL;
    pool->only = NONE;
    pool->is_shared = true;
}

/* True while only one lane uses the pool. Ends that state if `lane` is a second one. */
static inline bool is_alone(struct ab_slot_pool *pool, uint32_t lane)
{
    if (AB_LIKELY(lane == pool->only))
        return true;
    if (pool->is_shared)
        return false;
    if (pool->n == 0) {
        pool->only = lane;
        return true;
    }
    share(pool);
    return false;
}

void ab_slot_pool_take(struct ab_slot_pool *pool, uint32_t lane, uint64_t now, uint32_t *slot)
{
    const struct ab_lane_slots *of = &pool->of[lane];
    if (is_alone(pool, lane)) {
        if (pool->n_free == 0) {
            take_new(pool, lane, slot);
            return;
        }
        *slot = pool->first + pool->alone[--pool->n_free];
        pool->n_taken++;
        return;
    }
    if (of->top != NONE) {
        *slot = unlink_slot(pool, of->top);
        return;
    }
    if (of->head != NONE) {
        uint64_t freed_at = pool->slots[of->head].freed_at;
        if (freed_at <= pool->barrier || now - freed_at > AB_SLOT_IDLE) {
            *slot = unlink_slot(pool, of->head);
            return;
        }
    }
    if (pool->n_free > pool->n_taken + AB_SLOTS_SPARE) {
        *slot = unlink_slot(pool, pool->oldest);
        pool->slots[*slot - pool->first].home = (uint16_t)lane;
        return;
    }
    take_new(pool, lane, slot);
}

void ab_slot_pool_give(struct ab_slot_pool *pool, uint32_t lane, uint64_t now, uint32_t slot)
{
    if (is_alone(pool, lane))
        pool->alone[pool->n_free] = slot - pool->first;
    else
        put_free(pool, lane, now, slot - pool->first);
    pool->n_free++;
    pool->n_taken--;
}
