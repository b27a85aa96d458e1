/* SPDX-License-Identifier: MIT
 *
 * Statistics that `trace info` and reports show beyond the totals: sizes, lifetimes, alignments,
 * frees by other threads, and the curve of live memory. Gathered in one pass.
 */
#ifndef AB_TRACE_TOOLS_TRACE_STATS_H
#define AB_TRACE_TOOLS_TRACE_STATS_H

#include "base/bits.h"
#include "tape/overview.h"
#include "trace_tools/walk.h"

/* ---- two summaries of fixed size for a stream of unknown length ----
 *
 * Counts in power-of-two classes, and a curve that doubles the width of its steps whenever it is
 * full. */

/* Classes by powers of two. Class 0 contains 0, class 1 contains 1, class k contains (2^(k-2),
 * 2^(k-1)]: the sizes that need a block of 2^(k-1) bytes. */
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

/* Return the first and last value of a class; the last value of the top class is 2^64 - 1. */
static inline uint64_t ab_class_from(unsigned k)
{
    return k < 2 ? k : (UINT64_C(1) << (k - 2)) + 1;
}
static inline uint64_t ab_class_to(unsigned k)
{
    return k == 0 ? 0 : k == AB_CLASS_COUNT - 1 ? UINT64_MAX : UINT64_C(1) << (k - 1);
}
uint64_t ab_classes_total(const struct ab_classes *c);

enum { AB_CURVE_STEPS = 960 };

struct ab_curve_step { /* maxima within the step; the two may be of different calls */
    uint64_t bytes, blocks;
};

struct ab_curve {
    uint64_t n_events, width; /* width: events per step, a power of two */
    struct ab_curve_step steps[AB_CURVE_STEPS];
};

void ab_curve_add(struct ab_curve *c, uint64_t bytes, uint64_t blocks);
size_t ab_curve_count(const struct ab_curve *c);
/* Reduces the curve to at most n columns. Returns the number of columns, which is less than n if
 * the curve has fewer steps. */
size_t ab_curve_columns(const struct ab_curve *c, struct ab_curve_step *out, size_t n);

struct ab_survey_thread {
    /* events: all calls; the other fields: successful calls */
    uint64_t events, allocs, resizes, frees;
    uint64_t remote_frees; /* number of frees of blocks of another thread */
};

struct ab_survey {
    struct ab_classes alloc_sizes, resize_sizes; /* requested bytes of successful calls */
    /* sum of the sizes of successful allocations, by class of size */
    uint64_t alloc_bytes[AB_CLASS_COUNT];
    /* lifetimes of freed blocks: number of calls, and of requested bytes, between allocation and
     * free */
    struct ab_classes life_events, life_bytes;
    /* number of aligned allocations, by log2 of the alignment */
    uint64_t aligns[64];
    uint64_t n_frees; /* number of freed blocks, including resizes to 0 */
    /* numbers of frees and resizes by another thread than that of the block */
    uint64_t n_remote_frees, n_remote_resizes;
    uint64_t n_events, total_bytes, live_bytes, live_blocks;
    /* sum of the sizes of allocations of AB_TRACE_LARGE or more, and of the growth by resizes to
     * such sizes; frees subtract nothing */
    uint64_t large_bytes;
    /* n_idle, idle_us: number and sum of the pauses of AB_IDLE_NS or more; time_us: time of the
     * last event */
    uint64_t n_idle, idle_us, time_us;
    struct ab_curve live;
    struct ab_survey_thread *threads;
    size_t n_threads, cap_threads;
};

/* Visitor for struct ab_walk; `user` is the survey, zero-initialized. Memory O(threads). */
enum ab_status ab_survey_visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err);
void ab_survey_fini(struct ab_survey *s);

/* Creates the overview of a trace from its events, one after the other. Blocks are found by the
 * reader's slots. */
struct ab_overview_maker;
struct ab_overview_maker *ab_overview_begin(void);
void ab_overview_take(struct ab_overview_maker *m, const struct ab_event *e);
void ab_overview_prefetch(const struct ab_overview_maker *m, uint32_t slot);
/* Finishes the overview. Call it once, after the last call. */
void ab_overview_end(struct ab_overview_maker *m, struct ab_overview *out);
void ab_overview_abandon(struct ab_overview_maker *m); /* m may be NULL */

#endif
