/* SPDX-License-Identifier: MIT
 *
 * Live blocks by allocation number: open addressing with backward-shift deletion, memory O(live).
 */
#ifndef AB_TRACE_LIVE_MAP_H
#define AB_TRACE_LIVE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_live {
    uint64_t slot : 28;
    uint64_t number : 36; /* of its allocation, + 1; 0 = empty place */
    uint64_t size;
};
#define AB_LIVE_NUMBERS ((UINT64_C(1) << 36) - 1)

struct ab_live_map {
    struct ab_live *places;
    size_t n, mask; /* mask + 1 places, at most half of them used */
};

void ab_live_map_fini(struct ab_live_map *m);
/* Makes room for one more. False when out of memory. */
bool ab_live_map_grow(struct ab_live_map *m);

/* Numbers come nearly in order, and order is what a multiplicative hash spreads well; four that
 * follow each other lie in one cache line, as they are asked for together. The numbers are counted by
 * the reader itself, so no file can choose keys that collide. */
static inline size_t ab_live_map_home(const struct ab_live_map *m, uint64_t key)
{
    return (size_t)(((key >> 2) * 0x9e3779b97f4a7c15u >> 20 << 2) + (key & 3)) & m->mask;
}

/* NULL when the block is not live; the pointer holds until the next add or remove. */
static inline struct ab_live *ab_live_map_find(const struct ab_live_map *m, uint64_t number)
{
    if (m->places == NULL || number >= AB_LIVE_NUMBERS)
        return NULL;
    for (size_t i = ab_live_map_home(m, number + 1); m->places[i].number != 0;
         i = (i + 1) & m->mask)
        if (m->places[i].number == number + 1)
            return &m->places[i];
    return NULL;
}

/* False when out of memory, or of numbers (AB_LIVE_NUMBERS). `number` must not be in it. */
static inline bool ab_live_map_add(struct ab_live_map *m, uint64_t number, uint64_t size,
                                   uint32_t slot)
{
    if (number >= AB_LIVE_NUMBERS || (m->n * 2 >= m->mask && !ab_live_map_grow(m)))
        return false;
    size_t i = ab_live_map_home(m, number + 1);
    while (m->places[i].number != 0)
        i = (i + 1) & m->mask;
    m->places[i] = (struct ab_live){.slot = slot & ((1u << 28) - 1),
                                    .number = (number + 1) & AB_LIVE_NUMBERS,
                                    .size = size};
    m->n++;
    return true;
}

void ab_live_map_remove(struct ab_live_map *m, struct ab_live *found);

/* Tells the processor that `number` will be added or looked for soon. */
static inline void ab_live_map_prefetch(const struct ab_live_map *m, uint64_t number)
{
    if (m->places != NULL)
        __builtin_prefetch(&m->places[ab_live_map_home(m, number + 1)], 1);
}

#endif
