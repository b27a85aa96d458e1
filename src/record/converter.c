/* SPDX-License-Identifier: MIT
 *
 * Which event is next. Lanes wait in a heap by the stamp of their heads, the lane whose turn it is
 * on top: threads mostly make several calls before it is another's turn. Among equal stamps the
 * lower lane is first, so that the order does not depend on when lanes were opened.
 */
#include "record/converter.h"

#include "base/bits.h"

#include <stdlib.h>

enum {
    PREFETCH = 16, /* events ahead: far enough for memory, near enough for the cache */
    RUN = 4096,    /* of one lane, before it is looked whether that is enough for now */
};

static uint64_t stamp_of(const struct ab_converter *c, uint32_t lane)
{
    return AB_SPOOL_STAMP(c->lanes[lane].stream.at);
}

/* ---- the heap ---- */

static bool is_before(const struct ab_convert_turn *a, const struct ab_convert_turn *b)
{
    return a->stamp < b->stamp || (a->stamp == b->stamp && a->lane < b->lane);
}

static void sift_down(struct ab_converter *c, uint32_t i)
{
    struct ab_convert_turn turn = c->heap[i];
    for (uint32_t child = 2 * i + 1; child < c->n_heap; child = 2 * i + 1) {
        child += child + 1 < c->n_heap && is_before(&c->heap[child + 1], &c->heap[child]);
        if (!is_before(&c->heap[child], &turn))
            break;
        c->heap[i] = c->heap[child];
        i = child;
    }
    c->heap[i] = turn;
}

void ab_converter_push_lane(struct ab_converter *c, uint32_t lane)
{
    struct ab_convert_turn turn = {stamp_of(c, lane), lane};
    uint32_t i = c->n_heap++;
    for (; i > 0 && is_before(&turn, &c->heap[(i - 1) / 2]); i = (i - 1) / 2)
        c->heap[i] = c->heap[(i - 1) / 2];
    c->heap[i] = turn;
}

static void pop_lane(struct ab_converter *c)
{
    c->heap[0] = c->heap[--c->n_heap];
    if (c->n_heap > 0)
        sift_down(c, 0);
}

/* ---- repairs ---- */

/* Does the event say what cannot be, so that another thread's must come first? */
static bool is_premature(const struct ab_converter *c, const struct ab_convert_lane *lane)
{
    const struct ab_spool_event *e = lane->stream.at;
    uint64_t address = AB_SPOOL_ADDRESS(e);
    switch (AB_SPOOL_KIND(e)) {
    case AB_SPOOL_FREE:
    case AB_SPOOL_RESIZE_BEGIN:
        return ab_address_map_find(&c->live, address) == NULL;
    case AB_SPOOL_ALLOC:
    case AB_SPOOL_ZEROED:
    case AB_SPOOL_ALIGNED:
    case AB_SPOOL_RESIZE_END:
        return address != 0 && ab_address_map_find(&c->live, address) != NULL;
    default:
        return false;
    }
}

/* Threads whose event has become possible go on; `stamp`: of the event that made it so. */
static void unpark(struct ab_converter *c, uint64_t stamp)
{
    for (uint32_t i = 0; i < c->n_parked;) {
        uint32_t lane = c->parked[i];
        if (is_premature(c, &c->lanes[lane])) {
            i++;
            continue;
        }
        uint64_t own = stamp_of(c, lane), distance = stamp > own ? stamp - own : own - stamp;
        c->report->n_repairs++;
        if (distance > c->report->repair_ticks_max)
            c->report->repair_ticks_max = distance;
        c->lanes[lane].is_parked = false;
        c->parked[i] = c->parked[--c->n_parked];
        ab_converter_push_lane(c, lane);
    }
}

/* The parked lane with the least stamp that no event can help any more; n_lanes = none. */
static uint32_t overdue(const struct ab_converter *c)
{
    uint32_t found = c->n_lanes;
    for (uint32_t i = 0; i < c->n_parked; i++)
        if (found == c->n_lanes || stamp_of(c, c->parked[i]) < stamp_of(c, found))
            found = c->parked[i];
    uint64_t next = c->n_heap > 0 && c->heap[0].stamp < c->limit ? c->heap[0].stamp : c->limit;
    if (found != c->n_lanes && next <= stamp_of(c, found) + AB_REPAIR_TICKS)
        return c->n_lanes;
    return found;
}

static void take_from_parked(struct ab_converter *c, uint32_t lane)
{
    for (uint32_t i = 0; i < c->n_parked; i++)
        if (c->parked[i] == lane) {
            c->parked[i] = c->parked[--c->n_parked];
            break;
        }
    c->lanes[lane].is_parked = false;
}

/* ---- one event after the other ---- */

static inline void note_stamp(struct ab_converter *c, struct ab_convert_lane *lane, uint64_t stamp)
{
    c->n_done++;
    if (stamp == lane->stamp || stamp == 0) { /* an old one again, or none: the event is no call */
        c->n_bare += stamp != 0;
        return;
    }
    c->first_stamp = stamp < c->first_stamp ? stamp : c->first_stamp;
    c->last_stamp = stamp > c->last_stamp ? stamp : c->last_stamp;
    lane->stamp = stamp;
}

/* Does what the lane's head says, and moves it on. */
static inline enum ab_status advance(struct ab_converter *c, struct ab_convert_lane *lane,
                                     struct ab_err *err)
{
    const struct ab_spool_event *at = lane->stream.at;
    uint64_t stamp = AB_SPOOL_STAMP(at);
    if (at + PREFETCH < lane->stream.end)
        ab_address_map_prefetch(&c->live, AB_SPOOL_ADDRESS(at + PREFETCH));
    enum ab_status status = ab_converter_take(c, lane, err);
    if (status == AB_OK)
        status = ab_stream_next(&lane->stream, c->folder, c->image, err);
    if (status == AB_OK)
        note_stamp(c, lane, stamp);
    return status;
}

/* Of a lane that has no more events for now nothing is known behind those that are about to be
 * there. */
static inline void note_end(struct ab_converter *c, const struct ab_convert_lane *lane)
{
    if (lane->stream.has_gap && lane->stamp < c->limit)
        c->limit = lane->stamp;
}

static enum ab_status advance_parked(struct ab_converter *c, uint32_t index, struct ab_err *err)
{
    uint64_t stamp = stamp_of(c, index);
    take_from_parked(c, index);
    AB_TRY(advance(c, &c->lanes[index], err));
    if (!c->lanes[index].stream.is_done)
        ab_converter_push_lane(c, index);
    else
        note_end(c, &c->lanes[index]);
    if (c->n_parked > 0 && stamp != 0)
        unpark(c, stamp);
    return AB_OK;
}

/* Whose turn it is after the first one's: at the limit it is that of lanes that are not there yet. */
static struct ab_convert_turn second(const struct ab_converter *c)
{
    struct ab_convert_turn limit = {c->limit, UINT32_MAX};
    if (c->n_heap == 1)
        return limit;
    const struct ab_convert_turn *next =
        &c->heap[1 + (c->n_heap > 2 && is_before(&c->heap[2], &c->heap[1]))];
    return is_before(next, &limit) ? *next : limit;
}

static void park_first(struct ab_converter *c)
{
    uint32_t index = c->heap[0].lane;
    c->lanes[index].is_parked = true;
    c->parked[c->n_parked++] = index;
    pop_lane(c);
}

/* The first lane goes on as long as no other one is before it. */
static enum ab_status advance_first(struct ab_converter *c, struct ab_err *err)
{
    struct ab_convert_turn turn = c->heap[0], other = second(c);
    struct ab_convert_lane *lane = &c->lanes[turn.lane];
    uint64_t stamp;
    unsigned left = RUN;
    do {
        stamp = turn.stamp;
        if (c->n_lanes > 1 && is_premature(c, lane)) {
            park_first(c);
            return AB_OK;
        }
        enum ab_status status = advance(c, lane, err);
        if (status != AB_OK)
            return status;
        if (lane->stream.is_done)
            break;
        turn.stamp = AB_SPOOL_STAMP(lane->stream.at);
    } while (c->n_parked == 0 && !c->has_reached && is_before(&turn, &other) && --left > 0);
    c->heap[0] = turn;
    if (lane->stream.is_done) {
        pop_lane(c);
        note_end(c, lane);
    } else {
        sift_down(c, 0);
    }
    if (AB_UNLIKELY(c->n_parked > 0) && stamp != 0)
        unpark(c, stamp);
    return AB_OK;
}

static enum ab_status step(struct ab_converter *c, struct ab_err *err)
{
    if (AB_UNLIKELY(c->n_parked > 0)) {
        uint32_t lane = overdue(c);
        if (lane != c->n_lanes)
            return advance_parked(c, lane, err);
    }
    return advance_first(c, err);
}

static bool has_turn(const struct ab_converter *c)
{
    return (c->n_heap > 0 && c->heap[0].stamp <= c->limit) ||
           (c->n_parked > 0 && overdue(c) != c->n_lanes);
}

/* The only thread there ever was: its order is the order. */
static enum ab_status run_alone(struct ab_converter *c, uint64_t n_events, struct ab_err *err)
{
    struct ab_convert_lane *lane = &c->lanes[0];
    enum ab_status status = AB_OK;
    for (; n_events > 0 && !lane->stream.is_done && !c->has_reached && status == AB_OK; n_events--)
        status = advance(c, lane, err);
    c->n_heap = !lane->stream.is_done;
    return status;
}

enum ab_status ab_converter_run(struct ab_converter *c, uint64_t n_events, bool *is_over,
                                struct ab_err *err)
{
    enum ab_status status = AB_OK;
    uint64_t before = c->n_done;
    if (c->n_lanes == 1 && c->n_heap == 1 && !c->is_live)
        status = run_alone(c, n_events, err);
    while (status == AB_OK && has_turn(c) && !c->has_reached && c->n_done - before < n_events)
        status = step(c, err);
    *is_over = !has_turn(c) || c->has_reached;
    return status;
}

/* ---- opening ---- */

enum ab_status ab_converter_open(struct ab_converter *c, const char *folder,
                                 const struct ab_spool_entry *image,
                                 struct ab_convert_report *report, struct ab_err *err)
{
    uint32_t n = image->image.n_slots;
    *c = (struct ab_converter){.folder = folder,
                               .image = image,
                               .first_stamp = UINT64_MAX,
                               .limit = UINT64_MAX,
                               .report = report};
    c->lanes = calloc(n + 1u, sizeof c->lanes[0]);
    c->heap = calloc(n + 1u, sizeof c->heap[0]);
    c->parked = calloc(n + 1u, sizeof c->parked[0]);
    if (c->lanes == NULL || c->heap == NULL || c->parked == NULL || !ab_address_map_init(&c->live))
        return ab_fail(err, AB_SYSTEM, "out of memory for the threads");
    enum ab_status status = AB_OK;
    for (uint32_t i = 0; i < n && status == AB_OK; i++) {
        c->n_lanes++;
        status = ab_stream_open(&c->lanes[i].stream, folder, image, i, err);
        if (status == AB_OK && !c->lanes[i].stream.is_done)
            ab_converter_push_lane(c, i);
    }
    return status;
}

void ab_converter_close(struct ab_converter *c)
{
    for (uint32_t i = 0; i < c->n_lanes; i++) {
        ab_stream_close(&c->lanes[i].stream);
        free(c->lanes[i].resizing);
        ab_stream_sites_free(c->lanes[i].sites);
    }
    free(c->lanes);
    free(c->heap);
    free(c->parked);
    ab_address_map_fini(&c->live);
}
