/* SPDX-License-Identifier: MIT
 *
 * Kept allocations ask for what the block has now: its last size, and the alignment it was given
 * unless a resize has moved it since. They belong to the thread that made the block.
 */
#include "trace_tools/cut.h"

#include "base/bits.h"
#include "trace_tools/rewrite.h"

#include <stdlib.h>

struct part {
    struct ab_site_table sites; /* of the whole file; blocks that are kept have none */
    struct ab_rewrite_marks marks;
    struct ab_mark_table kept_marks;
    bool is_keeping_live;
    FILE *to;
    struct ab_rewrite part;
    struct ab_original whole;
    uint64_t begin, end; /* the range, in calls */
    bool has_first;      /* an event of the range has been written */
    uint64_t first_us;   /* time of the first one, which becomes 0 */
    struct ab_cut_report report;
};

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
        status = ab_rewrite_put(&p->part, &p->whole, &alloc, err);
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
    struct ab_trace_writer_options options = {.program = batch->info->program,
                                              .sites = &p->sites,
                                              .marks = &p->kept_marks,
                                              .has_time = batch->info->has_time};
    p->marks.has_time = batch->info->has_time || p->begin == 0;
    p->marks.from_us = batch->info->has_time ? UINT64_MAX : 0; /* until an event is put */
    if (p->begin > 0) /* they end what is before the range */
        ab_rewrite_marks_skip(&p->marks, p->begin);
    enum ab_status status = ab_trace_writer_open_with(p->to, &options, &p->part.writer, err);
    return status == AB_OK && p->is_keeping_live ? keep_live(p, batch->book, err) : status;
}

static enum ab_status put_event(struct part *p, const struct ab_event *e, struct ab_err *err)
{
    struct ab_event own = *e;
    if (!ab_original_knows(&p->whole, e)) {
        p->report.n_dropped += e->kind != AB_EVENT_THREAD_END;
        return AB_OK;
    }
    if (!p->has_first)
        p->first_us = p->marks.from_us = e->time_us;
    p->has_first = true;
    own.time_us = e->time_us - p->first_us;
    return ab_rewrite_put(&p->part, &p->whole, &own, err);
}

/* A part from the first event on begins with the same inherited blocks. */
static enum ab_status inherit(struct part *p, const struct ab_walk_batch *batch, struct ab_err *err)
{
    uint64_t n = batch->info->inherited, most = p->end - p->begin;
    return ab_trace_writer_inherit(p->part.writer, n < most ? n : most, err);
}

static enum ab_status put_marks(struct part *p, uint64_t call, struct ab_err *err)
{
    return ab_rewrite_marks_put(&p->marks, &p->part, &p->whole, call, &p->kept_marks, err);
}

static enum ab_status visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct part *p = user;
    enum ab_status status = AB_OK;
    if (batch->where == AB_WALK_BEGIN)
        return begin(p, batch, err);
    if (batch->where == AB_WALK_EVENTS && batch->first == 0 && batch->info->inherited > 0)
        status = inherit(p, batch, err);
    uint64_t number = batch->first;
    for (size_t i = 0; i < batch->n && status == AB_OK; i++) {
        bool is_call = batch->events[i].kind != AB_EVENT_THREAD_END;
        if (is_call)
            status = put_marks(p, number, err);
        if (status == AB_OK)
            status = put_event(p, &batch->events[i], err);
        number += is_call;
    }
    if (status == AB_OK && batch->where == AB_WALK_END)
        status = put_marks(p, p->end, err);
    return status;
}

enum ab_status ab_trace_cut(const struct ab_walk *walk, bool is_keeping_live, FILE *to,
                            struct ab_cut_report *report, struct ab_err *err)
{
    struct part p = {
        .is_keeping_live = is_keeping_live, .to = to, .begin = walk->begin, .end = walk->end};
    struct ab_walk own = *walk;
    own.has_thread_ends = true;
    own.visit = visit;
    own.user = &p;
    own.sites = &p.sites;
    own.marks = &p.marks.from;
    enum ab_status status = ab_trace_walk(&own, NULL, err);
    if (status == AB_OK) {
        status = ab_trace_writer_close(p.part.writer, &p.report.info, err);
        p.part.writer = NULL;
    }
    if (status == AB_OK)
        *report = p.report;
    ab_trace_writer_abandon(p.part.writer);
    ab_original_fini(&p.whole);
    ab_site_table_fini(&p.sites);
    ab_rewrite_marks_fini(&p.marks);
    ab_mark_table_fini(&p.kept_marks);
    return status;
}
