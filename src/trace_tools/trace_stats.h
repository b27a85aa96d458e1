/* SPDX-License-Identifier: MIT
 *
 * What `trace info` and reports show beyond the totals: sizes, lifetimes, alignments, who frees whose
 * blocks, and the curve of live memory. Gathered in one pass.
 */
#ifndef AB_TRACE_TOOLS_TRACE_STATS_H
#define AB_TRACE_TOOLS_TRACE_STATS_H

#include "base/bits.h"
#include "tape/overview.h"
#include "trace_tools/walk.h"

/* Two summaries of a stream whose length is not known before its end, both of fixed size: counts in
 * power-of-two classes, and a curve that doubles the width of its steps whenever it is full. */

/* Class 0 holds 0, class 1 holds 1, class k holds (2^(k-2), 2^(k-1)]: what fits into a block of
 * 2^(k-1) bytes and not into the next smaller one. */
enum { AB_CLASS_COUNT = 66 };

struct ab_classes {
    uint64_t n[AB_CLASS_COUNT];
};

static inline unsigned ab_class_of(uint64_t v)
{
    return v == 0 ? 0 : ab_log2_up(v) + 1;
}

static inline void ab_classes_add(struct ab_classes *c, uint64_t v)
{
    c->n[ab_class_of(v)]++;
}

/* First and last value of a class; the last of the topmost is 2^64 - 1. */
uint64_t ab_class_from(unsigned k);
uint64_t ab_class_to(unsigned k);
uint64_t ab_classes_total(const struct ab_classes *c);

enum { AB_CURVE_STEPS = 960 };

struct ab_curve_step { /* the highest values within the step; they need not be of one moment */
    uint64_t bytes, blocks;
};

struct ab_curve {
    uint64_t n_events, width; /* events a step; a power of two */
    struct ab_curve_step steps[AB_CURVE_STEPS];
};

void ab_curve_add(struct ab_curve *c, uint64_t bytes, uint64_t blocks);
size_t ab_curve_count(const struct ab_curve *c);
/* The curve in n columns or, when it has fewer steps, in as many; returns how many. */
size_t ab_curve_columns(const struct ab_curve *c, struct ab_curve_step *out, size_t n);

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
    uint64_t large_bytes; /* of blocks of AB_TRACE_LARGE or more, and what they grew by */
    uint64_t n_idle, idle_us, time_us; /* gaps of AB_IDLE_NS or more; time of the last event */
    struct ab_curve live;
    struct ab_survey_thread *threads;
    size_t n_threads, cap_threads;
};

/* For struct ab_walk: user is the survey, zero-initialised. Memory O(threads). */
enum ab_status ab_survey_visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err);
void ab_survey_fini(struct ab_survey *s);

/* Makes the overview of a trace, call by call, by the reader's slots. */
struct ab_overview_maker;
struct ab_overview_maker *ab_overview_begin(void);
void ab_overview_take(struct ab_overview_maker *m, const struct ab_event *e);
void ab_overview_prefetch(const struct ab_overview_maker *m, uint32_t slot);
/* Call it once, after the last call. */
void ab_overview_end(struct ab_overview_maker *m, struct ab_overview *out);
void ab_overview_abandon(struct ab_overview_maker *m); /* NULL is fine */

#endif
