/* SPDX-License-Identifier: MIT
 *
 * A trace as a tape: the producer that stands beside the workload compiler. Threads become lanes;
 * the reader's slots, which any thread takes up at once, become slots that seldom cross lanes.
 */
#include "trace/reader.h"
#include "trace/slot_pool.h"

#include <stdlib.h>

enum { BATCH = 4096 };

struct pusher {
    struct ab_tape_builder *b;
    const struct ab_trace_tape_options *options;
    struct ab_slot_pool pool;
    uint32_t *slots; /* by the reader's slot: the tape's */
    size_t cap_slots;
    uint64_t n_events;
};

/* One lane a thread; beyond what there is, threads share them. */
static uint32_t lane_of(const struct pusher *p, uint32_t thread)
{
    uint32_t n = p->options->n_lanes == 0 || p->options->n_lanes > AB_LANES_MAX
                     ? AB_LANES_MAX
                     : p->options->n_lanes;
    return thread % n;
}

static bool know_slot(struct pusher *p, uint32_t slot)
{
    size_t cap = p->cap_slots < 1024 ? 1024 : p->cap_slots;
    while (cap <= slot)
        cap *= 2;
    if (cap == p->cap_slots)
        return true;
    uint32_t *grown = realloc(p->slots, cap * sizeof grown[0]);
    if (grown == NULL)
        return false;
    p->slots = grown;
    p->cap_slots = cap;
    return true;
}

static enum ab_status push_alloc(struct pusher *p, const struct ab_event *e, uint32_t lane,
                                 const struct ab_request *request, struct ab_err *err)
{
    uint32_t slot = 0;
    if (!e->failed) {
        if (!know_slot(p, e->slot) || !ab_slot_pool_take(&p->pool, lane, p->n_events, &slot))
            return ab_fail(err, AB_SYSTEM, "out of memory for the slots");
        p->slots[e->slot] = slot;
    }
    return ab_tape_alloc(p->b, slot, request, err);
}

static enum ab_status push_free(struct pusher *p, const struct ab_event *e, uint32_t lane,
                                struct ab_err *err)
{
    uint32_t slot = p->slots[e->slot];
    ab_slot_pool_give(&p->pool, lane, p->n_events, slot);
    return ab_tape_free(p->b, slot, err);
}

static enum ab_status push_event(struct pusher *p, const struct ab_event *e, struct ab_err *err)
{
    uint32_t lane = lane_of(p, e->thread);
    struct ab_request request = {
        .size = e->size,
        .is_zeroed = e->kind == AB_EVENT_ALLOC_ZEROED,
        .align = e->kind == AB_EVENT_ALLOC_ALIGNED ? e->align : 0,
        .may_fail = e->failed,
        .touch = p->options->touch,
        .touch_bytes = p->options->touch_bytes,
    };
    p->n_events++;
    enum ab_status status = ab_tape_lane(p->b, lane, err);
    if (status != AB_OK)
        return status;
    if (e->kind == AB_EVENT_FREE || e->released)
        return push_free(p, e, lane, err); /* realloc(p, 0) freed: what it means differs between
                                              libraries, so the free it was is what is replayed */
    if (e->kind != AB_EVENT_RESIZE)
        return push_alloc(p, e, lane, &request, err);
    if (e->size == 0)
        request.size = 1; /* realloc(p, 0) that kept a block: every library keeps one of size 1 */
    return ab_tape_resize(p->b, p->slots[e->slot], &request, err);
}

static enum ab_status push_all(struct ab_trace_reader *r, struct pusher *p, struct ab_err *err)
{
    struct ab_event *events = malloc(BATCH * sizeof events[0]);
    enum ab_status status = events == NULL ? ab_fail(err, AB_SYSTEM, "out of memory") : AB_OK;
    for (size_t n = 1; status == AB_OK && n > 0;) {
        status = ab_trace_next(r, events, BATCH, &n, err);
        for (size_t i = 0; status == AB_OK && i < n; i++)
            status = push_event(p, &events[i], err);
    }
    free(events);
    return status;
}

enum ab_status ab_trace_to_tape(const char *path, const struct ab_trace_tape_options *options,
                                struct ab_tape *out, struct ab_trace_info *info,
                                struct ab_err *err)
{
    struct ab_trace_reader *r = NULL;
    struct pusher p = {.options = options};
    enum ab_status status = ab_trace_open(path, &r, err);
    if (status != AB_OK)
        return status;
    ab_slot_pool_init(&p.pool, 0);
    if ((p.b = ab_tape_begin()) == NULL)
        status = ab_fail(err, AB_SYSTEM, "out of memory");
    else
        ab_tape_set_window(p.b, options->has_window ? options->window : AB_WINDOW_AUTO, true);
    if (status != AB_OK || (status = ab_tape_phase(p.b, "replay", true, err)) != AB_OK ||
        (status = push_all(r, &p, err)) != AB_OK)
        goto out;
    struct ab_trace_info totals = *ab_trace_reader_info(r);
    if (totals.events == 0)
        status = ab_fail(err, AB_INPUT, "%s: a trace without a single event", path);
    if (status != AB_OK)
        goto out;
    status = ab_tape_end(p.b, out, err);
    p.b = NULL;
    if (status == AB_OK)
        *info = totals;
out:
    ab_tape_abandon(p.b);
    ab_slot_pool_fini(&p.pool);
    free(p.slots);
    ab_trace_close(r);
    return status;
}
