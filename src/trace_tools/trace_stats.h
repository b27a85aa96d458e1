/* SPDX-License-Identifier: MIT
 *
 * What `trace info` shows beyond the totals: sizes, lifetimes, alignments, who frees whose blocks,
 * and the curve of live memory. Gathered in one pass; memory O(threads) beside the walk's own.
 */
#ifndef AB_TRACE_TOOLS_TRACE_STATS_H
#define AB_TRACE_TOOLS_TRACE_STATS_H

#include "tape/overview.h"
#include "trace_tools/size_classes.h"
#include "trace_tools/walk.h"

struct ab_survey_thread {
    uint64_t events, allocs, resizes, frees; /* calls that succeeded, but events: all */
    uint64_t remote_frees;                   /* of these frees: of blocks of another thread */
};

struct ab_survey {
    struct ab_classes alloc_sizes, resize_sizes; /* bytes asked for by calls that succeeded */
    uint64_t alloc_bytes[AB_CLASS_COUNT];        /* what the allocations of each class sum up to */
    struct ab_classes life_events, life_bytes;   /* of freed blocks: calls, and bytes asked for by
                                                    any call, between allocation and free */
    uint64_t aligns[64];                         /* aligned allocations by log2 of the alignment */
    uint64_t n_frees;                            /* blocks freed, by resizes to 0 too */
    uint64_t n_remote_frees, n_remote_resizes;   /* by another thread than the block's */
    uint64_t n_events, total_bytes, live_bytes, live_blocks;
    struct ab_curve live;
    struct ab_survey_thread *threads;
    size_t n_threads, cap_threads;
};

/* For struct ab_walk: user is the survey, zero-initialised. */
enum ab_status ab_survey_visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err);
void ab_survey_fini(struct ab_survey *s);

/* The next call of a trace, for what it looks like at a glance; by the reader's slots. False = out of
 * memory. */
static inline bool ab_survey_look(struct ab_overview_maker *m, const struct ab_event *e)
{
    if (e->kind == AB_EVENT_FREE || e->released)
        ab_overview_free(m, e->slot, e->thread);
    else if (e->failed)
        ab_overview_idle(m);
    else if (e->kind == AB_EVENT_RESIZE)
        ab_overview_resize(m, e->slot, e->size);
    else
        ab_overview_alloc(m, e->slot, e->thread, e->size);
    return true;
}

#endif
