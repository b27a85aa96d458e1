/* SPDX-License-Identifier: MIT
 *
 * Lanes of a program that runs. What is known at a time: an event that is not there yet will have
 * been put there later than that time, and what depends on its call is later still. So all that is
 * there and has an older stamp can be put in order without it.
 */
#include "record/converter/live.h"

#include "base/clock.h"

#include <stdlib.h>

static enum ab_status no_memory(struct ab_err *err)
{
    return ab_fail(err, AB_SYSTEM, "out of memory for the threads");
}

static bool make_room(struct ab_converter *c, uint32_t n)
{
    struct ab_convert_lane *lanes = realloc(c->lanes, (n + 1u) * sizeof lanes[0]);
    c->lanes = lanes != NULL ? lanes : c->lanes;
    struct ab_convert_turn *heap = realloc(c->heap, (n + 1u) * sizeof heap[0]);
    c->heap = heap != NULL ? heap : c->heap;
    uint32_t *parked = realloc(c->parked, (n + 1u) * sizeof parked[0]);
    c->parked = parked != NULL ? parked : c->parked;
    return lanes != NULL && heap != NULL && parked != NULL;
}

/* Threads that have come since. */
static enum ab_status add_lanes(struct ab_converter *c, struct ab_err *err)
{
    uint32_t n = c->image->image.n_slots;
    if (n <= c->n_lanes)
        return AB_OK;
    if (!make_room(c, n))
        return no_memory(err);
    for (; c->n_lanes < n; c->n_lanes++) {
        c->lanes[c->n_lanes] = (struct ab_convert_lane){0};
        ab_stream_open_live(&c->lanes[c->n_lanes].stream, c->n_lanes);
    }
    return AB_OK;
}

enum ab_status ab_converter_open_live(struct ab_converter *c, const char *folder,
                                      struct ab_spool_entry *image,
                                      struct ab_convert_report *report, struct ab_err *err)
{
    *c = (struct ab_converter){.folder = folder,
                               .image = image,
                               .first_stamp = UINT64_MAX,
                               .is_live = true,
                               .report = report};
    return make_room(c, image->image.n_slots) && ab_address_map_init(&c->live) ? AB_OK
                                                                               : no_memory(err);
}

static enum ab_status look_again(struct ab_converter *c, uint32_t i, struct ab_err *err)
{
    struct ab_convert_lane *lane = &c->lanes[i];
    lane->stream.is_done = false;
    AB_TRY(ab_stream_seek(&lane->stream, c->folder, c->image, err));
    if (!lane->stream.is_done)
        ab_converter_push_lane(c, i);
    else if (lane->stream.has_gap && lane->stamp < c->limit)
        c->limit = lane->stamp;
    return AB_OK;
}

/* The time is read before anything else is. */
enum ab_status ab_converter_refresh(struct ab_converter *c, struct ab_spool_entry *image,
                                    struct ab_err *err)
{
    uint64_t now = ab_tick_end();
    c->limit = now > AB_LIVE_LAG_TICKS ? now - AB_LIVE_LAG_TICKS : 0;
    if (!ab_spool_look_again(c->folder, image))
        return ab_fail(err, AB_INPUT, "the spool is gone");
    AB_TRY(add_lanes(c, err));
    for (uint32_t i = 0; i < c->n_lanes; i++)
        if (c->lanes[i].stream.is_done)
            AB_TRY(look_again(c, i, err));
    return AB_OK;
}

enum ab_status ab_converter_settle(struct ab_converter *c, struct ab_err *err)
{
    AB_TRY(add_lanes(c, err));
    c->is_live = false;
    c->limit = UINT64_MAX;
    for (uint32_t i = 0; i < c->n_lanes; i++) {
        struct ab_stream *s = &c->lanes[i].stream;
        bool was_done = s->is_done;
        AB_TRY(ab_stream_settle(s, c->folder, c->image, err));
        if (was_done && !s->is_done)
            ab_converter_push_lane(c, i);
    }
    return AB_OK;
}
