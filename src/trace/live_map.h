/* SPDX-License-Identifier: MIT
 *
 * Live blocks by allocation number, memory O(live peak). Numbers come in order and most blocks die young,
 * so a block begins in the place that its number names: no search, and neighbours in time are
 * neighbours in memory. Whoever still lives there when a later number needs the place moves to
 * a table of the old, with open addressing and backward-shift deletion.
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

struct ab_live_table {
    struct ab_live *places; /* mask + 1, at most half of them used */
    size_t n, mask;
};

struct ab_live_map {
    struct ab_live_table young, old; /* n: of young all that live, in either */
};

void ab_live_map_fini(struct ab_live_map *m);
/* Makes room for one more young. False when out of memory. */
bool ab_live_map_grow(struct ab_live_map *m);
/* Moves a young block to the old ones. False when out of memory. */
bool ab_live_map_age(struct ab_live_map *m, struct ab_live *young);
struct ab_live *ab_live_map_find_old(const struct ab_live_map *m, uint64_t number);
void ab_live_map_remove_old(struct ab_live_map *m, struct ab_live *found);

/* Numbers are what a multiplicative hash spreads well, and as the reader counts them itself, no file
 * can choose ones that collide. */
static inline size_t ab_live_home(const struct ab_live_table *old, uint64_t number)
{
    return (size_t)(number * 0x9e3779b97f4a7c15u >> 20) & old->mask;
}

/* NULL when the block is not live; the pointer holds until the next add or remove. */
static inline struct ab_live *ab_live_map_find(const struct ab_live_map *m, uint64_t number)
{
    if (m->young.places == NULL || number >= AB_LIVE_NUMBERS)
        return NULL;
    struct ab_live *young = &m->young.places[number & m->young.mask];
    return young->number == number + 1 ? young : ab_live_map_find_old(m, number);
}

/* False when out of memory, or of numbers (AB_LIVE_NUMBERS). `number` must not be in it. */
static inline bool ab_live_map_add(struct ab_live_map *m, uint64_t number, uint64_t size,
                                   uint32_t slot)
{
    if (number >= AB_LIVE_NUMBERS || (m->young.n * 2 >= m->young.mask && !ab_live_map_grow(m)))
        return false;
    struct ab_live *young = &m->young.places[number & m->young.mask];
    if (young->number != 0 && !ab_live_map_age(m, young))
        return false;
    *young = (struct ab_live){
        .slot = slot & ((1u << 28) - 1), .number = (number + 1) & AB_LIVE_NUMBERS, .size = size};
    m->young.n++;
    return true;
}

static inline void ab_live_map_remove(struct ab_live_map *m, struct ab_live *found)
{
    m->young.n--;
    if ((size_t)(found - m->young.places) <= m->young.mask)
        found->number = 0;
    else
        ab_live_map_remove_old(m, found);
}

/* Prefetches for a `number` that will be added or looked for soon. Always inline: a call of
 * what does nothing else is left out by gcc. */
static inline __attribute__((always_inline)) void ab_live_map_prefetch(const struct ab_live_map *m,
                                                                       uint64_t number)
{
    if (m->young.places != NULL)
        __builtin_prefetch(&m->young.places[number & m->young.mask], 1);
    if (m->old.places != NULL)
        __builtin_prefetch(&m->old.places[ab_live_home(&m->old, number)], 1);
}

#endif
