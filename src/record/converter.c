/* SPDX-License-Identifier: MIT
 *
 * Merges the streams of the threads into one order, and converts each event. Lanes (one for each
 * stream) wait in a heap that is ordered by the stamps of their next events. The current lane stays
 * on top, because threads usually make several calls in a row. Among equal stamps the lane with the
 * lower number is first, so that the order does not depend on when lanes were opened.
 */
#include "record/converter.h"

#include "base/bits.h"
#include "base/clock.h"
#include "core/alloc.h"
#include "record/spool_reader.h"
#include "trace/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum ab_status converter_take(struct ab_converter *c, struct ab_convert_lane *lane,
                                     struct ab_err *err);
static enum ab_status end_thread(struct ab_converter *c, struct ab_convert_lane *lane,
                                 struct ab_err *err);

enum {
    /* number of events between a prefetch and its use: early enough for memory, late enough for the
     * cache */
    PREFETCH = 16,
    RUN = 4096, /* most events of one lane before control returns */
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

/* True if the event is impossible now, so that an event of another thread must come first. */
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

/* Puts parked lanes back into the heap if their event has become possible. `stamp` is that of the
 * event that has made it possible. */
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
        c->parked[i] = c->parked[--c->n_parked];
        ab_converter_push_lane(c, lane);
    }
}

/* Returns the overdue parked lane with the least stamp; n_lanes = none. A lane is overdue if the
 * next event of the others comes too late to be one that the parked event waits for. */
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
}

/* ---- one event after the other ---- */

static inline void count_event(struct ab_converter *c, struct ab_convert_lane *lane, uint64_t stamp)
{
    c->n_done++;
    /* the stamp is an old one, or 0 because the event is not a call */
    if (stamp == lane->stamp || stamp == 0) {
        c->n_bare += stamp != 0;
        return;
    }
    c->first_stamp = stamp < c->first_stamp ? stamp : c->first_stamp;
    c->last_stamp = stamp > c->last_stamp ? stamp : c->last_stamp;
    lane->stamp = stamp;
}

/* Ends an exiting thread if no event of it follows, so that the frees of its exit still belong to
 * it. */
static enum ab_status end_where_last(struct ab_converter *c, struct ab_convert_lane *lane,
                                     struct ab_err *err)
{
    const struct ab_stream *s = &lane->stream;
    bool is_last = s->is_done ? !s->has_gap : AB_SPOOL_KIND(s->at) == AB_SPOOL_BIRTH;
    return is_last ? end_thread(c, lane, err) : AB_OK;
}

/* Converts the next event of a lane and moves the lane on. */
static inline enum ab_status advance(struct ab_converter *c, struct ab_convert_lane *lane,
                                     struct ab_err *err)
{
    const struct ab_spool_event *at = lane->stream.at;
    uint64_t stamp = AB_SPOOL_STAMP(at);
    if (at + PREFETCH < lane->stream.end)
        ab_address_map_prefetch(&c->live, AB_SPOOL_ADDRESS(at + PREFETCH));
    enum ab_status status = converter_take(c, lane, err);
    if (AB_UNLIKELY(status != AB_OK))
        return status;
    ab_stream_next(&lane->stream);
    count_event(c, lane, stamp);
    return AB_LIKELY(!lane->has_exited) ? AB_OK : end_where_last(c, lane, err);
}

/* Lowers the limit to the lane's last stamp if its stream has an event that cannot be read yet,
 * because that event may come before events of other lanes. */
static inline void limit_by_end(struct ab_converter *c, const struct ab_convert_lane *lane)
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
        limit_by_end(c, &c->lanes[index]);
    if (c->n_parked > 0 && stamp != 0)
        unpark(c, stamp);
    return AB_OK;
}

/* Returns the lane that comes after the first one in the heap. If that lane is beyond the limit,
 * returns the limit, because events that were not read yet may come before it. */
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
    c->parked[c->n_parked++] = index;
    pop_lane(c);
}

/* Converts events of the first lane until an event of another lane is earlier. */
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
        AB_TRY(advance(c, lane, err));
        if (lane->stream.is_done)
            break;
        turn.stamp = AB_SPOOL_STAMP(lane->stream.at);
    } while (c->n_parked == 0 && !c->has_reached && is_before(&turn, &other) && --left > 0);
    c->heap[0] = turn;
    if (lane->stream.is_done) {
        pop_lane(c);
        limit_by_end(c, lane);
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

/* Converts events of the only lane, whose order needs no stamps. */
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

void ab_converter_open(struct ab_converter *c, const char *folder,
                       const struct ab_spool_entry *image, struct ab_convert_report *report)
{
    uint32_t n = image->image.n_slots;
    *c = (struct ab_converter){.folder = folder,
                               .image = image,
                               .first_stamp = UINT64_MAX,
                               .limit = UINT64_MAX,
                               .report = report};
    ab_converter_make_room(c, n);
    ab_address_map_init(&c->live);
    ab_address_map_init(&c->large);
    for (; c->n_lanes < n; c->n_lanes++) {
        ab_stream_open(&c->lanes[c->n_lanes].stream, folder, image, c->n_lanes);
        if (!c->lanes[c->n_lanes].stream.is_done)
            ab_converter_push_lane(c, c->n_lanes);
    }
}

void ab_converter_make_room(struct ab_converter *c, uint32_t n)
{
    c->lanes = ab_realloc(c->lanes, n + 1u, sizeof c->lanes[0]);
    c->heap = ab_realloc(c->heap, n + 1u, sizeof c->heap[0]);
    c->parked = ab_realloc(c->parked, n + 1u, sizeof c->parked[0]);
    for (uint32_t i = c->n_lanes; i < n; i++)
        c->lanes[i] = (struct ab_convert_lane){0};
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
    ab_address_map_fini(&c->large);
    ab_places_fini(&c->places);
}

/* ---- the control file, which is untrusted, because any recorded process can write to it ---- */

/* Measures the tick rate. Called only if a time is needed, because measuring takes 50 ms. */
static double measured_ns_per_tick(void)
{
    static double ns_per_tick;
    struct ab_clock clock;
    if (ns_per_tick == 0) {
        ab_clock_calibrate(&clock);
        ns_per_tick = clock.ns_per_tick;
    }
    return ns_per_tick;
}

/* Returns the length of a tick in µs. Uses the rate over the whole recording, which is exact
 * because the recording is long, if it agrees with a rate measured now. It does not agree after a
 * suspend, in which one of the clocks may have stopped, or after a reboot. */
static double find_us_per_tick(const struct ab_convert_marks *m)
{
    /* twice the rate by which the system slows or hastens a clock to set it */
    const double most_difference = 1e-3;
    double ns = (double)ab_clock_now_ns() - (double)m->begin_ns;
    double ticks = (double)ab_tick_end() - (double)m->begin_ticks;
    double measured = measured_ns_per_tick(), rate = ticks > 0 ? ns / ticks : 0;
    return (fabs(rate / measured - 1) < most_difference ? rate : measured) / 1e3;
}

static void take_control(struct ab_convert_marks *m, const struct ab_spool_control *control)
{
    memcpy(m->names, control->mark_names, sizeof control->mark_names);
    for (size_t i = 0; i < AB_SPOOL_MARK_NAMES; i++)
        m->names[i].text[AB_SPOOL_MARK_NAME - 1] = 0;
    m->has_time = control->has_time != 0;
    m->begin_ns = control->begin_ns;
    m->begin_ticks = control->begin_ticks;
}

void ab_convert_marks_refresh(struct ab_convert_marks *m, const char *folder)
{
    struct ab_spool_control *control = ab_spool_read_control(folder);
    if (control != NULL)
        take_control(m, control);
    free(control);
}

void ab_convert_marks_open(struct ab_convert_marks *m, const char *folder)
{
    *m = (struct ab_convert_marks){
        .names = ab_alloc_zeroed(AB_SPOOL_MARK_NAMES, sizeof m->names[0])};
    ab_convert_marks_refresh(m, folder);
}

void ab_convert_marks_close(struct ab_convert_marks *m)
{
    ab_mark_table_fini(&m->table);
    ab_mark_table_fini(&m->requests);
    free(m->names);
    m->names = NULL;
}

uint64_t ab_convert_marks_time(struct ab_convert_marks *m, uint64_t stamp)
{
    if (m->base_stamp == 0)
        m->base_stamp = stamp;
    if (stamp > m->base_stamp) {
        if (m->us_per_tick == 0)
            m->us_per_tick = find_us_per_tick(m);
        uint64_t us = (uint64_t)((double)(stamp - m->base_stamp) * m->us_per_tick);
        m->last_us = us > m->last_us ? us : m->last_us;
    }
    return m->last_us;
}

/* Returns the number in the table of the name at `place` in the control file. Two places may have
 * the same name. A name that was not completely written, or for which there was no room, becomes
 * "mark". */
static uint32_t find_name(struct ab_convert_marks *m, uint64_t place)
{
    uint32_t *known = &m->numbers[place <= AB_SPOOL_MARK_NAMES ? place : 0];
    bool is_there = place > 0 && place <= AB_SPOOL_MARK_NAMES &&
                    m->names[place - 1].state == AB_SPOOL_NAME_THERE;
    if (*known == 0)
        *known = ab_mark_know_name(&m->table, is_there ? m->names[place - 1].text : "") + 1;
    return *known - 1;
}

void ab_convert_marks_take(struct ab_convert_marks *m, const struct ab_spool_event *e,
                           uint64_t call, uint32_t thread)
{
    struct ab_trace_mark mark = {.call = call, .name = find_name(m, e->size), .thread = thread};
    if (m->base_stamp != 0) /* 0: no event has come before the mark, so that its time is 0 */
        mark.time_us = ab_convert_marks_time(m, AB_SPOOL_STAMP(e));
    ab_mark_add(&m->table, mark);
}

/* ---- call sites of a stream ----
 *
 * Numbers of a stream are converted to numbers of the table. A signal handler may define and use
 * sites in the middle of another definition, but its own definitions are complete. Half-known
 * stacks, and sites whose call has not come, are therefore kept last in, first out. An entry that a
 * handler left by longjmp is never completed. */

/* most nested signal handlers; for deeper ones the oldest entry is dropped */
enum { HALF_KNOWN = 8, PENDING = 32 };

struct half_known { /* a stack of which not all frames are known yet */
    uint32_t number;
    unsigned n;
    struct ab_site_frame frames[AB_SITE_DEPTH_MAX];
};

struct module_text {
    uint8_t *bytes;
    uint32_t number; /* number of the module in the table; 0 = its text is not complete yet */
};

struct ab_stream_sites {
    struct half_known half_known[HALF_KNOWN];
    unsigned n_half_known;
    uint32_t pending[PENDING];
    unsigned n_pending;
    uint32_t *stacks; /* number of a stack in the table, indexed by its number in the stream */
    size_t cap_stacks;
    struct module_text *modules; /* indexed by the number of a module in the stream */
    size_t cap_modules;
};

void ab_stream_sites_free(struct ab_stream_sites *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->cap_modules; i++)
        free(s->modules[i].bytes);
    free(s->modules);
    free(s->stacks);
    free(s);
}

static enum ab_status malformed(struct ab_err *err)
{
    return ab_fail(err, AB_INPUT, "the spool holds a call site that cannot be read");
}

/* ---- modules ---- */

/* Adds the module to the table when the last word of its text has come. */
static enum ab_status end_module(struct module_text *m, uint32_t place, struct ab_site_table *table,
                                 struct ab_err *err)
{
    size_t n_id = m->bytes[0], n_path = m->bytes[1] | (size_t)m->bytes[2] << 8;
    if (n_id > AB_SPOOL_BUILD_ID_MAX || n_path > AB_SPOOL_PATH_MAX)
        return malformed(err);
    if (place != (3 + n_id + n_path - 1) / 8 || m->number != 0)
        return AB_OK;
    m->number = ab_site_know_module(table, (const char *)m->bytes + 3 + n_id, n_path, m->bytes + 3,
                                    n_id);
    return AB_OK;
}

static enum ab_status take_module(struct ab_stream_sites *s, const struct ab_spool_event *e,
                                  struct ab_site_table *table, struct ab_err *err)
{
    uint32_t number = AB_SPOOL_MODULE_NUMBER(e), place = AB_SPOOL_MODULE_PLACE(e);
    if (place > AB_SPOOL_MODULE_TEXT / 8)
        return malformed(err);
    AB_GROW_ZEROED(s->modules, s->cap_modules, number);
    struct module_text *m = &s->modules[number];
    if (m->bytes == NULL)
        m->bytes = ab_alloc_zeroed(1, AB_SPOOL_MODULE_TEXT + 8);
    memcpy(m->bytes + place * 8, &e->size, 8);
    return end_module(m, place, table, err);
}

/* ---- stacks ---- */

static struct half_known *find_half_known(struct ab_stream_sites *s, uint32_t number,
                                          unsigned place)
{
    for (unsigned i = s->n_half_known; i > 0; i--)
        if (s->half_known[i - 1].number == number)
            return &s->half_known[i - 1];
    if (place != 0)
        return NULL;
    if (s->n_half_known == HALF_KNOWN) {
        memmove(&s->half_known[0], &s->half_known[1], (HALF_KNOWN - 1) * sizeof s->half_known[0]);
        s->n_half_known--;
    }
    struct half_known *h = &s->half_known[s->n_half_known++];
    h->number = number;
    h->n = 0;
    return h;
}

static enum ab_status end_stack(struct ab_stream_sites *s, struct half_known *h, unsigned end,
                                struct ab_site_table *table, struct ab_err *err)
{
    if (end > AB_SITE_END_COUNT)
        return malformed(err);
    AB_GROW_ZEROED(s->stacks, s->cap_stacks, h->number);
    s->stacks[h->number] = ab_site_know_stack(table, h->frames, h->n, end - 1);
    struct half_known *last = &s->half_known[--s->n_half_known];
    if (h != last)
        *h = *last;
    return AB_OK;
}

static enum ab_status take_frame(struct ab_stream_sites *s, const struct ab_spool_event *e,
                                 struct ab_site_table *table, struct ab_err *err)
{
    enum { NUMBERS_MAX = 1 << 28 }; /* most stacks of a stream; the array for that many has 1 GiB */
    uint32_t module = AB_SPOOL_FRAME_MODULE(e), number = AB_SPOOL_FRAME_STACK(e);
    unsigned place = AB_SPOOL_FRAME_PLACE(e), end = AB_SPOOL_FRAME_END(e);
    if (number >= NUMBERS_MAX)
        return AB_OK; /* calls with this stack get no call site */
    struct half_known *h = find_half_known(s, number, place);
    if (h == NULL)
        return AB_OK; /* the first frame of this stack was dropped */
    if (place != h->n || place >= AB_SITE_DEPTH_MAX)
        return malformed(err);
    struct ab_site_frame *frame = &h->frames[h->n++];
    *frame = (struct ab_site_frame){0, 0};
    if (module < s->cap_modules && s->modules[module].number != 0)
        *frame = (struct ab_site_frame){e->address, s->modules[module].number};
    return end != 0 ? end_stack(s, h, end, table, err) : AB_OK;
}

/* ---- calls ---- */

static void take_site(struct ab_stream_sites *s, const struct ab_spool_event *e)
{
    if (s->n_pending == PENDING) {
        memmove(&s->pending[0], &s->pending[1], (PENDING - 1) * sizeof s->pending[0]);
        s->n_pending--;
    }
    s->pending[s->n_pending++] = e->size < s->cap_stacks ? s->stacks[e->size] : 0;
}

uint32_t ab_stream_sites_of_call(struct ab_stream_sites *s)
{
    return s != NULL && s->n_pending > 0 ? s->pending[--s->n_pending] : 0;
}

void ab_stream_sites_end_thread(struct ab_stream_sites *s)
{
    if (s != NULL)
        s->n_pending = s->n_half_known = 0;
}

enum ab_status ab_stream_sites_take(struct ab_stream_sites **at, const struct ab_spool_event *e,
                                    struct ab_site_table *table, struct ab_err *err)
{
    if (*at == NULL)
        *at = ab_alloc_zeroed(1, sizeof **at);
    switch (AB_SPOOL_KIND(e)) {
    case AB_SPOOL_SITE:
        take_site(*at, e);
        return AB_OK;
    case AB_SPOOL_FRAME:
        return take_frame(*at, e, table, err);
    default:
        return take_module(*at, e, table, err);
    }
}

/* ---- written pages of large blocks: reported when a block is freed, stored for the call that gave
 * it ---- */

/* Remembers the large block that the last call of the trace gave. */
static void follow_large(struct ab_converter *c, uint64_t address, uint64_t size)
{
    if (c->writer == NULL)
        return;
    struct ab_held held = ab_held_of(address, 0, ab_trace_writer_calls(c->writer) - 1, 0, size);
    struct ab_held *known = ab_address_map_find(&c->large, address);
    if (known != NULL)
        *known = held;
    else
        ab_address_map_add(&c->large, &held);
}

static void forget_large(struct ab_converter *c, uint64_t address)
{
    struct ab_held *known = c->large.n > 0 ? ab_address_map_find(&c->large, address) : NULL;
    if (known != NULL)
        ab_address_map_remove(&c->large, known);
}

/* Stores the written pages of a block. Checks the numbers, because the spool is untrusted. */
static void take_written(struct ab_converter *c, const struct ab_spool_event *e)
{
    struct ab_held *held = c->large.n > 0 ? ab_address_map_find(&c->large, AB_SPOOL_ADDRESS(e))
                                          : NULL;
    if (held == NULL)
        return;
    uint64_t known = e->size >> 32, written = e->size & UINT32_MAX,
             most = held->size / AB_WRITTEN_PAGE;
    if (known > 0 && known <= most && written <= known)
        ab_trace_writer_written(c->writer, ab_held_number(held), (uint32_t)known,
                                (uint32_t)written);
    ab_address_map_remove(&c->large, held);
}

static enum ab_status take_request(struct ab_converter *c, const struct ab_convert_lane *lane,
                                   const struct ab_spool_event *e, struct ab_err *err)
{
#define NAME(shown, symbol, how) shown,
    static const char *const names[] = {
#include "base/library_calls.def"
    };
    uint64_t call = AB_SPOOL_ADDRESS(e);
    if (call >= AB_ARRAY_LEN(names))
        return ab_fail(err, AB_INPUT, "the spool holds a request of unknown kind %llu",
                       (unsigned long long)call);
    if (c->marks == NULL || c->writer == NULL)
        return AB_OK;
    struct ab_mark_table *t = &c->marks->requests;
    struct ab_trace_mark request = {.call = ab_trace_writer_calls(c->writer),
                                    .name = ab_mark_know_name(t, names[call]),
                                    .thread = lane->has_thread ? lane->thread : AB_MARK_NO_THREAD,
                                    .argument = e->size};
    ab_mark_add(t, request);
    return AB_OK;
}

static enum ab_status take_aside(struct ab_converter *c, struct ab_convert_lane *lane,
                                 const struct ab_spool_event *e, struct ab_err *err)
{
    switch ((enum ab_spool_aside)AB_SPOOL_LOG2(e)) {
    case AB_SPOOL_WRITTEN:
        take_written(c, e);
        return AB_OK;
    case AB_SPOOL_REQUEST:
        return take_request(c, lane, e, err);
    case AB_SPOOL_EXIT:
        lane->has_exited = true;
        return AB_OK;
    }
    return ab_fail(err, AB_INPUT, "the spool holds an aside of unknown kind %u", AB_SPOOL_LOG2(e));
}

/* ---- from events of the spool to events of the trace ----
 *
 * This part numbers threads and allocations, joins the two events of a resize, and recognizes frees
 * of blocks that were never given out. */

/* Numbers a thread at its first event in the trace. Threads beyond the limit of a trace all get the
 * last number, and that thread never ends. */
static void number_thread(struct ab_converter *c, struct ab_convert_lane *lane)
{
    lane->has_thread = true;
    if (c->n_threads < AB_TRACE_THREADS_MAX)
        c->n_threads++;
    else
        c->report->n_shared_threads++;
    lane->thread = c->n_threads - 1;
}

/* Returns the time of the next event of a lane; 0 for inherited blocks. */
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
    if (AB_UNLIKELY(size >= AB_SPOOL_LARGE))
        forget_large(c, ab_held_address(held));
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

/* Finds the empty place for a new block at `address`. A block that still has this address is freed
 * first. */
static inline enum ab_status find_place(struct ab_converter *c, struct ab_convert_lane *lane,
                                        uint64_t address, struct ab_held **out, struct ab_err *err)
{
    if (AB_UNLIKELY(!ab_address_map_has_room(&c->live)))
        ab_address_map_grow(&c->live);
    *out = ab_address_map_seek(&c->live, address);
    if (AB_LIKELY((*out)->key == 0))
        return AB_OK;
    c->report->n_reused++; /* the old block's free was not recorded */
    enum ab_status status = put_free(c, lane, *out, err);
    *out = ab_address_map_seek(&c->live, address);
    return status;
}

/* Writes an allocation that ab_trace_write_alloc cannot: one with a time, or one that failed
 * (number NULL). */
static enum ab_status put_full_alloc(struct ab_converter *c, struct ab_convert_lane *lane,
                                     struct ab_trace_alloc alloc, uint64_t size, uint64_t *number,
                                     struct ab_err *err)
{
    struct ab_event record = {
        .kind = alloc.kind, .failed = number == NULL, .site = alloc.site, .size = size};
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
        return put_full_alloc(c, lane, alloc, size, number, err);
    alloc.thread = lane->thread;
    return ab_trace_write_alloc(c->writer, alloc, size, number, err);
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
        return put_full_alloc(c, lane, alloc, size, NULL, err);
    enum ab_status status = find_place(c, lane, address, &place, err);
    if (AB_LIKELY(status == AB_OK))
        status = put_alloc(c, lane, alloc, size, &number, err);
    ab_places_note(&c->places, address, size);
    if (AB_LIKELY(status == AB_OK))
        ab_address_map_fill(&c->live, place,
                            ab_held_of(address, alloc.log2, number, alloc.kind, size));
    if (AB_UNLIKELY(size >= AB_SPOOL_LARGE) && status == AB_OK)
        follow_large(c, address, size);
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

static void begin_resize(struct ab_converter *c, struct ab_convert_lane *lane,
                         const struct ab_spool_event *e)
{
    AB_GROW(lane->resizing, lane->cap_resizing, lane->n_resizing);
    struct ab_held *held = ab_address_map_find(&c->live, AB_SPOOL_ADDRESS(e));
    struct ab_resizing *r = &lane->resizing[lane->n_resizing++];
    *r = (struct ab_resizing){.address = AB_SPOOL_ADDRESS(e), .is_known = held != NULL};
    if (held != NULL) {
        r->held = *held;
        if (held->size >= AB_SPOOL_LARGE)
            forget_large(c, ab_held_address(held));
        ab_address_map_remove(&c->live, held);
    }
}

/* Ends a resize. After a failed resize the block is as before; otherwise it counts as allocated by
 * malloc. */
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
    ab_places_note(&c->places, ab_held_address(&r.held), r.held.size);
    status = find_place(c, lane, ab_held_address(&r.held), &place, err);
    if (status == AB_OK)
        ab_address_map_fill(&c->live, place, r.held);
    if (status == AB_OK && !record.failed && e->size >= AB_SPOOL_LARGE)
        follow_large(c, moved, e->size);
    return status;
}

/* Ends the thread of a lane. Later events of the lane belong to another thread, which is numbered
 * at its first call. */
static enum ab_status end_thread(struct ab_converter *c, struct ab_convert_lane *lane,
                                 struct ab_err *err)
{
    struct ab_event end = {.kind = AB_EVENT_THREAD_END,
                           .thread = lane->thread,
                           .time_us = c->has_time ? c->marks->last_us : 0};
    bool has_ended = lane->has_thread && lane->thread < AB_TRACE_THREADS_MAX - 1;
    lane->has_thread = lane->has_exited = false;
    return has_ended && c->writer != NULL ? ab_trace_write_known(c->writer, &end, 0, NULL, err)
                                          : AB_OK;
}

/* Begins a thread that takes over the stream of a dead thread. The dead thread ends here at the
 * latest, with its calls unfinished. The birth is not a call, so that its stamp is not counted as
 * an event's. In a forked child, the thread whose id is the process id continues the thread that
 * forked. */
static enum ab_status begin_thread(struct ab_converter *c, struct ab_convert_lane *lane,
                                   struct ab_err *err)
{
    AB_TRY(end_thread(c, lane, err));
    c->report->n_unfinished += lane->n_resizing;
    lane->n_resizing = 0;
    lane->stamp = AB_SPOOL_STAMP(lane->stream.at);
    ab_stream_sites_end_thread(lane->sites);
    if (c->has_forker && lane->stream.at->address == c->image->image.pid) {
        c->has_forker = false;
        lane->has_thread = true;
        lane->thread = 0;
    }
    return AB_OK;
}

static enum ab_status take_of_sites(struct ab_converter *c, struct ab_convert_lane *lane,
                                    const struct ab_spool_event *e, struct ab_err *err)
{
    c->n_sites += AB_SPOOL_KIND(e) == AB_SPOOL_SITE;
    return c->sites != NULL ? ab_stream_sites_take(&lane->sites, e, c->sites, err) : AB_OK;
}

static void take_mark(struct ab_converter *c, const struct ab_convert_lane *lane,
                      const struct ab_spool_event *e)
{
    if (c->marks == NULL || c->writer == NULL)
        return;
    if (c->marks->base_stamp == 0 && c->first_stamp != UINT64_MAX && !c->has_time)
        c->marks->base_stamp = c->first_stamp;
    ab_convert_marks_take(c->marks, e, ab_trace_writer_calls(c->writer),
                          lane->has_thread ? lane->thread : AB_MARK_NO_THREAD);
}

/* Converts the next event of a lane. */
static enum ab_status converter_take(struct ab_converter *c, struct ab_convert_lane *lane,
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
        begin_resize(c, lane, e);
        return AB_OK;
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
        return take_of_sites(c, lane, e, err);
    case AB_SPOOL_MARK:
        take_mark(c, lane, e);
        return AB_OK;
    case AB_SPOOL_ASIDE:
        return take_aside(c, lane, e, err);
    default:
        return ab_fail(err, AB_INPUT, "the spool holds an event of unknown kind %d", (int)kind);
    }
}

enum ab_status ab_converter_inherit(struct ab_converter *c, const struct ab_held *blocks, size_t n,
                                    struct ab_err *err)
{
    struct ab_convert_lane forker = {0}; /* represents the thread that forked */
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
        ab_places_note(&c->places, ab_held_address(&held), held.size);
        if (status == AB_OK)
            ab_address_map_add(&c->live, &held);
        if (status == AB_OK && held.size >= AB_SPOOL_LARGE)
            follow_large(c, ab_held_address(&held), held.size);
    }
    c->has_forker = n > 0;
    c->report->n_inherited = n;
    return status;
}
