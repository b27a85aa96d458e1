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

/* classes of lifetimes by the log2 of the number of calls in between, up to 2^39; the last class
 * has all longer lifetimes */
enum { AB_SITE_LIVES = 40 };

struct ab_site_stat {
    /* calls: number of calls that gave a block; resizes: number of resizes among these calls */
    uint64_t calls, resizes;
    uint64_t failed;                  /* number of calls that gave no block */
    uint64_t bytes;                   /* bytes requested by these calls */
    uint64_t live_bytes, live_blocks; /* bytes and blocks that are live at the end of the trace */
    /* bytes and blocks that are live at the peak of the live bytes of the whole trace */
    uint64_t peak_bytes, peak_blocks;
    uint64_t frees; /* number of frees of blocks of this site */
    /* number of blocks that were freed before the next allocation of the same thread */
    uint64_t temporary;
    uint64_t size_least, size_most;
    /* lifetimes of freed blocks in calls; class 0 = no call in between */
    uint32_t lives[AB_SITE_LIVES];
    /* internal: number of the peak to which peak_bytes and peak_blocks belong */
    uint64_t peak_number;
};

struct ab_site_stats {          /* zero-initialize it */
    struct ab_site_stat *sites; /* by site number; 0 = calls whose site is not known */
    size_t n, cap;
    uint32_t *site_of_slot;
    size_t cap_slots;
    uint64_t *last_block; /* number of a thread's last allocation + 1, by thread */
    size_t cap_threads;
    uint64_t live_bytes, peak_bytes, peak_number, n_events;
    /* lifetimes of all freed blocks, by the class of the block's last size */
    uint64_t lives[AB_CLASS_COUNT][AB_SITE_LIVES];
    uint64_t live_by_size[AB_CLASS_COUNT]; /* number of live blocks, by class of size */
};

/* Visitor for struct ab_walk; `user` is the stats. */
enum ab_status ab_site_stats_visit(void *user, const struct ab_walk_batch *batch,
                                   struct ab_err *err);
void ab_site_stats_fini(struct ab_site_stats *s);

/* Returns the median lifetime of freed blocks in calls, rounded up to the end of its class (a power
 * of two minus one). UINT64_MAX = no block was freed. */
uint64_t ab_site_stat_median_life(const struct ab_site_stat *s);

#endif
