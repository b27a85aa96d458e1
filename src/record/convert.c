/* SPDX-License-Identifier: MIT */
#include "record/convert.h"

#include "core/bits.h"
#include "trace/format.h"
#include "trace/live_map.h"
#include "trace/writer.h"

#include <stdlib.h>
#include <string.h>

/* From its begin to its end a block that is resized is in nobody's hands: its address may be given
 * to another thread or a signal handler meanwhile. */
struct resizing {
    uint64_t address, number;
    bool is_known;
};

struct lane { /* one stream, and the thread that writes it */
    struct ab_stream stream;
    uint32_t thread;
    bool has_thread, is_parked;
    uint64_t stamp;   /* of the event before */
    struct resizing *resizing; /* begun, not yet ended: signal handlers nest */
    size_t n_resizing, cap_resizing;
};

struct converter {
    const char *folder;
    const struct ab_spool_entry *image;
    struct ab_trace_writer *writer;
    struct ab_live_map live; /* address → allocation number, in the map's size */
    struct lane *lanes;
    uint32_t n_lanes;
    uint32_t *heap; /* lanes by the stamp of their head, the least first; parked ones are not in */
    uint32_t n_heap;
    uint32_t *parked;
    uint32_t n_parked;
    uint32_t n_threads;
    uint64_t n_done, n_bare; /* events; those among them that the clock was not read for */
    uint64_t first_stamp, last_stamp;
    struct ab_convert_report *report;
};

/* ---- a heap of lanes ---- */

static uint64_t key(const struct converter *c, uint32_t lane)
{
    return AB_SPOOL_STAMP(&c->lanes[lane].stream.head);
}

static void sift_down(struct converter *c, uint32_t i)
{
    for (;;) {
        uint32_t least = i;
        for (uint32_t child = 2 * i + 1; child <= 2 * i + 2 && child < c->n_heap; child++)
            if (key(c, c->heap[child]) < key(c, c->heap[least]))
                least = child;
        if (least == i)
            return;
        uint32_t t = c->heap[i];
        c->heap[i] = c->heap[least];
        c->heap[least] = t;
        i = least;
    }
}

static void push_lane(struct converter *c, uint32_t lane)
{
    uint32_t i = c->n_heap++;
    c->heap[i] = lane;
    for (; i > 0 && key(c, c->heap[i]) < key(c, c->heap[(i - 1) / 2]); i = (i - 1) / 2) {
        uint32_t t = c->heap[i];
        c->heap[i] = c->heap[(i - 1) / 2];
        c->heap[(i - 1) / 2] = t;
    }
}

static uint32_t pop_lane(struct converter *c)
{
    uint32_t lane = c->heap[0];
    c->heap[0] = c->heap[--c->n_heap];
    sift_down(c, 0);
    return lane;
}

/* ---- one event ---- */

static enum ab_status no_memory(struct ab_err *err)
{
    return ab_fail(err, AB_SYSTEM, "out of memory for the live blocks");
}

/* Threads are numbered by their first event that is in the trace. Beyond what a trace can number,
 * all have the last number, which then never ends. */
static void number_thread(struct converter *c, struct lane *lane)
{
    lane->has_thread = true;
    if (c->n_threads < AB_TRACE_THREADS_MAX)
        c->n_threads++;
    else
        c->report->n_shared_threads++;
    lane->thread = c->n_threads - 1;
}

static enum ab_status put(struct converter *c, struct lane *lane, struct ab_trace_record record,
                          uint64_t *number, struct ab_err *err)
{
    if (!lane->has_thread)
        number_thread(c, lane);
    record.thread = lane->thread;
    return ab_trace_write(c->writer, &record, number, err);
}

static enum ab_status put_free(struct converter *c, struct lane *lane,
                               struct ab_live *live, struct ab_err *err)
{
    struct ab_trace_record record = {.kind = AB_EVENT_FREE, .block = live->size};
    ab_live_map_remove(&c->live, live);
    return put(c, lane, record, NULL, err);
}

/* The block at this address was given back unseen. */
static enum ab_status free_stale(struct converter *c, struct lane *lane, uint64_t address,
                                 struct ab_err *err)
{
    struct ab_live *stale = ab_live_map_find(&c->live, address);
    if (stale == NULL)
        return AB_OK;
    c->report->n_reused++;
    return put_free(c, lane, stale, err);
}

static enum ab_status convert_alloc(struct converter *c, struct lane *lane,
                                    const struct ab_spool_event *e, struct ab_err *err)
{
    static const uint8_t kinds[] = {
        [AB_SPOOL_ALLOC] = AB_EVENT_ALLOC,
        [AB_SPOOL_ZEROED] = AB_EVENT_ALLOC_ZEROED,
        [AB_SPOOL_ALIGNED] = AB_EVENT_ALLOC_ALIGNED,
    };
    uint64_t address = AB_SPOOL_ADDRESS(e), number = 0;
    struct ab_trace_record record = {.kind = kinds[AB_SPOOL_KIND(e)], .failed = address == 0,
                                     .size = e->size};
    if (record.kind == AB_EVENT_ALLOC_ALIGNED)
        record.align = UINT64_C(1) << AB_SPOOL_LOG2(e);
    enum ab_status status = record.failed ? AB_OK : free_stale(c, lane, address, err);
    if (status == AB_OK)
        status = put(c, lane, record, &number, err);
    if (status == AB_OK && !record.failed && !ab_live_map_add(&c->live, address, number, 0))
        return no_memory(err);
    return status;
}

static enum ab_status convert_free(struct converter *c, struct lane *lane,
                                   const struct ab_spool_event *e, struct ab_err *err)
{
    struct ab_live *live = ab_live_map_find(&c->live, AB_SPOOL_ADDRESS(e));
    if (live != NULL)
        return put_free(c, lane, live, err);
    c->report->n_foreign++;
    return AB_OK;
}

static enum ab_status begin_resize(struct converter *c, struct lane *lane,
                                   const struct ab_spool_event *e, struct ab_err *err)
{
    if (lane->n_resizing == lane->cap_resizing) {
        size_t cap = lane->cap_resizing == 0 ? 4 : 2 * lane->cap_resizing;
        struct resizing *grown = realloc(lane->resizing, cap * sizeof grown[0]);
        if (grown == NULL)
            return no_memory(err);
        lane->resizing = grown;
        lane->cap_resizing = cap;
    }
    struct ab_live *live = ab_live_map_find(&c->live, AB_SPOOL_ADDRESS(e));
    struct resizing *r = &lane->resizing[lane->n_resizing++];
    *r = (struct resizing){.address = AB_SPOOL_ADDRESS(e), .is_known = live != NULL};
    if (live != NULL) {
        r->number = live->size;
        ab_live_map_remove(&c->live, live);
    }
    return AB_OK;
}

static enum ab_status end_resize(struct converter *c, struct lane *lane,
                                 const struct ab_spool_event *e, struct ab_err *err)
{
    if (lane->n_resizing == 0)
        return ab_fail(err, AB_INPUT, "the spool ends a resize that it never began");
    struct resizing r = lane->resizing[--lane->n_resizing];
    uint64_t moved = AB_SPOOL_ADDRESS(e);
    if (!r.is_known) {
        c->report->n_foreign++;
        return AB_OK;
    }
    struct ab_trace_record record = {.kind = AB_EVENT_RESIZE, .block = r.number, .size = e->size,
                                     .failed = moved == 0 && e->size > 0,
                                     .released = moved == 0 && e->size == 0};
    enum ab_status status = put(c, lane, record, NULL, err);
    if (status != AB_OK || record.released)
        return status;
    uint64_t address = record.failed ? r.address : moved;
    if ((status = free_stale(c, lane, address, err)) == AB_OK &&
        !ab_live_map_add(&c->live, address, r.number, 0))
        return no_memory(err);
    return status;
}

/* A thread that takes over a dead one's stream leaves what that one had begun unfinished. That one
 * has ended behind its last call: the birth comes next in its stream, and is due at once. */
static enum ab_status begin_thread(struct converter *c, struct lane *lane, struct ab_err *err)
{
    struct ab_trace_record end = {.kind = AB_EVENT_THREAD_END, .thread = lane->thread};
    bool has_ended = lane->has_thread && lane->thread < AB_TRACE_THREADS_MAX - 1;
    c->report->n_unfinished += lane->n_resizing;
    lane->n_resizing = 0;
    lane->has_thread = false; /* it gets its number with its first call */
    return has_ended ? ab_trace_write(c->writer, &end, NULL, err) : AB_OK;
}

static enum ab_status convert_event(struct converter *c, struct lane *lane, struct ab_err *err)
{
    const struct ab_spool_event *e = &lane->stream.head;
    enum ab_spool_kind kind = AB_SPOOL_KIND(e);
    switch (kind) {
    case AB_SPOOL_BIRTH:
        return begin_thread(c, lane, err);
    case AB_SPOOL_TRIAL:
        return AB_OK;
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
    default:
        return ab_fail(err, AB_INPUT, "the spool holds an event of unknown kind %d", (int)kind);
    }
}

/* ---- the order ---- */

/* Does the event say what cannot be, so that another thread's must come first? */
static bool is_premature(const struct converter *c, const struct lane *lane)
{
    const struct ab_spool_event *e = &lane->stream.head;
    uint64_t address = AB_SPOOL_ADDRESS(e);
    switch (AB_SPOOL_KIND(e)) {
    case AB_SPOOL_FREE:
    case AB_SPOOL_RESIZE_BEGIN:
        return ab_live_map_find(&c->live, address) == NULL;
    case AB_SPOOL_ALLOC:
    case AB_SPOOL_ZEROED:
    case AB_SPOOL_ALIGNED:
    case AB_SPOOL_RESIZE_END:
        return address != 0 && ab_live_map_find(&c->live, address) != NULL;
    default:
        return false;
    }
}

static void park(struct converter *c, uint32_t lane)
{
    c->lanes[lane].is_parked = true;
    c->parked[c->n_parked++] = lane;
}

/* Threads whose event has become possible go on; `stamp`: of the event that made it so. */
static void unpark(struct converter *c, uint64_t stamp)
{
    for (uint32_t i = 0; i < c->n_parked;) {
        uint32_t lane = c->parked[i];
        if (is_premature(c, &c->lanes[lane])) {
            i++;
            continue;
        }
        uint64_t own = key(c, lane), distance = stamp > own ? stamp - own : own - stamp;
        c->report->n_repairs++;
        if (distance > c->report->repair_ticks_max)
            c->report->repair_ticks_max = distance;
        c->lanes[lane].is_parked = false;
        c->parked[i] = c->parked[--c->n_parked];
        push_lane(c, lane);
    }
}

/* The parked lane with the least stamp that no event can help any more; n_lanes = none. */
static uint32_t overdue(const struct converter *c)
{
    uint32_t found = c->n_lanes;
    for (uint32_t i = 0; i < c->n_parked; i++)
        if (found == c->n_lanes || key(c, c->parked[i]) < key(c, found))
            found = c->parked[i];
    if (found != c->n_lanes && c->n_heap > 0 &&
        key(c, c->heap[0]) <= key(c, found) + AB_REPAIR_TICKS)
        return c->n_lanes;
    return found;
}

static void take_from_parked(struct converter *c, uint32_t lane)
{
    for (uint32_t i = 0; i < c->n_parked; i++)
        if (c->parked[i] == lane) {
            c->parked[i] = c->parked[--c->n_parked];
            break;
        }
    c->lanes[lane].is_parked = false;
}

/* Does what the lane's head says, and moves it on. */
static enum ab_status advance(struct converter *c, uint32_t index, struct ab_err *err)
{
    struct lane *lane = &c->lanes[index];
    uint64_t stamp = key(c, index);
    enum ab_status status = convert_event(c, lane, err);
    if (status == AB_OK)
        status = ab_stream_next(&lane->stream, c->folder, c->image, err);
    if (status != AB_OK)
        return status;
    if (!lane->stream.is_done)
        push_lane(c, index);
    if (c->n_parked > 0 && stamp != 0)
        unpark(c, stamp);
    if (stamp != 0) /* those who are no calls have none */
        c->first_stamp = stamp < c->first_stamp ? stamp : c->first_stamp;
    c->last_stamp = stamp > c->last_stamp ? stamp : c->last_stamp;
    c->n_done++;
    c->n_bare += stamp != 0 && stamp == lane->stamp;
    lane->stamp = stamp;
    return AB_OK;
}

static enum ab_status step(struct converter *c, struct ab_err *err)
{
    uint32_t lane = c->n_parked > 0 ? overdue(c) : c->n_lanes;
    if (lane != c->n_lanes) {
        take_from_parked(c, lane);
        return advance(c, lane, err);
    }
    lane = pop_lane(c);
    if (c->n_lanes > 1 && is_premature(c, &c->lanes[lane])) {
        park(c, lane);
        return AB_OK;
    }
    return advance(c, lane, err);
}

static void sum_up(struct converter *c)
{
    struct ab_convert_report *r = c->report;
    for (uint32_t i = 0; i < c->n_lanes; i++) {
        const struct lane *lane = &c->lanes[i];
        r->n_unfinished += lane->n_resizing + lane->stream.n_unwritten;
        if (lane->n_resizing > 0 && lane->stream.n_unwritten > 0)
            r->n_unfinished--; /* a resize whose end has a place but was not written is one call */
        r->turn_ticks += lane->stream.turn_ticks;
    }
    r->n_threads = c->n_threads;
    r->noting_ticks = ((double)(c->n_done - c->n_bare) * c->image->image.trial_ticks +
                       (double)c->n_bare * c->image->image.bare_ticks) / AB_SPOOL_TRIALS;
    r->span_ticks = c->last_stamp > c->first_stamp ? c->last_stamp - c->first_stamp : 0;
}

static enum ab_status convert_all(struct converter *c, ab_convert_progress *progress, void *user,
                                  struct ab_err *err)
{
    enum { TELL_EVERY = 1 << 20 };
    enum ab_status status = AB_OK;
    uint64_t told = 0;
    while (status == AB_OK && c->n_heap + c->n_parked > 0) {
        status = step(c, err);
        if (status == AB_OK && progress != NULL && c->n_done - told >= TELL_EVERY &&
            !progress(user, told = c->n_done, c->image->n_events))
            status = ab_fail(err, AB_INTERRUPTED, "interrupted");
    }
    sum_up(c);
    return status;
}

static enum ab_status open_lanes(struct converter *c, struct ab_err *err)
{
    uint32_t n = c->image->image.n_slots;
    c->lanes = calloc(n + 1u, sizeof c->lanes[0]);
    c->heap = calloc(n + 1u, sizeof c->heap[0]);
    c->parked = calloc(n + 1u, sizeof c->parked[0]);
    if (c->lanes == NULL || c->heap == NULL || c->parked == NULL)
        return no_memory(err);
    enum ab_status status = AB_OK;
    for (uint32_t i = 0; i < n && status == AB_OK; i++) {
        c->n_lanes++;
        status = ab_stream_open(&c->lanes[i].stream, c->folder, c->image, i, err);
        if (status == AB_OK && !c->lanes[i].stream.is_done)
            push_lane(c, i);
    }
    return status;
}

static void close_lanes(struct converter *c)
{
    for (uint32_t i = 0; i < c->n_lanes; i++) {
        ab_stream_close(&c->lanes[i].stream);
        free(c->lanes[i].resizing);
    }
    free(c->lanes);
    free(c->heap);
    free(c->parked);
    ab_live_map_fini(&c->live);
}

enum ab_status ab_convert(const char *folder, const struct ab_spool_entry *image, FILE *to,
                          struct ab_convert_report *report, ab_convert_progress *progress,
                          void *user, struct ab_err *err)
{
    struct converter c = {.folder = folder, .image = image, .first_stamp = UINT64_MAX,
                          .report = report};
    *report = (struct ab_convert_report){.stop = image->image.stop,
                                         .n_usable_size = image->image.n_usable_size};
    enum ab_status status = open_lanes(&c, err);
    if (status == AB_OK)
        status = ab_trace_writer_open(to, image->image.program, &c.writer, err);
    if (status == AB_OK)
        status = convert_all(&c, progress, user, err);
    if (status == AB_OK) {
        status = ab_trace_writer_close(c.writer, &report->info, err);
        c.writer = NULL;
    }
    ab_trace_writer_abandon(c.writer);
    close_lanes(&c);
    return status;
}
