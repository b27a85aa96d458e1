/* SPDX-License-Identifier: MIT
 *
 * One array split into live and empty positions with its inverse, and a doubly linked list by age:
 * 16 bytes a position.
 */
#include "workload/generate/live_set.h"

#include "core/memory.h"

#include <stdlib.h>

void ab_live_set_init(struct ab_live_set *s, uint32_t n)
{
    *s = (struct ab_live_set){.oldest = AB_NO_POSITION, .youngest = AB_NO_POSITION};
    ab_live_set_grow(s, n);
}

/* The four arrays lie one after the other in one block. */
static void point_into(struct ab_live_set *s, uint32_t *memory, size_t n)
{
    s->members = memory;
    s->where = memory + n;
    s->older = memory + 2 * n;
    s->newer = memory + 3 * n;
}

void ab_live_set_grow(struct ab_live_set *s, uint32_t n)
{
    struct ab_live_set old = *s;
    if (n == 0)
        return;
    uint32_t *memory = ab_alloc((size_t)n * 4 * sizeof *memory);
    point_into(s, memory, n);
    for (uint32_t i = 0; i < old.n; i++) {
        s->members[i] = old.members[i];
        s->where[i] = old.where[i];
        s->older[i] = old.older[i];
        s->newer[i] = old.newer[i];
    }
    for (uint32_t i = old.n; i < n; i++)
        s->members[i] = s->where[i] = i;
    s->n = n;
    free(old.members);
}

void ab_live_set_fini(struct ab_live_set *s)
{
    free(s->members);
    *s = (struct ab_live_set){0};
}

/* Puts two entries of members in each other's place. */
static void exchange(struct ab_live_set *s, uint32_t i, uint32_t j)
{
    uint32_t a = s->members[i], b = s->members[j];
    s->members[i] = b;
    s->members[j] = a;
    s->where[a] = j;
    s->where[b] = i;
}

void ab_live_set_add(struct ab_live_set *s, uint32_t position)
{
    exchange(s, s->where[position], s->n_live++);
    s->older[position] = s->youngest;
    s->newer[position] = AB_NO_POSITION;
    if (s->youngest != AB_NO_POSITION)
        s->newer[s->youngest] = position;
    else
        s->oldest = position;
    s->youngest = position;
}

void ab_live_set_remove(struct ab_live_set *s, uint32_t position)
{
    uint32_t older = s->older[position], newer = s->newer[position];
    exchange(s, s->where[position], --s->n_live);
    *(older != AB_NO_POSITION ? &s->newer[older] : &s->oldest) = newer;
    *(newer != AB_NO_POSITION ? &s->older[newer] : &s->youngest) = older;
}

void ab_live_set_oldest(const struct ab_live_set *s, uint32_t *out, uint32_t n, uint64_t step)
{
    uint32_t position = s->oldest;
    for (uint32_t i = 0; i < n; i++) {
        out[i] = position;
        for (uint64_t k = 0; k < step && position != AB_NO_POSITION; k++)
            position = s->newer[position];
    }
}

void ab_live_set_youngest(const struct ab_live_set *s, uint32_t *out, uint32_t n)
{
    uint32_t position = s->youngest;
    for (uint32_t i = 0; i < n; i++, position = s->older[position])
        out[i] = position;
}

void ab_live_set_shuffled(struct ab_live_set *s, uint32_t *out, uint32_t n, struct ab_rng *rng)
{
    for (uint32_t i = 0; i < n; i++) { /* Fisher-Yates, as far as it is needed */
        exchange(s, i, i + (uint32_t)ab_rng_below(rng, s->n_live - i));
        out[i] = s->members[i];
    }
}
