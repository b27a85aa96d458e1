/* SPDX-License-Identifier: MIT
 *
 * Reader and writer both know of a trace while it passes which blocks live, in which slots, and the
 * totals. The two agree because they are the same code.
 */
#ifndef AB_TRACE_LIVE_STATE_H
#define AB_TRACE_LIVE_STATE_H

#include "base/bits.h"
#include "trace/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Live blocks by allocation number, memory O(live peak). Numbers come in order and most blocks die young,
 * so a block begins in the place that its number names: no search, and neighbours in time are
 * neighbours in memory. Whoever still lives there when a later number needs the place moves to
 * a table of the old, with open addressing and backward-shift deletion. */

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
/* Makes room for one more young. */
void ab_live_map_grow(struct ab_live_map *m);
/* Moves a young block to the old ones. */
void ab_live_map_age(struct ab_live_map *m, struct ab_live *young);
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

/* False when there is no such number (AB_LIVE_NUMBERS). `number` must not be in it. */
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

struct ab_account {
    struct ab_trace_info info; /* live_end_…: what lives now */
    struct ab_live_map live;
    uint64_t next_number;
    uint32_t *free_slots; /* stack: last freed is first reused */
    size_t n_free_slots, cap_free_slots;
    uint8_t *ended; /* by thread: one bit; NULL as long as none has ended */
    uint64_t live_blocks_max, live_bytes_max;
};

void ab_account_init(struct ab_account *a);
void ab_account_fini(struct ab_account *a);

/* Takes one event: checks it against what is live, sets its block and slot. NULL, or what is wrong
 * as the end of a sentence. */
const char *ab_account_take(struct ab_account *a, struct ab_event *e);

/* The same for n of them, each copied to its place in out. Returns how many were taken: all, or those
 * before the one with which something is wrong. */
size_t ab_account_take_all(struct ab_account *a, const struct ab_event *events, size_t n,
                           struct ab_event *out, const char **wrong);

/* ---- for a caller who keeps the live blocks ----
 * He knows that a block is live, what its size was, and what the threads are. `live` stays empty;
 * no slots are given. Conversion goes through here for each call, therefore inline. */

/* Says what is wrong with a block that is given (is_new) or gets another size; NULL = nothing. */
const char *ab_account_check_known(const struct ab_account *a, uint64_t old_size, uint64_t new_size,
                                   bool is_new);

/* Any event; sets the block of one that gives a new one. */
const char *ab_account_take_known(struct ab_account *a, struct ab_event *e, uint64_t old_size);
/* Completes the info, once all of them are taken. */
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

/* The total of all sizes ever given is never less than that of the blocks which live: whatever it
 * has room for, they have. */
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
