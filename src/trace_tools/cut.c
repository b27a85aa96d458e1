/* SPDX-License-Identifier: MIT
 *
 * Kept allocations ask for what the block has now: its last size, and the alignment it was given
 * unless a resize has moved it since. They belong to the thread that made the block. Threads are
 * numbered anew, in the order of their first event in the part, as the format wants it.
 */
#include "trace_tools/cut.h"

#include "base/bits.h"
#include "core/grow.h"
#include "trace/writer.h"

#include <stdlib.h>

struct part {
    struct ab_site_table sites; /* of the whole file; blocks that are kept have none */
    bool is_keeping_live;
    FILE *to;
    struct ab_trace_writer *writer;
    uint64_t *numbers; /* by slot of the original: number in the part + 1; 0 = not in it */
    size_t cap_numbers;
    uint32_t *threads; /* by thread of the original: thread in the part + 1 */
    size_t cap_threads;
    uint32_t n_threads;
    uint64_t n_events_most; /* in the range */
    bool has_first;         /* an event of the range has been written */
    uint64_t first_us;      /* time of the first one, which becomes 0 */
    struct ab_cut_report report;
};

static bool find_thread(struct part *p, uint32_t thread, uint32_t *out)
{
    if (!AB_GROW_ZEROED(p->threads, p->cap_threads, thread))
        return false;
    if (p->threads[thread] == 0)
        p->threads[thread] = ++p->n_threads;
    *out = p->threads[thread] - 1;
    return true;
}

/* Writes one event with thread and slot of the original. */
static enum ab_status put(struct part *p, struct ab_event e, struct ab_err *err)
{
    uint64_t number = AB_NO_BLOCK;
    if (!find_thread(p, e.thread, &e.thread) || !AB_GROW_ZEROED(p->numbers, p->cap_numbers, e.slot))
        return ab_fail(err, AB_SYSTEM, "out of memory");
    enum ab_status status = ab_trace_write(p->writer, &e, &number, err);
    if (status == AB_OK && number != AB_NO_BLOCK)
        p->numbers[e.slot] = number + 1;
    return status;
}

struct kept {
    uint64_t number;
    uint32_t slot;
};

static int by_number(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    return AB_COMPARE(x->number, y->number);
}

static enum ab_status put_kept(struct part *p, const struct kept *kept, size_t n,
                               const struct ab_trace_book *book, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    for (size_t i = 0; i < n && status == AB_OK; i++) {
        const struct ab_live_block *block = &book->slots[kept[i].slot];
        struct ab_event alloc = {.kind = block->kind,
                                 .slot = kept[i].slot,
                                 .thread = block->thread,
                                 .size = block->size,
                                 .align = block->align};
        status = put(p, alloc, err);
    }
    return status;
}

static enum ab_status keep_live(struct part *p, const struct ab_trace_book *book,
                                struct ab_err *err)
{
    size_t n = 0;
    struct kept *kept = malloc((size_t)book->totals.live_end_blocks * sizeof kept[0] + 1);
    if (kept == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    for (uint32_t slot = 0; slot < book->n_slots; slot++)
        if (book->slots[slot].is_live)
            kept[n++] = (struct kept){book->slots[slot].number, slot};
    qsort(kept, n, sizeof kept[0], by_number);
    enum ab_status status = put_kept(p, kept, n, book, err);
    p->report.n_kept = n;
    free(kept);
    return status;
}

static enum ab_status begin(struct part *p, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct ab_trace_writer_options options = {
        .program = batch->info->program, .sites = &p->sites, .has_time = batch->info->has_time};
    enum ab_status status = ab_trace_writer_open_with(p->to, &options, &p->writer, err);
    return status == AB_OK && p->is_keeping_live ? keep_live(p, batch->book, err) : status;
}

static bool is_on_block(const struct ab_event *e)
{
    return e->kind == AB_EVENT_FREE || e->kind == AB_EVENT_RESIZE;
}

/* Is it of a block or thread that the part does not know? */
static bool is_foreign(const struct part *p, const struct ab_event *e)
{
    if (e->kind == AB_EVENT_THREAD_END)
        return e->thread >= p->cap_threads || p->threads[e->thread] == 0;
    return is_on_block(e) && (e->slot >= p->cap_numbers || p->numbers[e->slot] == 0);
}

static enum ab_status put_event(struct part *p, const struct ab_event *e, struct ab_err *err)
{
    struct ab_event own = *e;
    if (is_foreign(p, e)) {
        p->report.n_dropped += e->kind != AB_EVENT_THREAD_END;
        return AB_OK;
    }
    if (!p->has_first)
        p->first_us = e->time_us;
    p->has_first = true;
    own.time_us = e->time_us - p->first_us;
    if (is_on_block(e)) {
        own.block = p->numbers[e->slot] - 1;
        if (e->kind == AB_EVENT_FREE || e->released)
            p->numbers[e->slot] = 0;
    }
    return put(p, own, err);
}

/* A part from the first event on begins with the same inherited blocks. */
static enum ab_status inherit(struct part *p, const struct ab_walk_batch *batch, struct ab_err *err)
{
    uint64_t n = batch->info->inherited;
    return ab_trace_writer_inherit(p->writer, n < p->n_events_most ? n : p->n_events_most, err);
}

static enum ab_status visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct part *p = user;
    enum ab_status status = AB_OK;
    if (batch->where == AB_WALK_BEGIN)
        return begin(p, batch, err);
    if (batch->where == AB_WALK_EVENTS && batch->first == 0 && batch->info->inherited > 0)
        status = inherit(p, batch, err);
    for (size_t i = 0; i < batch->n && status == AB_OK; i++)
        status = put_event(p, &batch->events[i], err);
    return status;
}

enum ab_status ab_trace_cut(const struct ab_walk *walk, bool is_keeping_live, FILE *to,
                            struct ab_cut_report *report, struct ab_err *err)
{
    struct part p = {
        .is_keeping_live = is_keeping_live, .to = to, .n_events_most = walk->end - walk->begin};
    struct ab_walk own = *walk;
    own.has_thread_ends = true;
    own.visit = visit;
    own.user = &p;
    own.sites = &p.sites;
    enum ab_status status = ab_trace_walk(&own, NULL, err);
    if (status == AB_OK) {
        status = ab_trace_writer_close(p.writer, &p.report.info, err);
        p.writer = NULL;
    }
    if (status == AB_OK)
        *report = p.report;
    ab_trace_writer_abandon(p.writer);
    ab_site_table_fini(&p.sites);
    free(p.numbers);
    free(p.threads);
    return status;
}
