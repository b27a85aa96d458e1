/* SPDX-License-Identifier: MIT
 *
 * Free slots hang in two doubly linked lists: all of them by age, and those of each lane by age.
 * The oldest of all is then the oldest of its lane too, so that both ends come off in one step.
 */
#include "trace/slot_pool.h"

#include <stdlib.h>

#define NONE UINT32_MAX

struct ab_pooled_slot {
    uint64_t freed_at;
    uint32_t older, newer; /* of all */
    uint32_t below, above; /* of the same lane */
    uint32_t lane;
};

void ab_slot_pool_init(struct ab_slot_pool *pool, uint32_t first)
{
    *pool = (struct ab_slot_pool){.first = first, .oldest = NONE, .youngest = NONE};
    for (uint32_t i = 0; i < AB_LANES_MAX; i++)
        pool->top[i] = NONE;
}

void ab_slot_pool_fini(struct ab_slot_pool *pool)
{
    free(pool->slots);
    pool->slots = NULL;
}

static uint32_t unlink_slot(struct ab_slot_pool *pool, uint32_t index)
{
    struct ab_pooled_slot *s = &pool->slots[index];
    *(s->older != NONE ? &pool->slots[s->older].newer : &pool->oldest) = s->newer;
    *(s->newer != NONE ? &pool->slots[s->newer].older : &pool->youngest) = s->older;
    *(s->above != NONE ? &pool->slots[s->above].below : &pool->top[s->lane]) = s->below;
    if (s->below != NONE)
        pool->slots[s->below].above = s->above;
    return pool->first + index;
}

static bool grow(struct ab_slot_pool *pool)
{
    uint32_t cap = pool->cap < 256 ? 256 : pool->cap * 2;
    struct ab_pooled_slot *grown = realloc(pool->slots, (size_t)cap * sizeof *grown);
    if (grown == NULL)
        return false;
    pool->slots = grown;
    pool->cap = cap;
    return true;
}

bool ab_slot_pool_take(struct ab_slot_pool *pool, uint32_t lane, uint64_t now, uint32_t *slot)
{
    uint32_t own = pool->top[lane], oldest = pool->oldest;
    if (own != NONE) {
        *slot = unlink_slot(pool, own);
        return true;
    }
    if (oldest != NONE) {
        uint64_t freed_at = pool->slots[oldest].freed_at;
        if (freed_at <= pool->barrier || now - freed_at > AB_WINDOW_MOST) {
            *slot = unlink_slot(pool, oldest);
            return true;
        }
    }
    if (pool->n == pool->cap && !grow(pool))
        return false;
    *slot = pool->first + pool->n++;
    return true;
}

void ab_slot_pool_give(struct ab_slot_pool *pool, uint32_t lane, uint64_t now, uint32_t slot)
{
    uint32_t index = slot - pool->first;
    pool->slots[index] = (struct ab_pooled_slot){.freed_at = now, .older = pool->youngest,
                                                 .newer = NONE, .below = pool->top[lane],
                                                 .above = NONE, .lane = lane};
    *(pool->youngest != NONE ? &pool->slots[pool->youngest].newer : &pool->oldest) = index;
    if (pool->top[lane] != NONE)
        pool->slots[pool->top[lane]].above = index;
    pool->youngest = pool->top[lane] = index;
}
