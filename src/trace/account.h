/* SPDX-License-Identifier: MIT
 *
 * What reader and writer both know of a trace while it passes: which blocks live, in which slots,
 * and the totals. The two agree because they are the same code.
 */
#ifndef AB_TRACE_ACCOUNT_H
#define AB_TRACE_ACCOUNT_H

#include "trace/live_map.h"
#include "trace/reader.h"
#include "trace/writer.h"

struct ab_account {
    struct ab_trace_info info;
    struct ab_live_map live;
    uint64_t next_number;
    uint64_t n_live, live_bytes;
    uint32_t *free_slots; /* stack: last freed is first reused */
    size_t n_free_slots, cap_free_slots;
    uint8_t *ended; /* by thread: one bit; NULL as long as none has ended */
    uint64_t live_blocks_max, live_bytes_max;
};

void ab_account_init(struct ab_account *a);
void ab_account_fini(struct ab_account *a);

/* Takes one event: checks it against what is live, numbers the new block, gives it a slot.
 * NULL, or what is wrong as the end of a sentence. */
const char *ab_account_take(struct ab_account *a, const struct ab_trace_record *r,
                            struct ab_event *out, uint64_t *number);

/* The same for n of them, each into its place in out. Returns how many were taken: all, or those
 * before the one with which something is wrong. */
size_t ab_account_take_all(struct ab_account *a, const struct ab_trace_record *records, size_t n,
                           struct ab_event *out, const char **wrong);

/* The same for a caller who keeps the live blocks: who knows that a block is live, what its size
 * was, and what the threads are. `live` stays empty; no slots are given. */
const char *ab_account_take_known(struct ab_account *a, const struct ab_trace_record *r,
                                  uint64_t old_size, uint64_t *number);

#endif
