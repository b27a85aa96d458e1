/* SPDX-License-Identifier: MIT
 *
 * Hash table of live blocks by address, with the arguments of their allocations. Open addressing
 * with backward-shift deletion; memory O(live).
 */
#ifndef AB_RECORD_ADDRESS_MAP_H
#define AB_RECORD_ADDRESS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_held {  /* a live block */
    uint64_t key; /* address << 6 | log2 of the requested alignment; 0 = none */
    /* number of the allocation << 3 | kind of the allocation (enum ab_event_kind) */
    uint64_t number;
    uint64_t size;
};

struct ab_address_map {
    struct ab_held *places;
    size_t n, mask; /* mask + 1 places, at most half of them used */
};

static inline uint64_t ab_held_address(const struct ab_held *h)
{
    return h->key >> 6;
}

static inline uint64_t ab_held_number(const struct ab_held *h)
{
    return h->number >> 3;
}

static inline struct ab_held ab_held_of(uint64_t address, unsigned log2, uint64_t number,
                                        unsigned kind, uint64_t size)
{
    return (struct ab_held){address << 6 | log2, number << 3 | kind, size};
}

static inline size_t ab_address_map_home(const struct ab_address_map *m, uint64_t address)
{
    return (size_t)((address >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 32) & m->mask;
}

/* Returns the place of the block at `address`, or the empty place (key 0) for it. */
static inline struct ab_held *ab_address_map_seek(const struct ab_address_map *m, uint64_t address)
{
    size_t i = ab_address_map_home(m, address);
    while (m->places[i].key != 0 && ab_held_address(&m->places[i]) != address)
        i = (i + 1) & m->mask;
    return &m->places[i];
}

/* Returns the entry of the block at `address`; NULL if it is not in the map. The pointer is valid
 * until the next add or remove. */
static inline struct ab_held *ab_address_map_find(const struct ab_address_map *m, uint64_t address)
{
    struct ab_held *place = ab_address_map_seek(m, address);
    return place->key != 0 ? place : NULL;
}

static inline void ab_address_map_prefetch(const struct ab_address_map *m, uint64_t address)
{
    __builtin_prefetch(&m->places[ab_address_map_home(m, address)], 1);
}

void ab_address_map_init(struct ab_address_map *m);
void ab_address_map_fini(struct ab_address_map *m);
/* Doubles the number of places. */
void ab_address_map_grow(struct ab_address_map *m);
/* Fills an empty place that ab_address_map_seek has returned. The map must have had room before
 * that call. */
static inline void ab_address_map_fill(struct ab_address_map *m, struct ab_held *place,
                                       struct ab_held held)
{
    *place = held;
    m->n++;
}
static inline bool ab_address_map_has_room(const struct ab_address_map *m)
{
    return m->n * 2 < m->mask;
}
/* Adds a block. Its address must not be 0 or already in the map. */
static inline void ab_address_map_add(struct ab_address_map *m, const struct ab_held *held)
{
    if (!ab_address_map_has_room(m))
        ab_address_map_grow(m);
    ab_address_map_fill(m, ab_address_map_seek(m, ab_held_address(held)), *held);
}
void ab_address_map_remove(struct ab_address_map *m, struct ab_held *found);

/* Returns all blocks in the order of their allocations; free the result. */
struct ab_held *ab_address_map_sorted(const struct ab_address_map *m);

#endif
