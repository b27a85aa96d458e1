/* SPDX-License-Identifier: MIT
 *
 * Statistics of each call site of a trace: number and size of allocations, lifetimes, and live
 * bytes at the peak. Gathered in one pass; memory O(sites + live peak).
 *
 * A resize is a call of its own site, to which the block then belongs; its lifetime continues.
 */
#ifndef AB_TRACE_TOOLS_SITE_STATS_H
#define AB_TRACE_TOOLS_SITE_STATS_H

#include "trace_tools/trace_stats.h"
#include "trace_tools/walk.h"

/* classes by log2 of the calls in between, up to 2^39; the last has the rest */
enum { AB_SITE_LIVES = 40 };

struct ab_site_stat {
    uint64_t calls, resizes;          /* calls that gave a block; resizes among them */
    uint64_t failed;                  /* calls that gave none */
    uint64_t bytes;                   /* bytes requested by these calls */
    uint64_t live_bytes, live_blocks; /* at the end: never freed */
    uint64_t peak_bytes, peak_blocks; /* at the peak of the live bytes of the whole trace */
    uint64_t frees;                   /* frees of its blocks */
    uint64_t temporary;               /* frees before the next allocation of the same thread */
    uint64_t size_least, size_most;
    /* lifetimes of freed blocks in calls; class 0 = no call in between */
    uint32_t lives[AB_SITE_LIVES];
    uint64_t peak_number; /* internal: number of the peak to which peak_… belong */
};

struct ab_site_stats {          /* zero-initialize it */
    struct ab_site_stat *sites; /* by number; 0 = calls whose site is not known */
    size_t n, cap;
    uint32_t *site_of_slot;
    size_t cap_slots;
    uint64_t *last_block; /* by thread: number of its last allocation + 1 */
    size_t cap_threads;
    uint64_t live_bytes, peak_bytes, peak_number, n_events;
    uint64_t lives[AB_CLASS_COUNT][AB_SITE_LIVES]; /* all freed blocks, also by their last size */
    uint64_t live_by_size[AB_CLASS_COUNT];         /* live blocks */
};

/* Visitor for struct ab_walk; `user` is the stats. */
enum ab_status ab_site_stats_visit(void *user, const struct ab_walk_batch *batch,
                                   struct ab_err *err);
void ab_site_stats_fini(struct ab_site_stats *s);

/* Returns the median lifetime of freed blocks in calls, rounded up to the end of its class (a
 * power of two minus one). UINT64_MAX = none was freed. */
uint64_t ab_site_stat_median_life(const struct ab_site_stat *s);

#endif
