/* SPDX-License-Identifier: MIT
 *
 * Between a trace and a tape builder: threads become lanes, blocks become the builder's slots.
 * Shared by those who want the tape whole (ab_trace_to_tape) and in bursts (feed.h).
 */
#ifndef AB_TRACE_TOOLS_TO_TAPE_H
#define AB_TRACE_TOOLS_TO_TAPE_H

#include "base/save_points.h"
#include "tape/overview.h"
#include "tape/slot_pool.h"
#include "tape/tape.h"
#include "trace/reader.h"
#include "trace_tools/scope/spans.h"

#define AB_TRACE_PHASE "replay" /* the one phase of a trace */

/* What a scope of the trace is called in its tape: as the program marks it, or "scope". */
const char *ab_trace_iteration_name(const struct ab_scopes *scopes);

#define AB_NO_LANE UINT16_MAX

/* One lane a thread that is alive: the lane of one that ended is free for the next. Beyond `most`,
 * threads share them. */
struct ab_trace_lanes {
    uint32_t most, n; /* n: used so far */
    uint16_t *of_thread;
    size_t cap;
    bool is_taken[AB_LANES_MAX];
};
void ab_trace_lanes_init(struct ab_trace_lanes *lanes, uint32_t most); /* 0 = AB_LANES_MAX */
void ab_trace_lanes_fini(struct ab_trace_lanes *lanes);
/* The lane of the event's thread; unset for the end of a thread. False when out of memory. */
bool ab_trace_lanes_find_slowly(struct ab_trace_lanes *lanes, const struct ab_event *e,
                                uint32_t *lane);

static inline bool ab_trace_lanes_find(struct ab_trace_lanes *lanes, const struct ab_event *e,
                                       uint32_t *lane)
{
    if (e->thread >= lanes->cap || lanes->of_thread[e->thread] == AB_NO_LANE ||
        e->kind == AB_EVENT_THREAD_END)
        return ab_trace_lanes_find_slowly(lanes, e, lane);
    *lane = lanes->of_thread[e->thread];
    return true;
}

struct ab_trace_pusher {
    struct ab_tape_builder *b;
    const struct ab_trace_tape_options *options;
    struct ab_slot_pool pool;
    struct ab_trace_lanes lanes;
    uint32_t *slots; /* by the reader's slot: the tape's */
    size_t cap_slots;
    uint64_t n_events;
    size_t next_scope;  /* of options->scopes: the first that has not ended … */
    uint64_t scope_end; /* … and where it does; UINT64_MAX = there is none */
    size_t next_span;   /* of options->spans: the first that has not begun */
    struct ab_trace_open_span {
        uint64_t end;
        uint32_t lane, depth; /* of its save point; 0 = it has none */
    } open[AB_SAVE_POINTS_MAX];
    uint32_t n_open;
    uint64_t stop; /* the call before which the next of all these begins or ends */
    struct ab_overview_maker *overview; /* NULL = not asked for */
    struct ab_event *events;            /* AB_TRACE_BATCH */
};
#define AB_TRACE_BATCH 512

/* Close it also when this fails. A phase is to begin next. */
enum ab_status ab_trace_pusher_open(struct ab_trace_pusher *p,
                                    const struct ab_trace_tape_options *options,
                                    struct ab_err *err);
void ab_trace_pusher_close(struct ab_trace_pusher *p);
/* Begins the phase, or that of the next burst. */
enum ab_status ab_trace_pusher_phase(struct ab_trace_pusher *p, struct ab_err *err);
/* Reads up to `most` ≤ AB_TRACE_BATCH events and pushes them; *n = 0 at the end of the trace, or of what
 * is wanted of it. */
enum ab_status ab_trace_pusher_take(struct ab_trace_pusher *p, struct ab_trace_reader *r,
                                    size_t most, size_t *n, struct ab_err *err);

/* After the last event: the scope that ends with it. */
enum ab_status ab_trace_pusher_end_scopes(struct ab_trace_pusher *p, struct ab_err *err);

/* The whole file as one tape with the one measured phase "replay". */
struct ab_trace_tape_options {
    enum ab_touch touch; /* default AB_TOUCH_PAGE */
    uint32_t touch_bytes;
    uint32_t n_lanes; /* threads share that many; 0 = as many as live at the same time, up to
                            AB_LANES_MAX */
    bool is_partial;  /* as of struct ab_trace_options */
    bool has_window;  /* else AB_WINDOW_AUTO */
    uint32_t window;
    bool wants_overview;            /* the pusher makes one */
    const struct ab_scopes *scopes; /* the iterations of the tape; borrowed, NULL = it has none */
    const struct ab_scope_spans *spans; /* with save points; borrowed, NULL = there are none */
    uint64_t budget_ns;                 /* of the allocator in one; 0 = none */
    uint64_t most_events;               /* of the trace, from its first; 0 = all */
    /* Now and then while the trace is read ahead of all runs, NULL = not asked for; total 0 = not
     * known. */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
};
enum ab_status ab_trace_to_tape(const char *path, const struct ab_trace_tape_options *options,
                                struct ab_tape *out, struct ab_trace_info *info,
                                struct ab_err *err);

#endif
