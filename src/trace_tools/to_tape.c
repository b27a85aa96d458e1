/* SPDX-License-Identifier: MIT
 *
 * Converts a trace to a tape, as the workload compiler converts a workload. Threads become lanes.
 * Slots of the trace reader are reused at once by any thread; they are replaced by slots that
 * seldom move to another lane.
 */
#include "trace_tools/to_tape.h"

#include "core/alloc.h"
#include "core/text.h"
#include "trace_tools/trace_stats.h"

#include <sha2.h>
#include <stdlib.h>
#include <string.h>

/* 2^47 bytes: larger than the address space of a process on any supported processor. */
#define ADDRESS_SPACE (UINT64_C(1) << 47)

enum {
    BATCH = 512,
    /* number of events to prefetch ahead: enough to hide the latency of memory, and few enough to
     * stay in the cache */
    PREFETCH = 12
};

static void know_thread(struct ab_trace_lanes *lanes, uint32_t thread)
{
    size_t known = lanes->cap;
    AB_GROW(lanes->of_thread, lanes->cap, thread);
    for (; known < lanes->cap; known++)
        lanes->of_thread[known] = AB_NO_LANE;
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

uint32_t ab_trace_lanes_find(struct ab_trace_lanes *lanes, const struct ab_event *e)
{
    bool is_end = e->kind == AB_EVENT_THREAD_END;
    if (AB_LIKELY(!is_end && e->thread < lanes->cap && lanes->of_thread[e->thread] != AB_NO_LANE))
        return lanes->of_thread[e->thread];
    know_thread(lanes, e->thread);
    uint16_t *of = &lanes->of_thread[e->thread];
    if (is_end && *of != AB_NO_LANE) {
        lanes->is_taken[*of] = false;
        lanes->n_threads[*of]--;
    }
    *of = is_end ? AB_NO_LANE : (uint16_t)choose_lane(lanes, e->thread);
    if (!is_end)
        lanes->n_threads[*of]++;
    return *of;
}

static void know_slot(struct ab_trace_pusher *p, uint32_t slot)
{
    size_t known = p->cap_slots;
    AB_GROW(p->slots, p->cap_slots, slot);
    for (; known < p->cap_slots; known++)
        /* slot of the tape; with one lane, equal to the slot of the reader */
        p->slots[known] = (uint32_t)known;
}

/* ---- how much of a block is touched ---- */

static void leave(struct ab_trace_pusher *p, const struct ab_event *e)
{
    AB_GROW_ZEROED(p->left_bytes, p->cap_left, e->slot);
    p->left_bytes[e->slot] = e->size;
    p->left_live_bytes += e->size;
    p->n_left++;
    if (p->left_live_bytes > p->left_peak_bytes)
        p->left_peak_bytes = p->left_live_bytes;
}

/* The block is freed or resized. If it was left untouched, stops counting its bytes, because a
 * resize touches the rest. */
static void drop_left(struct ab_trace_pusher *p, const struct ab_event *e)
{
    if (e->slot >= p->cap_left)
        return;
    p->left_live_bytes -= p->left_bytes[e->slot];
    p->left_bytes[e->slot] = 0;
}

/* Sets how much of a large new block is touched, as the trace recorded it. Pages about which the
 * trace has no information are touched. */
static __attribute__((noinline)) void touch_as_recorded(struct ab_trace_pusher *p,
                                                        const struct ab_event *e,
                                                        struct ab_request *r)
{
    bool is_left = !p->has_written && p->options->recorded == AB_RECORDED_AUTO &&
                   e->kind == AB_EVENT_ALLOC_ZEROED;
    if (e->known_pages > 0) {
        ab_request_touch_leading(r, (e->size - 1) / 4096 + 1 - e->known_pages + e->written_pages);
        p->n_recorded += r->touch != p->options->touch;
    } else if (is_left && r->touch != AB_TOUCH_NONE) {
        r->touch = AB_TOUCH_NONE;
        leave(p, e);
    }
}

static inline void choose_touch(struct ab_trace_pusher *p, const struct ab_event *e,
                                struct ab_request *r)
{
    if (AB_UNLIKELY(r->touch == AB_TOUCH_SHARE))
        ab_request_touch_share(r);
    if (AB_UNLIKELY(e->size >= AB_TRACE_LARGE) && !e->failed &&
        p->options->recorded != AB_RECORDED_NOT)
        touch_as_recorded(p, e, r);
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

/* Refuses an event with a block that no process can have. The trace is wrong then, not a back
 * end. */
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

/* Returns the name of an iteration in the tape: the name of the marks that make the scopes, or
 * "scope". */
static const char *iteration_name(const struct ab_scopes *scopes)
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
    const struct ab_trace_moments *moments = p->options->moments;
    if (moments != NULL && p->next_moment < moments->n && moments->calls[p->next_moment] < p->stop)
        p->stop = moments->calls[p->next_moment];
    if (p->next_request < p->requests.n && p->requests.marks[p->next_request].call < p->stop)
        p->stop = p->requests.marks[p->next_request].call;
}

/* Pushes a malloc_trim in the lane of the thread that called it. If this thread has no lane, pushes
 * it in the first lane. */
static enum ab_status push_trim(struct ab_trace_pusher *p, const struct ab_trace_mark *request,
                                struct ab_err *err)
{
    uint32_t thread = request->thread;
    uint16_t lane = thread < p->lanes.cap ? p->lanes.of_thread[thread] : AB_NO_LANE;
    AB_TRY(ab_tape_lane(p->b, lane != AB_NO_LANE ? lane : 0, err));
    return ab_tape_trim(p->b, request->argument, err);
}

/* Pushes the requests to the allocator up to the current call. Only malloc_trim becomes an op;
 * other requests exist in one library only. */
static enum ab_status push_requests(struct ab_trace_pusher *p, struct ab_err *err)
{
    const struct ab_mark_table *t = &p->requests;
    for (; p->next_request < t->n && t->marks[p->next_request].call <= p->n_events;
         p->next_request++) {
        const struct ab_trace_mark *request = &t->marks[p->next_request];
        if (strcmp(t->names[request->name], AB_REQUEST_TRIM) == 0)
            AB_TRY(push_trim(p, request, err));
    }
    return AB_OK;
}

/* Returns the lane of the thread that the scopes belong to; AB_NO_LANE if this thread has not begun
 * or has ended. */
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

/* Ends a span. The tape builder finds out whether all blocks of the span were freed. If the burst
 * in which the span began is over, its save point is lost, and nothing happens. */
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

/* Ends a scope, which is an iteration of the tape: in one lane if the scopes belong to one thread,
 * otherwise in all lanes. */
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

/* Ends the scopes and spans that end at the current call, and begins spans there. Also called after
 * the last event. Requests directly before the end of a scope belong to this scope. */
static enum ab_status end_scopes(struct ab_trace_pusher *p, struct ab_err *err)
{
    const struct ab_scope_spans *spans = p->options->spans;
    AB_TRY(push_requests(p, err));
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
    for (struct ab_trace_moments *m = p->options->moments;
         m != NULL && p->next_moment < m->n && m->calls[p->next_moment] <= p->n_events;
         p->next_moment++)
        m->positions[p->next_moment] = ab_tape_pushed(p->b);
    find_stop(p);
    return AB_OK;
}

static __attribute__((noinline)) enum ab_status pass_time(struct ab_trace_pusher *p,
                                                          const struct ab_event *e,
                                                          struct ab_err *err)
{
    uint64_t gap_us = e->time_us - p->time_us;
    uint64_t us = e->time_us < AB_TIME_MAX_NS / 1000 ? e->time_us : AB_TIME_MAX_NS / 1000 + 1;
    bool is_idle = gap_us >= AB_IDLE_NS / 1000;
    p->time_us = e->time_us;
    return ab_tape_time(p->b, us * 1000, AB_STEP_RECORDED | (is_idle ? AB_STEP_IDLE : 0), err);
}

/* Forgets the save points of a lane, because its next ops belong to another thread, which has
 * another heap. */
static void forget_spans(struct ab_trace_pusher *p, uint32_t lane)
{
    for (uint32_t i = p->n_open; i-- > 0;)
        if (p->open[i].lane == lane && p->open[i].depth != 0) {
            ab_tape_forget_mark(p->b, p->open[i].depth);
            p->open[i].depth = 0;
        }
}

/* Ends a thread of the trace. The thread of its lane ends only if no other thread of the trace uses
 * the lane. */
static enum ab_status push_thread_end(struct ab_trace_pusher *p, const struct ab_event *e,
                                      struct ab_err *err)
{
    uint32_t thread = e->thread;
    uint16_t lane = thread < p->lanes.cap ? p->lanes.of_thread[thread] : AB_NO_LANE;
    if (lane == AB_NO_LANE)
        return AB_OK;
    if (p->stop <= p->n_events)
        AB_TRY(end_scopes(p, err)); /* must be done while the thread still has its lane */
    ab_trace_lanes_find(&p->lanes, e);
    if (p->lanes.n_threads[lane] > 0) {
        p->n_shared_ends++;
        return AB_OK;
    }
    AB_TRY(ab_tape_lane(p->b, lane, err));
    forget_spans(p, lane);
    return ab_tape_thread_end(p->b, err);
}

static enum ab_status push(struct ab_trace_pusher *p, const struct ab_event *e, struct ab_err *err)
{
    if (e->kind == AB_EVENT_THREAD_END)
        return push_thread_end(p, e, err);
    AB_TRY(check_possible(p, e, err));
    uint32_t lane = ab_trace_lanes_find(&p->lanes, e);
    struct ab_request request = {
        .size = e->size,
        .is_zeroed = e->kind == AB_EVENT_ALLOC_ZEROED,
        .align = e->kind == AB_EVENT_ALLOC_ALIGNED ? e->align : 0,
        .may_fail = e->failed,
        .touch = p->options->touch,
        .touch_bytes = p->options->touch_bytes,
    };
    if (p->stop <= p->n_events)
        AB_TRY(end_scopes(p, err));
    if (e->time_us != p->time_us)
        AB_TRY(pass_time(p, e, err));
    p->n_events++;
    if (p->overview != NULL)
        ab_overview_take(p->overview, e);
    AB_TRY(ab_tape_lane(p->b, lane, err));
    if (AB_UNLIKELY(p->cap_left > 0) && (e->kind == AB_EVENT_FREE || e->kind == AB_EVENT_RESIZE))
        drop_left(p, e);
    choose_touch(p, e, &request);
    if (e->kind == AB_EVENT_FREE || e->released)
        /* a realloc(p, 0) that freed the block is replayed as a free, because libraries differ in
         * the meaning of realloc(p, 0) */
        return push_free(p, e, lane, err);
    if (e->kind != AB_EVENT_RESIZE)
        return push_alloc(p, e, lane, &request, err);
    if (e->size == 0)
        /* a realloc(p, 0) that kept the block; with size 1 every library keeps it */
        request.size = 1;
    return ab_tape_resize(p->b, p->slots[e->slot], &request, err);
}

/* Initialises a pusher. The caller begins a phase next, and releases the pusher with
 * close_pusher(). */
static void open_pusher(struct ab_trace_pusher *p, const struct ab_trace_tape_options *options)
{
    *p = (struct ab_trace_pusher){.options = options};
    ab_slot_pool_init(&p->pool, 0);
    find_stop(p);
    ab_trace_lanes_init(&p->lanes, options->n_lanes);
    p->events = ab_alloc(BATCH * sizeof p->events[0]);
    p->b = ab_tape_begin();
    if (options->wants_overview)
        p->overview = ab_overview_begin();
    ab_tape_set_window(p->b, options->has_window ? options->window : AB_WINDOW_AUTO, true);
}

/* Begins the only phase of the tape, or continues it in the next burst. */
static enum ab_status begin_phase(struct ab_trace_pusher *p, struct ab_err *err)
{
    const struct ab_trace_tape_options *o = p->options;
    AB_TRY(ab_tape_phase(p->b, AB_TRACE_PHASE, true, err));
    if (o->scopes != NULL)
        ab_tape_each(p->b, iteration_name(o->scopes), o->budget_ns);
    return AB_OK;
}

static void close_pusher(struct ab_trace_pusher *p)
{
    ab_tape_abandon(p->b);
    ab_overview_abandon(p->overview);
    ab_slot_pool_fini(&p->pool);
    ab_trace_lanes_fini(&p->lanes);
    free(p->slots);
    free(p->left_bytes);
    free(p->events);
    ab_mark_table_fini(&p->requests);
    *p = (struct ab_trace_pusher){0};
}

/* Prefetches the data of the slots of coming events, most of which were not used recently: first
 * the entry in p->slots, later the data of the tape builder. */
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

/* Reads up to `most` events, at most BATCH, and pushes them. Sets *n to their number; 0 = end of
 * the trace, or of the part that the options ask for. */
static enum ab_status take_events(struct ab_trace_pusher *p, struct ab_trace_reader *r, size_t most,
                                  size_t *n, struct ab_err *err)
{
    uint64_t wanted = p->options->most_events, left = wanted != 0 ? wanted - p->n_events : most;
    if (left == 0) {
        *n = 0;
        return AB_OK;
    }
    enum ab_status status = ab_trace_next(r, p->events, most < left ? most : left, n, err);
    find_stop(p); /* reading events may have added requests */
    for (size_t i = 0; status == AB_OK && i < *n; i++) {
        prefetch(p, i, *n);
        if ((status = push(p, &p->events[i], err)) == AB_INPUT)
            ab_err_context(err, "%s: ", ab_trace_reader_name(r));
    }
    return status;
}

/* ---- the feed: makes one tape of a trace, or splits it into bursts and sums them up ---- */

enum { TELL_EVENTS = 1 << 20 };

static void tell(const struct ab_trace_feed *f)
{
    const struct ab_trace_tape_options *o = &f->options.tape;
    uint64_t done = f->pusher.n_events;
    if (o->progress != NULL)
        o->progress(o->user, done, f->end.events > done ? f->end.events : 0);
}

/* ---- lanes, which are the same in all bursts ---- */

/* Reads the whole trace and sets *n_lanes to the number of lanes that its threads need. */
static enum ab_status scan(struct ab_trace_feed *f, uint32_t *n_lanes, struct ab_err *err)
{
    struct ab_trace_options reading = {.is_partial = f->options.tape.is_partial,
                                       .has_thread_ends = true};
    struct ab_trace_reader *r;
    struct ab_trace_lanes lanes;
    enum ab_status status = AB_OK;
    AB_TRY(ab_trace_open_with(f->path, &reading, &r, err));
    struct ab_event *events = ab_alloc(BATCH * sizeof events[0]);
    ab_trace_lanes_init(&lanes, f->options.tape.n_lanes);
    for (size_t n = 1; status == AB_OK && n > 0;) {
        status = ab_trace_next(r, events, BATCH, &n, err);
        for (size_t i = 0; status == AB_OK && i < n; i++)
            ab_trace_lanes_find(&lanes, &events[i]);
    }
    if (status == AB_OK)
        *n_lanes = lanes.n;
    ab_trace_lanes_fini(&lanes);
    ab_trace_close(r);
    free(events);
    return status;
}

/* Sets the number of lanes for all bursts. It is known only after the last event, so a trace of
 * several threads is read to its end first. */
static enum ab_status plan(struct ab_trace_feed *f, struct ab_err *err)
{
    uint32_t n_lanes = 1;
    f->is_planned = true;
    if (f->end.threads == 1)
        return AB_OK;
    AB_TRY(scan(f, &n_lanes, err));
    ab_tape_set_lanes(f->pusher.b, n_lanes);
    return AB_OK;
}

/* ---- bursts ---- */

/* Sets has_written, and fails if recorded touches are required but not in the trace. In a pipe, the
 * trace says too late whether it has them. */
static enum ab_status know_written(struct ab_trace_feed *f, struct ab_err *err)
{
    f->pusher.has_written = ab_trace_reader_info(f->reader)->has_written;
    if (f->options.tape.recorded != AB_RECORDED_MUST || f->pusher.has_written)
        return AB_OK;
    return ab_fail(err, AB_USAGE,
                   "%s: --touch recorded: the trace does not say what is written of its large "
                   "blocks (those of 64 KiB or more); record the program again",
                   ab_trace_reader_name(f->reader));
}

enum ab_status ab_trace_feed_open(const char *path, const struct ab_trace_feed_options *options,
                                  struct ab_trace_feed **out, struct ab_err *err)
{
    struct ab_trace_feed *f = ab_alloc_zeroed(1, sizeof *f);
    struct ab_trace_options reading = {.is_partial = options->tape.is_partial,
                                       .has_thread_ends = true,
                                       .requests = &f->pusher.requests};
    enum ab_status status;
    f->path = path;
    f->options = *options;
    ab_trace_read_end(path, &f->end);
    f->burst_events = options->burst_events;
    strcpy(f->phase.name, AB_TRACE_PHASE);
    f->phase.is_measured = true;
    if (options->tape.scopes != NULL)
        AB_FIT(f->phase.iteration, "%.*s", AB_PHASE_NAME_MAX, iteration_name(options->tape.scopes));
    f->phase.budget_ns = options->tape.budget_ns;
    f->total.phases = &f->phase;
    f->total.n_phases = 1;
    open_pusher(&f->pusher, &f->options.tape);
    status = ab_trace_open_with(path, &reading, &f->reader, err);
    if (status == AB_OK)
        status = know_written(f, err);
    if (status == AB_OK && f->burst_events != 0)
        status = plan(f, err);
    if (status == AB_OK)
        *out = f;
    else
        ab_trace_feed_close(f);
    return status;
}

void ab_trace_feed_close(struct ab_trace_feed *f)
{
    if (f == NULL)
        return;
    ab_trace_close(f->reader);
    close_pusher(&f->pusher);
    free(f);
}

/* Pushes events until the trace or the burst ends; events include ends of threads. */
static enum ab_status push_burst(struct ab_trace_feed *f, struct ab_err *err)
{
    uint64_t begin = f->pusher.n_events;
    enum ab_status status = begin_phase(&f->pusher, err);
    while (status == AB_OK && !f->is_over) {
        uint64_t n = f->pusher.n_events - begin, left = f->burst_events - n;
        size_t n_read = 1;
        if (f->burst_events != 0 && left == 0)
            break;
        if (f->burst_events == 0 && ab_tape_bytes(f->pusher.b) >= f->options.most_bytes)
            f->burst_events = (uint32_t)n;
        else
            status = take_events(&f->pusher, f->reader,
                                 f->burst_events != 0 && left < BATCH ? left : BATCH, &n_read, err);
        f->is_over = n_read == 0;
        if (f->pusher.n_events % TELL_EVENTS < BATCH)
            tell(f);
    }
    return status;
}

/* Sets f->is_over if no events follow the burst. */
static enum ab_status look_ahead(struct ab_trace_feed *f, struct ab_err *err)
{
    const uint64_t wanted = f->options.tape.most_events;
    bool has_more = false;
    enum ab_status status = AB_OK;
    f->is_over = f->is_over || (wanted != 0 && f->pusher.n_events == wanted);
    if (!f->is_over && (status = ab_trace_has_more(f->reader, &has_more, err)) == AB_OK)
        f->is_over = !has_more;
    return status;
}

/* Sets the positions of the moments in this burst. Converts them from positions in the burst to
 * positions in the whole tape. */
static void place_moments(struct ab_trace_feed *f, const struct ab_tape *burst)
{
    struct ab_trace_pusher *p = &f->pusher;
    struct ab_trace_moments *m = f->options.tape.moments;
    if (m == NULL)
        return;
    size_t end = f->is_over ? m->n : p->next_moment;
    for (size_t i = p->next_moment; i < end; i++)
        m->positions[i] = ab_tape_pushed(p->b);
    ab_tape_place(burst, m->positions + p->n_placed, sizeof m->positions[0],
                  (uint32_t)(end - p->n_placed));
    for (; p->n_placed < end; p->n_placed++)
        m->positions[p->n_placed] += (uint32_t)f->total.n_ops;
}

static enum ab_status wrong(const struct ab_trace_feed *f, const char *what, struct ab_err *err)
{
    return ab_fail(err, AB_INPUT, "%s: %s", ab_trace_reader_name(f->reader), what);
}

enum ab_status ab_trace_feed_next(struct ab_trace_feed *f, const struct ab_tape **burst,
                                  struct ab_err *err)
{
    const struct ab_tape *made;
    uint64_t begin = f->pusher.n_events;
    *burst = NULL;
    if (f->is_over && f->n_bursts > 0)
        return AB_OK;
    AB_TRY(push_burst(f, err));
    AB_TRY(look_ahead(f, err));
    if (f->is_over) {
        AB_TRY(end_scopes(&f->pusher, err));
        f->info = *ab_trace_reader_info(f->reader);
    } else if (!f->is_planned) {
        AB_TRY(plan(f, err));
    }
    if (f->pusher.n_events == begin) /* no events except ends of threads were pushed */
        return f->n_bursts > 0 ? AB_OK : wrong(f, "a trace without events", err);
    AB_TRY(ab_tape_cut(f->pusher.b, &made, err));
    if ((uint64_t)f->total.n_ops + made->n_ops > AB_TAPE_MAX_OPS)
        return wrong(f, "more than 4 billion ops; `trace cut` makes shorter ones", err);
    if (f->n_bursts > 0 && made->facts.lanes != f->total.facts.lanes)
        return wrong(f, "its end mark declares fewer threads than its events have", err);
    place_moments(f, made);
    ab_tape_total_add(&f->total, made);
    f->n_bursts++;
    *burst = made;
    return AB_OK;
}

enum ab_status ab_trace_to_tape(const char *path, const struct ab_trace_tape_options *options,
                                struct ab_tape *out, struct ab_trace_info *info, struct ab_err *err)
{
    const struct ab_trace_feed_options whole = {.tape = *options, .most_bytes = UINT64_MAX};
    struct ab_trace_feed *f;
    AB_TRY(ab_trace_feed_open(path, &whole, &f, err));
    enum ab_status status = push_burst(f, err);
    if (status == AB_OK)
        status = end_scopes(&f->pusher, err);
    if (status == AB_OK && ab_trace_reader_info(f->reader)->events == 0)
        status = wrong(f, "a trace without events", err);
    if (status == AB_OK) {
        status = ab_tape_end(f->pusher.b, out, err);
        f->pusher.b = NULL;
    }
    if (status == AB_OK)
        *info = *ab_trace_reader_info(f->reader);
    ab_trace_feed_close(f);
    return status;
}
