/* SPDX-License-Identifier: MIT
 *
 * Counts sizes, lifetimes, alignments and frees by other threads.
 */
#include "trace_tools/trace_stats.h"

#include "core/alloc.h"
#include "tape/tape.h"

#include <stdbool.h>
#include <stdlib.h>

void ab_survey_fini(struct ab_survey *s)
{
    free(s->threads);
    *s = (struct ab_survey){0};
}

/* Returns the entry of a thread. The walk has checked that threads are numbered without gaps in
 * the order of their first event. */
static struct ab_survey_thread *thread_of(struct ab_survey *s, uint32_t thread)
{
    if (thread < s->n_threads)
        return &s->threads[thread];
    AB_GROW(s->threads, s->cap_threads, thread);
    s->threads[thread] = (struct ab_survey_thread){0};
    s->n_threads = thread + 1;
    return &s->threads[thread];
}

static void note_alloc(struct ab_survey *s, struct ab_survey_thread *t, const struct ab_event *e)
{
    unsigned class = ab_class_of(e->size);
    t->allocs++;
    s->alloc_sizes.n[class]++;
    s->alloc_bytes[class] += e->size;
    s->large_bytes += e->size >= AB_TRACE_LARGE ? e->size : 0;
    if (e->kind == AB_EVENT_ALLOC_ALIGNED)
        s->aligns[ab_log2(e->align)]++;
    s->live_blocks++;
    s->live_bytes += e->size;
    s->total_bytes += e->size;
}

static void note_resize(struct ab_survey *s, struct ab_survey_thread *t, const struct ab_event *e,
                        const struct ab_live_block *block)
{
    t->resizes++;
    ab_classes_add(&s->resize_sizes, e->size);
    s->n_remote_resizes += block->thread != e->thread;
    s->live_bytes += e->size - block->size;
    s->total_bytes += e->size;
    if (e->size >= AB_TRACE_LARGE && e->size > block->size)
        s->large_bytes += e->size - block->size;
}

static void note_free(struct ab_survey *s, struct ab_survey_thread *t, const struct ab_event *e,
                      const struct ab_live_block *block)
{
    bool is_remote = block->thread != e->thread;
    t->frees++;
    t->remote_frees += is_remote;
    s->n_frees++;
    s->n_remote_frees += is_remote;
    ab_classes_add(&s->life_events, s->n_events - block->born_event - 1);
    ab_classes_add(&s->life_bytes, s->total_bytes - block->born_bytes);
    s->live_blocks--;
    s->live_bytes -= block->size;
}

static void note_time(struct ab_survey *s, const struct ab_event *e)
{
    uint64_t gap = e->time_us - s->time_us;
    s->time_us = e->time_us;
    if (gap < AB_IDLE_NS / 1000)
        return;
    s->n_idle++;
    s->idle_us += gap;
}

/* Starts a survey, possibly in the middle of a trace, from the blocks that live there. */
static void begin(struct ab_survey *s, const struct ab_walk_batch *batch)
{
    const struct ab_trace_info *before = &batch->book->totals;
    s->n_events = batch->first;
    s->total_bytes = before->total_bytes;
    s->time_us = before->time_us;
    s->live_bytes = before->live_end_bytes;
    s->live_blocks = before->live_end_blocks;
    for (uint32_t i = 0; i < before->threads; i++)
        thread_of(s, i);
}

enum ab_status ab_survey_visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct ab_survey *s = user;
    (void)err;
    if (batch->where == AB_WALK_BEGIN)
        begin(s, batch);
    for (size_t i = 0; i < batch->n; i++) {
        const struct ab_event *e = &batch->events[i];
        struct ab_survey_thread *t = thread_of(s, e->thread);
        note_time(s, e);
        t->events++;
        if (e->kind == AB_EVENT_FREE || e->released)
            note_free(s, t, e, &batch->blocks[i]);
        else if (!e->failed && e->kind == AB_EVENT_RESIZE)
            note_resize(s, t, e, &batch->blocks[i]);
        else if (!e->failed)
            note_alloc(s, t, e);
        s->n_events++;
        ab_curve_add(&s->live, s->live_bytes, s->live_blocks);
    }
    return AB_OK;
}

/* ---- counts by powers of two, and a curve of fixed length ---- */

uint64_t ab_classes_total(const struct ab_classes *c)
{
    uint64_t sum = 0;
    for (unsigned k = 0; k < AB_CLASS_COUNT; k++)
        sum += c->n[k];
    return sum;
}

static void raise_to(struct ab_curve_step *step, uint64_t bytes, uint64_t blocks)
{
    if (bytes > step->bytes)
        step->bytes = bytes;
    if (blocks > step->blocks)
        step->blocks = blocks;
}

static void halve(struct ab_curve *c)
{
    for (size_t i = 0; i < AB_CURVE_STEPS / 2; i++) {
        struct ab_curve_step second = c->steps[2 * i + 1];
        c->steps[i] = c->steps[2 * i];
        raise_to(&c->steps[i], second.bytes, second.blocks);
    }
    for (size_t i = AB_CURVE_STEPS / 2; i < AB_CURVE_STEPS; i++)
        c->steps[i] = (struct ab_curve_step){0};
    c->width *= 2;
}

void ab_curve_add(struct ab_curve *c, uint64_t bytes, uint64_t blocks)
{
    if (c->width == 0)
        c->width = 1;
    if (c->n_events == c->width * AB_CURVE_STEPS)
        halve(c);
    raise_to(&c->steps[c->n_events >> ab_log2(c->width)], bytes, blocks);
    c->n_events++;
}

size_t ab_curve_count(const struct ab_curve *c)
{
    return c->width == 0 ? 0 : (size_t)((c->n_events + c->width - 1) / c->width);
}

size_t ab_curve_columns(const struct ab_curve *c, struct ab_curve_step *out, size_t n)
{
    size_t count = ab_curve_count(c);
    if (count < n)
        n = count;
    for (size_t i = 0; i < n; i++) {
        out[i] = (struct ab_curve_step){0};
        for (size_t k = count * i / n; k < count * (i + 1) / n; k++)
            raise_to(&out[i], c->steps[k].bytes, c->steps[k].blocks);
    }
    return n;
}

/* ---- the overview: 24 bytes per live block; the curve doubles the width of its steps whenever
 * it is full ---- */

/* Threads that are counted separately during the pass. All further threads share the last
 * number. */
enum { TOLD_APART = 256 };

struct block {
    uint64_t size, born;
    uint32_t thread; /* thread of the block + 1; 0 = no live block */
};

struct ab_overview_maker {
    struct ab_overview o;
    struct block *blocks; /* by slot */
    size_t cap_blocks;
    uint64_t live_bytes;
    uint64_t freed[TOLD_APART][TOLD_APART + 1];
};

struct ab_overview_maker *ab_overview_begin(void)
{
    struct ab_overview_maker *m = ab_alloc_zeroed(1, sizeof *m);
    m->o.step_calls = 1;
    return m;
}

void ab_overview_abandon(struct ab_overview_maker *m)
{
    if (m == NULL)
        return;
    free(m->blocks);
    free(m);
}

static uint32_t known(struct ab_overview_maker *m, uint32_t thread)
{
    if (thread >= m->o.n_threads)
        m->o.n_threads = thread + 1;
    return thread < TOLD_APART ? thread : TOLD_APART - 1;
}

static void halve_overview(struct ab_overview *o)
{
    for (uint32_t i = 0; i < AB_OVERVIEW_STEPS / 2; i++) {
        struct ab_overview_step a = o->live[2 * i], b = o->live[2 * i + 1];
        o->live[i].low = a.low < b.low ? a.low : b.low;
        o->live[i].high = a.high > b.high ? a.high : b.high;
    }
    o->n_steps = AB_OVERVIEW_STEPS / 2;
    o->step_calls *= 2;
}

/* Counts a finished call. A step begins with its first call. */
static void tick(struct ab_overview_maker *m)
{
    struct ab_overview *o = &m->o;
    uint64_t live = m->live_bytes;
    if ((o->n_calls & (o->step_calls - 1)) == 0) {
        if (o->n_steps == AB_OVERVIEW_STEPS)
            /* the number of steps is now even, so that a new step begins with this call */
            halve_overview(o);
        o->live[o->n_steps++] = (struct ab_overview_step){live, live};
    }
    struct ab_overview_step *step = &o->live[o->n_steps - 1];
    step->low = live < step->low ? live : step->low;
    step->high = live > step->high ? live : step->high;
    o->n_calls++;
}

void ab_overview_take(struct ab_overview_maker *m, const struct ab_event *e)
{
    struct ab_overview *o = &m->o;
    if (e->kind == AB_EVENT_FREE || e->released) {
        struct block *b = &m->blocks[e->slot];
        o->blocks[ab_overview_class(b->size)][ab_overview_class(o->n_calls - b->born)]++;
        m->freed[b->thread - 1][known(m, e->thread)]++;
        m->live_bytes -= b->size;
        b->thread = 0;
    } else if (!e->failed && e->kind == AB_EVENT_RESIZE) {
        m->live_bytes += e->size - m->blocks[e->slot].size;
        m->blocks[e->slot].size = e->size;
    } else if (!e->failed) {
        AB_GROW_ZEROED(m->blocks, m->cap_blocks, e->slot);
        m->blocks[e->slot] = (struct block){e->size, o->n_calls, known(m, e->thread) + 1};
        m->live_bytes += e->size;
    }
    tick(m);
}

void ab_overview_prefetch(const struct ab_overview_maker *m, uint32_t slot)
{
    if (slot < m->cap_blocks)
        __builtin_prefetch(&m->blocks[slot], 1);
}

static uint64_t blocks_of(const struct ab_overview_maker *m, uint32_t thread, uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += m->freed[thread][i] + m->freed[i][thread];
    return sum + m->freed[thread][TOLD_APART];
}

/* Sets row[t] to the row of thread t in *out. If there are more threads than rows, the busiest get
 * a row each, and the others share the last row. */
static void choose_rows(const struct ab_overview_maker *m, uint32_t n, struct ab_overview *out,
                        uint32_t *row)
{
    bool is_own[TOLD_APART] = {false};
    bool fits = m->o.n_threads <= AB_OVERVIEW_THREADS;
    uint32_t wanted = fits ? n : AB_OVERVIEW_THREADS - 1;
    /* the last number stands for more than one thread */
    uint32_t most = m->o.n_threads > TOLD_APART ? TOLD_APART - 1 : n;
    for (uint32_t k = 0; k < wanted; k++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t t = 0; t < most; t++)
            if (!is_own[t] && (best == UINT32_MAX || blocks_of(m, t, n) > blocks_of(m, best, n)))
                best = t;
        is_own[best] = true;
    }
    for (uint32_t t = 0; t < n; t++)
        if (is_own[t]) {
            row[t] = out->n_rows;
            out->thread[out->n_rows++] = (int32_t)t;
        } else
            row[t] = AB_OVERVIEW_THREADS - 1;
    if (!fits)
        out->thread[out->n_rows++] = AB_OVERVIEW_OTHERS;
}

/* Counts the blocks that are still live, as never freed. */
static void add_live(struct ab_overview_maker *m)
{
    for (size_t i = 0; i < m->cap_blocks; i++) {
        const struct block *b = &m->blocks[i];
        if (b->thread == 0)
            continue;
        m->o.blocks[ab_overview_class(b->size)][AB_OVERVIEW_CLASSES]++;
        m->freed[b->thread - 1][TOLD_APART]++;
    }
}

void ab_overview_end(struct ab_overview_maker *m, struct ab_overview *out)
{
    uint32_t row[TOLD_APART] = {0};
    uint32_t n = m->o.n_threads < TOLD_APART ? m->o.n_threads : TOLD_APART;
    add_live(m);
    *out = m->o;
    choose_rows(m, n, out, row);
    for (uint32_t a = 0; a < n; a++) {
        for (uint32_t f = 0; f < n; f++)
            out->freed[row[a]][row[f]] += m->freed[a][f];
        out->freed[row[a]][out->n_rows] += m->freed[a][TOLD_APART];
    }
}
