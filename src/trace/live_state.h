/* SPDX-License-Identifier: MIT
 *
 * What reader and writer both know of a trace while it passes: which blocks live, in which slots,
 * and the totals. The two agree because they are the same code.
 */
#ifndef AB_TRACE_LIVE_STATE_H
#define AB_TRACE_LIVE_STATE_H

#include "base/bits.h"
#include "trace/event.h"
#include "trace/live_map.h"

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

/* What is wrong with a block that is given (is_new) or gets another size; NULL = nothing. */
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
