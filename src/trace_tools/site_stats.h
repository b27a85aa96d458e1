/* SPDX-License-Identifier: MIT
 *
 * What each call site of a trace did: how often it allocated, how much, how long its blocks lived
 * and what of them was there at the peak. Gathered in one pass; memory O(sites + live peak).
 *
 * A resize is a call of its own site, which the block belongs to from then on; its lifetime goes on.
 */
#ifndef AB_TRACE_TOOLS_SITE_STATS_H
#define AB_TRACE_TOOLS_SITE_STATS_H

#include "trace_tools/trace_stats.h"
#include "trace_tools/walk.h"

enum { AB_SITE_LIVES = 40 }; /* by log2 of the calls between: up to 2^39, and the rest */

struct ab_site_stat {
    uint64_t calls, resizes;          /* that gave a block; those of them that are resizes */
    uint64_t failed;                  /* that gave none */
    uint64_t bytes;                   /* asked for by these calls */
    uint64_t live_bytes, live_blocks; /* in the end: never freed */
    uint64_t peak_bytes, peak_blocks; /* at the peak of the whole trace's live bytes */
    uint64_t frees;                   /* of its blocks */
    uint64_t temporary;               /* of these: before the next allocation of its thread */
    uint64_t size_least, size_most;
    uint32_t lives[AB_SITE_LIVES]; /* of freed blocks: by calls between, class 0 = none */
    uint64_t peak_number;          /* internal: of the peak that peak_… belong to */
};

struct ab_site_stats {          /* begins as {0} */
    struct ab_site_stat *sites; /* by number; 0 = calls whose site is not known */
    size_t n, cap;
    uint32_t *site_of_slot;
    size_t cap_slots;
    uint64_t *last_block; /* by thread: number of the one that it allocated last + 1 */
    size_t cap_threads;
    uint64_t live_bytes, peak_bytes, peak_number, n_events;
    uint64_t lives[AB_CLASS_COUNT][AB_SITE_LIVES]; /* of all freed blocks, by their last size too */
    uint64_t live_by_size[AB_CLASS_COUNT];         /* blocks that live */
};

/* For struct ab_walk: user is the stats. */
enum ab_status ab_site_stats_visit(void *user, const struct ab_walk_batch *batch,
                                   struct ab_err *err);
void ab_site_stats_fini(struct ab_site_stats *s);

/* Calls between allocation and free that half of its freed blocks do not exceed: the upper end of
 * a class, a power of two less one. UINT64_MAX = none was freed. */
uint64_t ab_site_stat_median_life(const struct ab_site_stat *s);

#endif
