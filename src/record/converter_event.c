/* SPDX-License-Identifier: MIT
 *
 * What one event of a spool becomes in the trace: numbers threads and allocations, joins the two
 * halves of a resize, and knows frees of blocks that were never given out.
 */
#include "record/converter.h"

#include "base/bits.h"
#include "core/grow.h"
#include "trace/format.h"

static enum ab_status no_memory(struct ab_err *err)
{
    return ab_fail(err, AB_SYSTEM, "out of memory for the live blocks");
}

/* Threads are numbered by their first event that is in the trace. Beyond what a trace can number,
 * all have the last number, which then never ends. */
static void number_thread(struct ab_converter *c, struct ab_convert_lane *lane)
{
    lane->has_thread = true;
    if (c->n_threads < AB_TRACE_THREADS_MAX)
        c->n_threads++;
    else
        c->report->n_shared_threads++;
    lane->thread = c->n_threads - 1;
}

/* Of the event that is at the head of the lane; of none that was inherited. */
static uint64_t time_of(struct ab_converter *c, const struct ab_convert_lane *lane)
{
    if (!c->has_time || lane->stream.at == NULL)
        return 0;
    return ab_convert_marks_time(c->marks, AB_SPOOL_STAMP(lane->stream.at));
}

static inline enum ab_status put(struct ab_converter *c, struct ab_convert_lane *lane,
                                 struct ab_event *record, uint64_t old_size, uint64_t *number,
                                 struct ab_err *err)
{
    if (AB_UNLIKELY(c->writer == NULL)) {
        if (ab_event_gives_block(record))
            *number = c->next_number++;
        return AB_OK;
    }
    if (AB_UNLIKELY(!lane->has_thread))
        number_thread(c, lane);
    record->thread = lane->thread;
    record->time_us = time_of(c, lane);
    return ab_trace_write_known(c->writer, record, old_size, number, err);
}

static uint32_t site_of_call(struct ab_converter *c, struct ab_convert_lane *lane)
{
    uint32_t site = ab_stream_sites_of_call(lane->sites);
    c->report->n_cut_sites += site != 0 && c->sites->stacks[site - 1].end >= AB_SITE_NO_TABLE;
    return site;
}

static enum ab_status put_free(struct ab_converter *c, struct ab_convert_lane *lane,
                               struct ab_held *held, struct ab_err *err)
{
    uint64_t size = held->size, number = ab_held_number(held);
    ab_address_map_remove(&c->live, held);
    if (AB_UNLIKELY(c->writer == NULL))
        return AB_OK;
    if (AB_UNLIKELY(c->has_time))
        return put(c, lane, &(struct ab_event){.kind = AB_EVENT_FREE, .block = number}, size, NULL,
                   err);
    if (AB_UNLIKELY(!lane->has_thread))
        number_thread(c, lane);
    return ab_trace_write_free(c->writer, lane->thread, number, size, err);
}

/* The block at an address that is given out has been given back unseen. */
static enum ab_status free_stale(struct ab_converter *c, struct ab_convert_lane *lane,
                                 struct ab_held *stale, struct ab_err *err)
{
    c->report->n_reused++;
    return put_free(c, lane, stale, err);
}

/* An empty place for a block at an address that is given out. */
static inline enum ab_status find_place(struct ab_converter *c, struct ab_convert_lane *lane,
                                        uint64_t address, struct ab_held **out, struct ab_err *err)
{
    if (AB_UNLIKELY(!ab_address_map_has_room(&c->live)) && !ab_address_map_grow(&c->live))
        return no_memory(err);
    *out = ab_address_map_seek(&c->live, address);
    if (AB_LIKELY((*out)->key == 0))
        return AB_OK;
    enum ab_status status = free_stale(c, lane, *out, err);
    *out = ab_address_map_seek(&c->live, address);
    return status;
}

static enum ab_status put_timed_alloc(struct ab_converter *c, struct ab_convert_lane *lane,
                                      struct ab_trace_alloc alloc, uint64_t size, uint64_t *number,
                                      struct ab_err *err)
{
    struct ab_event record = {.kind = alloc.kind, .site = alloc.site, .size = size};
    if (alloc.kind == AB_EVENT_ALLOC_ALIGNED)
        record.align = UINT64_C(1) << alloc.log2;
    return put(c, lane, &record, 0, number, err);
}

static inline enum ab_status put_alloc(struct ab_converter *c, struct ab_convert_lane *lane,
                                       struct ab_trace_alloc alloc, uint64_t size, uint64_t *number,
                                       struct ab_err *err)
{
    if (AB_UNLIKELY(c->writer == NULL)) {
        *number = c->next_number++;
        return AB_OK;
    }
    if (AB_UNLIKELY(!lane->has_thread))
        number_thread(c, lane);
    if (AB_UNLIKELY(c->has_time))
        return put_timed_alloc(c, lane, alloc, size, number, err);
    alloc.thread = lane->thread;
    return ab_trace_write_alloc(c->writer, alloc, size, number, err);
}

static enum ab_status convert_failed_alloc(struct ab_converter *c, struct ab_convert_lane *lane,
                                           struct ab_trace_alloc alloc, uint64_t size,
                                           struct ab_err *err)
{
    struct ab_event record = {.kind = alloc.kind, .failed = true, .site = alloc.site, .size = size};
    if (alloc.kind == AB_EVENT_ALLOC_ALIGNED)
        record.align = UINT64_C(1) << alloc.log2;
    return put(c, lane, &record, 0, NULL, err);
}

static enum ab_status convert_alloc(struct ab_converter *c, struct ab_convert_lane *lane,
                                    const struct ab_spool_event *e, struct ab_err *err)
{
    static const uint8_t kinds[] = {
        [AB_SPOOL_ALLOC] = AB_EVENT_ALLOC,
        [AB_SPOOL_ZEROED] = AB_EVENT_ALLOC_ZEROED,
        [AB_SPOOL_ALIGNED] = AB_EVENT_ALLOC_ALIGNED,
    };
    uint64_t address = AB_SPOOL_ADDRESS(e), size = e->size, number = 0;
    struct ab_trace_alloc alloc = {.kind = kinds[AB_SPOOL_KIND(e)]};
    struct ab_held *place = NULL;
    if (AB_UNLIKELY(alloc.kind == AB_EVENT_ALLOC_ALIGNED))
        alloc.log2 = (uint8_t)AB_SPOOL_LOG2(e);
    if (AB_UNLIKELY(lane->sites != NULL))
        alloc.site = site_of_call(c, lane);
    if (AB_UNLIKELY(address == 0))
        return convert_failed_alloc(c, lane, alloc, size, err);
    enum ab_status status = find_place(c, lane, address, &place, err);
    if (AB_LIKELY(status == AB_OK))
        status = put_alloc(c, lane, alloc, size, &number, err);
    if (AB_LIKELY(status == AB_OK))
        ab_address_map_fill(&c->live, place,
                            ab_held_of(address, alloc.log2, number, alloc.kind, size));
    return status;
}

static enum ab_status convert_free(struct ab_converter *c, struct ab_convert_lane *lane,
                                   const struct ab_spool_event *e, struct ab_err *err)
{
    struct ab_held *held = ab_address_map_find(&c->live, AB_SPOOL_ADDRESS(e));
    if (AB_LIKELY(held != NULL))
        return put_free(c, lane, held, err);
    c->report->n_foreign++;
    return AB_OK;
}

static enum ab_status begin_resize(struct ab_converter *c, struct ab_convert_lane *lane,
                                   const struct ab_spool_event *e, struct ab_err *err)
{
    if (!AB_GROW(lane->resizing, lane->cap_resizing, lane->n_resizing))
        return no_memory(err);
    struct ab_held *held = ab_address_map_find(&c->live, AB_SPOOL_ADDRESS(e));
    struct ab_resizing *r = &lane->resizing[lane->n_resizing++];
    *r = (struct ab_resizing){.address = AB_SPOOL_ADDRESS(e), .is_known = held != NULL};
    if (held != NULL) {
        r->held = *held;
        ab_address_map_remove(&c->live, held);
    }
    return AB_OK;
}

/* A resize that failed leaves its block as it was; else it is one that malloc may have given. */
static enum ab_status end_resize(struct ab_converter *c, struct ab_convert_lane *lane,
                                 const struct ab_spool_event *e, struct ab_err *err)
{
    if (lane->n_resizing == 0)
        return ab_fail(err, AB_INPUT, "the spool ends a resize that never began");
    struct ab_resizing r = lane->resizing[--lane->n_resizing];
    uint64_t moved = AB_SPOOL_ADDRESS(e);
    uint32_t site = site_of_call(c, lane);
    if (!r.is_known) {
        c->report->n_foreign++;
        return AB_OK;
    }
    uint64_t number = ab_held_number(&r.held);
    struct ab_event record = {.kind = AB_EVENT_RESIZE,
                              .site = site,
                              .block = number,
                              .size = e->size,
                              .failed = moved == 0 && e->size > 0,
                              .released = moved == 0 && e->size == 0};
    enum ab_status status = put(c, lane, &record, r.held.size, NULL, err);
    if (status != AB_OK || record.released)
        return status;
    if (!record.failed)
        r.held = ab_held_of(moved, 0, number, AB_EVENT_ALLOC, e->size);
    struct ab_held *place = NULL;
    status = find_place(c, lane, ab_held_address(&r.held), &place, err);
    if (status == AB_OK)
        ab_address_map_fill(&c->live, place, r.held);
    return status;
}

/* A thread that takes over a dead one's stream leaves what that one had begun unfinished: that one
 * ends here, which can be known also while the program runs. The birth is no call, and its stamp
 * not that of a first event. The thread that forked goes on as the one thread of the child, whose
 * number is its process's. */
static enum ab_status begin_thread(struct ab_converter *c, struct ab_convert_lane *lane,
                                   struct ab_err *err)
{
    struct ab_event end = {.kind = AB_EVENT_THREAD_END,
                           .thread = lane->thread,
                           .time_us = c->has_time ? c->marks->last_us : 0};
    bool has_ended = lane->has_thread && lane->thread < AB_TRACE_THREADS_MAX - 1;
    c->report->n_unfinished += lane->n_resizing;
    lane->n_resizing = 0;
    lane->stamp = AB_SPOOL_STAMP(lane->stream.at);
    ab_stream_sites_end_thread(lane->sites);
    lane->has_thread = false; /* it gets its number with its first call */
    if (c->has_forker && lane->stream.at->address == c->image->image.pid) {
        c->has_forker = false;
        lane->has_thread = true;
        lane->thread = 0;
    }
    return has_ended && c->writer != NULL ? ab_trace_write_known(c->writer, &end, 0, NULL, err)
                                          : AB_OK;
}

static enum ab_status take_site(struct ab_converter *c, struct ab_convert_lane *lane,
                                const struct ab_spool_event *e, struct ab_err *err)
{
    c->n_sites += AB_SPOOL_KIND(e) == AB_SPOOL_SITE;
    return c->sites != NULL ? ab_stream_sites_take(&lane->sites, e, c->sites, err) : AB_OK;
}

static enum ab_status take_mark(struct ab_converter *c, const struct ab_convert_lane *lane,
                                const struct ab_spool_event *e, struct ab_err *err)
{
    if (c->marks == NULL || c->writer == NULL)
        return AB_OK;
    if (c->marks->base_stamp == 0 && c->first_stamp != UINT64_MAX && !c->has_time)
        c->marks->base_stamp = c->first_stamp;
    return ab_convert_marks_take(c->marks, e, ab_trace_writer_calls(c->writer),
                                 lane->has_thread ? lane->thread : AB_MARK_NO_THREAD, err);
}

enum ab_status ab_converter_take(struct ab_converter *c, struct ab_convert_lane *lane,
                                 struct ab_err *err)
{
    const struct ab_spool_event *e = lane->stream.at;
    enum ab_spool_kind kind = AB_SPOOL_KIND(e);
    switch (kind) {
    case AB_SPOOL_ALLOC:
    case AB_SPOOL_ZEROED:
    case AB_SPOOL_ALIGNED:
        return convert_alloc(c, lane, e, err);
    case AB_SPOOL_FREE:
        return convert_free(c, lane, e, err);
    case AB_SPOOL_RESIZE_BEGIN:
        return begin_resize(c, lane, e, err);
    case AB_SPOOL_RESIZE_END:
        return end_resize(c, lane, e, err);
    case AB_SPOOL_BIRTH:
        return begin_thread(c, lane, err);
    case AB_SPOOL_TRIAL:
        return AB_OK;
    case AB_SPOOL_FORK:
        c->has_reached = c->until_fork != 0 && e->address == c->until_fork;
        return AB_OK;
    case AB_SPOOL_SITE:
    case AB_SPOOL_FRAME:
    case AB_SPOOL_MODULE:
        return take_site(c, lane, e, err);
    case AB_SPOOL_MARK:
        return take_mark(c, lane, e, err);
    default:
        return ab_fail(err, AB_INPUT, "the spool holds an event of unknown kind %d", (int)kind);
    }
}

enum ab_status ab_converter_inherit(struct ab_converter *c, const struct ab_held *blocks, size_t n,
                                    struct ab_err *err)
{
    struct ab_convert_lane forker = {0}; /* writes as the thread that forked */
    enum ab_status status = AB_OK;
    if (n > 0 && c->writer != NULL)
        status = ab_trace_writer_inherit(c->writer, n, err);
    for (size_t i = 0; i < n && status == AB_OK; i++) {
        unsigned kind = blocks[i].number & 7, log2 = blocks[i].key & 63;
        struct ab_event record = {.kind = (uint8_t)kind, .size = blocks[i].size};
        uint64_t number = 0;
        if (kind == AB_EVENT_ALLOC_ALIGNED)
            record.align = UINT64_C(1) << log2;
        status = put(c, &forker, &record, 0, &number, err);
        struct ab_held held = ab_held_of(ab_held_address(&blocks[i]), log2, number, kind,
                                         blocks[i].size);
        if (status == AB_OK && !ab_address_map_add(&c->live, &held))
            status = no_memory(err);
    }
    c->has_forker = n > 0;
    c->report->n_inherited = n;
    return status;
}
