/* SPDX-License-Identifier: MIT
 *
 * A trace as a tape: the other producer beside the workload compiler. Threads become lanes;
 * the reader's slots, which any thread reuses immediately, become slots that seldom cross lanes.
 */
#include "trace_tools/to_tape.h"

#include "core/grow.h"
#include "trace_tools/trace_stats.h"

#include <stdlib.h>

/* More than a process can have: 2^47 bytes on the processors that there are builds for. */
#define ADDRESS_SPACE (UINT64_C(1) << 47)

enum { PREFETCH = 12 }; /* events ahead: far enough for memory, near enough for the cache */

static bool know_thread(struct ab_trace_lanes *lanes, uint32_t thread)
{
    size_t known = lanes->cap;
    AB_GROW(lanes->of_thread, lanes->cap, thread);
    for (; known < lanes->cap; known++)
        lanes->of_thread[known] = AB_NO_LANE;
    return true;
}

static uint32_t choose_lane(struct ab_trace_lanes *lanes, uint32_t thread)
{
    for (uint32_t l = 0; l < lanes->most; l++)
        if (!lanes->is_taken[l]) {
            lanes->is_taken[l] = true;
            if (l >= lanes->n)
                lanes->n = l + 1;
            return l;
        }
    return thread % lanes->most;
}

void ab_trace_lanes_init(struct ab_trace_lanes *lanes, uint32_t most)
{
    *lanes = (struct ab_trace_lanes){.most = most == 0 || most > AB_LANES_MAX ? AB_LANES_MAX : most,
                                     .n = 1};
}

void ab_trace_lanes_fini(struct ab_trace_lanes *lanes)
{
    free(lanes->of_thread);
    *lanes = (struct ab_trace_lanes){0};
}

bool ab_trace_lanes_find_slowly(struct ab_trace_lanes *lanes, const struct ab_event *e,
                                uint32_t *lane)
{
    if (!know_thread(lanes, e->thread))
        return false;
    uint16_t *of = &lanes->of_thread[e->thread];
    if (e->kind == AB_EVENT_THREAD_END) {
        if (*of != AB_NO_LANE)
            lanes->is_taken[*of] = false;
        *lane = *of = AB_NO_LANE;
        return true;
    }
    if (*of == AB_NO_LANE)
        *of = (uint16_t)choose_lane(lanes, e->thread);
    *lane = *of;
    return true;
}

static void know_slot(struct ab_trace_pusher *p, uint32_t slot)
{
    size_t known = p->cap_slots;
    AB_GROW(p->slots, p->cap_slots, slot);
    for (; known < p->cap_slots; known++)
        p->slots[known] = (uint32_t)known; /* what it will be, as long as there is one lane */
}

static enum ab_status push_alloc(struct ab_trace_pusher *p, const struct ab_event *e, uint32_t lane,
                                 const struct ab_request *request, struct ab_err *err)
{
    uint32_t slot = 0;
    if (!e->failed) {
        know_slot(p, e->slot);
        ab_slot_pool_take(&p->pool, lane, p->n_events, &slot);
        p->slots[e->slot] = slot;
    }
    return ab_tape_alloc(p->b, slot, request, err);
}

static enum ab_status push_free(struct ab_trace_pusher *p, const struct ab_event *e, uint32_t lane,
                                struct ab_err *err)
{
    uint32_t slot = p->slots[e->slot];
    ab_slot_pool_give(&p->pool, lane, p->n_events, slot);
    return ab_tape_free(p->b, slot, err);
}

/* No back end is to blame for what none can do. */
static enum ab_status check_possible(const struct ab_trace_pusher *p, const struct ab_event *e,
                                     struct ab_err *err)
{
    if (e->failed || (e->size <= ADDRESS_SPACE && e->align <= ADDRESS_SPACE))
        return AB_OK;
    return ab_fail(err, AB_INPUT,
                   "event %llu: a block of %llu bytes aligned to %llu that the program received: "
                   "impossible in a process",
                   (unsigned long long)p->n_events, (unsigned long long)e->size,
                   (unsigned long long)(e->align == 0 ? 1 : e->align));
}

const char *ab_trace_iteration_name(const struct ab_scopes *scopes)
{
    return scopes->from == AB_SCOPES_MARKS && scopes->mark[0] != 0 ? scopes->mark : "scope";
}

static void find_stop(struct ab_trace_pusher *p)
{
    const struct ab_scopes *s = p->options->scopes;
    const struct ab_scope_spans *spans = p->options->spans;
    p->scope_end = s != NULL && p->next_scope < s->n ? s->ends[p->next_scope] : UINT64_MAX;
    p->stop = p->scope_end;
    if (p->n_open > 0 && p->open[p->n_open - 1].end < p->stop)
        p->stop = p->open[p->n_open - 1].end;
    if (spans != NULL && p->next_span < spans->n && spans->items[p->next_span].begin < p->stop)
        p->stop = spans->items[p->next_span].begin;
}

/* Of the thread that the scopes are of, AB_NO_LANE where it has not begun or is over. */
static uint16_t lane_of_scopes(const struct ab_trace_pusher *p)
{
    const struct ab_scopes *s = p->options->scopes;
    if (!s->is_of_thread)
        return 0;
    return s->thread < p->lanes.cap ? p->lanes.of_thread[s->thread] : AB_NO_LANE;
}

static enum ab_status begin_span(struct ab_trace_pusher *p, const struct ab_scope_span *span,
                                 struct ab_err *err)
{
    struct ab_trace_open_span *o = &p->open[p->n_open];
    if (p->n_open == AB_SAVE_POINTS_MAX)
        return AB_OK;
    *o = (struct ab_trace_open_span){.end = span->end, .lane = lane_of_scopes(p)};
    p->n_open++;
    if (o->lane == AB_NO_LANE)
        return AB_OK;
    AB_TRY(ab_tape_lane(p->b, o->lane, err));
    return ab_tape_mark(p->b, &o->depth, err);
}

/* Whether all its blocks were freed the builder knows better than who searched; where the burst in which
 * it began is over, it has no save point any more, and nothing is done. */
static enum ab_status end_span(struct ab_trace_pusher *p, struct ab_err *err)
{
    const struct ab_trace_open_span *o = &p->open[--p->n_open];
    bool is_one;
    if (o->depth == 0)
        return AB_OK;
    AB_TRY(ab_tape_lane(p->b, o->lane, err));
    AB_TRY(ab_tape_release(p->b, o->depth, NULL, 0, &is_one, err));
    ab_tape_forget_mark(p->b, o->depth);
    return AB_OK;
}

/* Of a scope of one thread only its lane has an iteration. */
static enum ab_status end_scope(struct ab_trace_pusher *p, struct ab_err *err)
{
    const struct ab_scopes *s = p->options->scopes;
    if (!s->is_of_thread)
        return ab_tape_iteration_of_all(p->b, err);
    uint16_t lane = lane_of_scopes(p);
    if (lane == AB_NO_LANE)
        return AB_OK;
    AB_TRY(ab_tape_lane(p->b, lane, err));
    return ab_tape_iteration(p->b, err);
}

enum ab_status ab_trace_pusher_end_scopes(struct ab_trace_pusher *p, struct ab_err *err)
{
    const struct ab_scope_spans *spans = p->options->spans;
    while (p->n_open > 0 && p->open[p->n_open - 1].end <= p->n_events)
        AB_TRY(end_span(p, err));
    for (; p->scope_end <= p->n_events; find_stop(p)) {
        AB_TRY(end_scope(p, err));
        p->next_scope++;
    }
    for (; spans != NULL && p->next_span < spans->n &&
           spans->items[p->next_span].begin <= p->n_events;
         p->next_span++)
        AB_TRY(begin_span(p, &spans->items[p->next_span], err));
    find_stop(p);
    return AB_OK;
}

static enum ab_status push(struct ab_trace_pusher *p, const struct ab_event *e, struct ab_err *err)
{
    uint32_t lane;
    enum ab_status status = check_possible(p, e, err);
    if (status != AB_OK)
        return status;
    if (!ab_trace_lanes_find(&p->lanes, e, &lane))
        return ab_fail(err, AB_SYSTEM, "out of memory for the threads");
    if (e->kind == AB_EVENT_THREAD_END)
        return AB_OK;
    struct ab_request request = {
        .size = e->size,
        .is_zeroed = e->kind == AB_EVENT_ALLOC_ZEROED,
        .align = e->kind == AB_EVENT_ALLOC_ALIGNED ? e->align : 0,
        .may_fail = e->failed,
        .touch = p->options->touch,
        .touch_bytes = p->options->touch_bytes,
    };
    if (p->stop <= p->n_events && (status = ab_trace_pusher_end_scopes(p, err)) != AB_OK)
        return status;
    p->n_events++;
    if (p->overview != NULL && !ab_survey_look(p->overview, e))
        return ab_fail(err, AB_SYSTEM, "out of memory for the overview");
    if ((status = ab_tape_lane(p->b, lane, err)) != AB_OK)
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

enum ab_status ab_trace_pusher_open(struct ab_trace_pusher *p,
                                    const struct ab_trace_tape_options *options, struct ab_err *err)
{
    *p = (struct ab_trace_pusher){.options = options};
    ab_slot_pool_init(&p->pool, 0);
    find_stop(p);
    ab_trace_lanes_init(&p->lanes, options->n_lanes);
    p->events = malloc(AB_TRACE_BATCH * sizeof p->events[0]);
    if (p->events == NULL || (p->b = ab_tape_begin()) == NULL ||
        (options->wants_overview && (p->overview = ab_overview_begin()) == NULL))
        return ab_fail(err, AB_SYSTEM, "out of memory");
    ab_tape_set_window(p->b, options->has_window ? options->window : AB_WINDOW_AUTO, true);
    return AB_OK;
}

enum ab_status ab_trace_pusher_phase(struct ab_trace_pusher *p, struct ab_err *err)
{
    const struct ab_trace_tape_options *o = p->options;
    AB_TRY(ab_tape_phase(p->b, AB_TRACE_PHASE, true, err));
    if (o->scopes != NULL)
        ab_tape_each(p->b, ab_trace_iteration_name(o->scopes), o->budget_ns);
    return AB_OK;
}

void ab_trace_pusher_close(struct ab_trace_pusher *p)
{
    ab_tape_abandon(p->b);
    ab_overview_abandon(p->overview);
    ab_slot_pool_fini(&p->pool);
    ab_trace_lanes_fini(&p->lanes);
    free(p->slots);
    free(p->events);
    *p = (struct ab_trace_pusher){0};
}

/* The slots of the events to come are known, and most have not been used for long: they are
 * prefetched in time, the table first and what it refers to later. */
static inline __attribute__((always_inline)) void prefetch(const struct ab_trace_pusher *p,
                                                           size_t i, size_t n)
{
    if (i + 2 * PREFETCH < n && p->events[i + 2 * PREFETCH].slot < p->cap_slots)
        __builtin_prefetch(&p->slots[p->events[i + 2 * PREFETCH].slot], 1);
    if (i + PREFETCH < n && p->events[i + PREFETCH].slot < p->cap_slots)
        ab_tape_prefetch(p->b, p->slots[p->events[i + PREFETCH].slot]);
    if (p->overview != NULL && i + PREFETCH < n)
        ab_overview_prefetch(p->overview, p->events[i + PREFETCH].slot);
}

enum ab_status ab_trace_pusher_take(struct ab_trace_pusher *p, struct ab_trace_reader *r,
                                    size_t most, size_t *n, struct ab_err *err)
{
    uint64_t wanted = p->options->most_events, left = wanted != 0 ? wanted - p->n_events : most;
    if (left == 0) {
        *n = 0;
        return AB_OK;
    }
    enum ab_status status = ab_trace_next(r, p->events, most < left ? most : left, n, err);
    for (size_t i = 0; status == AB_OK && i < *n; i++) {
        prefetch(p, i, *n);
        if ((status = push(p, &p->events[i], err)) == AB_INPUT)
            ab_err_context(err, "%s: ", ab_trace_reader_name(r));
    }
    return status;
}

enum ab_status ab_trace_to_tape(const char *path, const struct ab_trace_tape_options *options,
                                struct ab_tape *out, struct ab_trace_info *info, struct ab_err *err)
{
    struct ab_trace_options reading = {.is_partial = options->is_partial, .has_thread_ends = true};
    struct ab_trace_reader *r = NULL;
    struct ab_trace_pusher p = {0};
    size_t n = 1;
    enum ab_status status = ab_trace_open_with(path, &reading, &r, err);
    if (status != AB_OK)
        return status;
    if ((status = ab_trace_pusher_open(&p, options, err)) != AB_OK ||
        (status = ab_trace_pusher_phase(&p, err)) != AB_OK)
        goto out;
    while (status == AB_OK && n > 0)
        status = ab_trace_pusher_take(&p, r, AB_TRACE_BATCH, &n, err);
    if (status != AB_OK || (status = ab_trace_pusher_end_scopes(&p, err)) != AB_OK)
        goto out;
    struct ab_trace_info totals = *ab_trace_reader_info(r);
    if (totals.events == 0)
        status = ab_fail(err, AB_INPUT, "%s: a trace without events", ab_trace_reader_name(r));
    if (status != AB_OK)
        goto out;
    status = ab_tape_end(p.b, out, err);
    p.b = NULL;
    if (status == AB_OK)
        *info = totals;
out:
    ab_trace_pusher_close(&p);
    ab_trace_close(r);
    return status;
}
