/* SPDX-License-Identifier: MIT
 *
 * Counts sizes, lifetimes, alignments and frees by other threads, event by event.
 */
#include "trace_tools/trace_stats.h"

#include "core/grow.h"

#include <stdbool.h>
#include <stdlib.h>

void ab_survey_fini(struct ab_survey *s)
{
    free(s->threads);
    *s = (struct ab_survey){0};
}

/* Threads are numbered densely in the order of their first event: the walk has checked it. */
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

/* A survey may begin in the middle: it goes on from what lives there. */
static bool begin(struct ab_survey *s, const struct ab_walk_batch *batch)
{
    const struct ab_trace_info *before = &batch->book->totals;
    s->n_events = batch->first;
    s->total_bytes = before->total_bytes;
    s->live_bytes = before->live_end_bytes;
    s->live_blocks = before->live_end_blocks;
    for (uint32_t i = 0; i < before->threads; i++)
        if (thread_of(s, i) == NULL)
            return false;
    return true;
}

enum ab_status ab_survey_visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct ab_survey *s = user;
    if (batch->where == AB_WALK_BEGIN && !begin(s, batch))
        return ab_fail(err, AB_SYSTEM, "out of memory");
    for (size_t i = 0; i < batch->n; i++) {
        const struct ab_event *e = &batch->events[i];
        struct ab_survey_thread *t = thread_of(s, e->thread);
        if (t == NULL)
            return ab_fail(err, AB_SYSTEM, "out of memory");
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
