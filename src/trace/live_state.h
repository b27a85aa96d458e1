/* SPDX-License-Identifier: MIT
 *
 * State of a trace while it is read or written: the live blocks, their slots, and the totals.
 * Reader and writer agree because they use the same code.
 */
#ifndef AB_TRACE_LIVE_STATE_H
#define AB_TRACE_LIVE_STATE_H

#include "base/bits.h"
#include "trace/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Map of live blocks by allocation number; memory O(live peak). Numbers come in order and most
 * blocks die young, so that the number of a block gives its first place in the table of young
 * blocks. That place is found without a search, and blocks allocated one after the other are
 * neighbours in memory. If a later number needs the place of a living block, that block moves to
 * the table of old blocks (open addressing, backward-shift deletion). */

struct ab_live {
    uint64_t slot : 28;
    uint64_t number : 36; /* allocation number + 1; 0 = the entry is empty */
    uint64_t size;
};
#define AB_LIVE_NUMBERS ((UINT64_C(1) << 36) - 1)

struct ab_live_table {
    /* array of mask + 1 places; at most half of the places of `old` are used */
    struct ab_live *places;
    size_t n, mask;
};

struct ab_live_map {
    struct ab_live_table young, old; /* young.n counts all live blocks, including those in `old` */
};

void ab_live_map_fini(struct ab_live_map *m);
/* Makes the table of young blocks larger. */
void ab_live_map_grow(struct ab_live_map *m);
/* Copies a young block to the table of old blocks, so that its place can be overwritten. */
void ab_live_map_age(struct ab_live_map *m, struct ab_live *young);
struct ab_live *ab_live_map_find_old(const struct ab_live_map *m, uint64_t number);
void ab_live_map_remove_old(struct ab_live_map *m, struct ab_live *found);

/* Returns the index in the table of old blocks at which the search for `number` begins. A
 * multiplicative hash spreads numbers well. Files cannot choose colliding numbers, because the
 * reader numbers the blocks itself. */
static inline size_t ab_live_home(const struct ab_live_table *old, uint64_t number)
{
    return (size_t)(number * 0x9e3779b97f4a7c15u >> 20) & old->mask;
}

/* Returns the entry of a live block; NULL if the block is not live. The pointer is valid until the
 * next add or remove. */
static inline struct ab_live *ab_live_map_find(const struct ab_live_map *m, uint64_t number)
{
    if (m->young.places == NULL || number >= AB_LIVE_NUMBERS)
        return NULL;
    struct ab_live *young = &m->young.places[number & m->young.mask];
    return young->number == number + 1 ? young : ab_live_map_find_old(m, number);
}

/* Adds a block whose number is not in the map. Returns false if the number is too large
 * (AB_LIVE_NUMBERS). */
static inline bool ab_live_map_add(struct ab_live_map *m, uint64_t number, uint64_t size,
                                   uint32_t slot)
{
    if (number >= AB_LIVE_NUMBERS)
        return false;
    if (m->young.n * 2 >= m->young.mask)
        ab_live_map_grow(m);
    struct ab_live *young = &m->young.places[number & m->young.mask];
    if (young->number != 0)
        ab_live_map_age(m, young);
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

/* Prefetches the places in both tables of a block that is needed soon. Always inline, because gcc
 * drops a call to a function that only prefetches. */
static inline __attribute__((always_inline)) void ab_live_map_prefetch(const struct ab_live_map *m,
                                                                       uint64_t number)
{
    if (m->young.places != NULL)
        __builtin_prefetch(&m->young.places[number & m->young.mask], 1);
    if (m->old.places != NULL)
        __builtin_prefetch(&m->old.places[ab_live_home(&m->old, number)], 1);
}

struct ab_account {
    struct ab_trace_info info; /* totals so far; live_end_…: blocks that are live now */
    struct ab_live_map live;
    uint64_t next_number;
    uint32_t *free_slots; /* stack: the last freed slot is reused first */
    size_t n_free_slots, cap_free_slots;
    uint8_t *ended; /* one bit per thread that has ended; NULL until a thread ends */
    uint64_t live_blocks_max, live_bytes_max;
};

void ab_account_init(struct ab_account *a);
void ab_account_fini(struct ab_account *a);

/* Checks one event against the live blocks, adds it to the totals, and sets its block and slot.
 * Returns NULL, or what is wrong as the end of a sentence. */
const char *ab_account_take(struct ab_account *a, struct ab_event *e);

/* Processes n events and copies them to `out`. Returns the number of events taken: n, or the number
 * of events before the first wrong one, for which *wrong says what is wrong. */
size_t ab_account_take_all(struct ab_account *a, const struct ab_event *events, size_t n,
                           struct ab_event *out, const char **wrong);

/* ---- for a caller who tracks the live blocks ----
 *
 * The caller passes the old size of a block, and numbers threads in the right order. The map `live`
 * stays empty, and no slots are given. Inline, because conversion calls these functions for each
 * event. */

/* Checks a new block of new_size bytes (is_new), or a block that is resized from old_size to
 * new_size. Returns NULL, or what is wrong. */
const char *ab_account_check_known(const struct ab_account *a, uint64_t old_size, uint64_t new_size,
                                   bool is_new);

/* Adds an event of any kind to the totals, and numbers the block that an allocation gives. Returns
 * NULL, or what is wrong. */
const char *ab_account_take_known(struct ab_account *a, struct ab_event *e, uint64_t old_size);
/* Completes the totals after the last event. */
void ab_account_end_known(struct ab_account *a);

static inline void ab_account_count(struct ab_account *a, unsigned kind, uint32_t thread)
{
    a->info.threads += thread == a->info.threads;
    a->info.events++;
    a->info.ops[kind]++;
}

static inline void ab_account_drop_known(struct ab_account *a, uint64_t old_size)
{
    a->info.live_end_blocks--;
    a->info.live_end_bytes -= old_size;
}

/* True if a block of old_size (0 = new) may get new_size bytes. The sum of all sizes ever requested
 * is never less than the sum of the live blocks, so that checking the former for overflow covers
 * both. */
static inline bool ab_account_has_room(const struct ab_account *a, uint64_t old_size,
                                       uint64_t new_size)
{
    return new_size <= INT64_MAX - a->info.total_bytes &&
           a->info.live_end_bytes - old_size + new_size <= a->live_bytes_max;
}

static inline const char *ab_account_resize_known(struct ab_account *a, uint64_t old_size,
                                                  uint64_t new_size)
{
    if (AB_UNLIKELY(!ab_account_has_room(a, old_size, new_size)))
        return ab_account_check_known(a, old_size, new_size, false);
    a->info.total_bytes += new_size;
    a->info.live_end_bytes += new_size - old_size;
    if (a->info.live_end_bytes > a->info.live_peak_bytes)
        a->info.live_peak_bytes = a->info.live_end_bytes;
    return NULL;
}

static inline const char *ab_account_give_known(struct ab_account *a, uint64_t size,
                                                uint64_t *number)
{
    if (AB_UNLIKELY(a->info.live_end_blocks >= a->live_blocks_max ||
                    !ab_account_has_room(a, 0, size)))
        return ab_account_check_known(a, 0, size, true);
    *number = a->next_number++;
    if (++a->info.live_end_blocks > a->info.live_peak_blocks)
        a->info.live_peak_blocks = a->info.live_end_blocks;
    return ab_account_resize_known(a, 0, size);
}

#endif
