/* SPDX-License-Identifier: MIT
 *
 * A trace as a tape, whole or in bursts: threads become lanes, blocks become the builder's slots.
 */
#ifndef AB_TRACE_TOOLS_TO_TAPE_H
#define AB_TRACE_TOOLS_TO_TAPE_H

#include "base/save_points.h"
#include "tape/slot_pool.h"
#include "tape/tape.h"
#include "trace/reader.h"
#include "trace_tools/scopes.h"

#define AB_TRACE_PHASE "replay" /* the one phase of a trace */

#define AB_NO_LANE UINT16_MAX

/* One lane a thread that is alive: the lane of one that ended is free for the next. Beyond `most`,
 * threads share them. */
struct ab_trace_lanes {
    uint32_t most, n; /* n: used so far */
    uint16_t *of_thread;
    size_t cap;
    bool is_taken[AB_LANES_MAX];
    uint32_t n_threads[AB_LANES_MAX]; /* alive on each */
};
void ab_trace_lanes_init(struct ab_trace_lanes *lanes, uint32_t most); /* 0 = AB_LANES_MAX */
void ab_trace_lanes_fini(struct ab_trace_lanes *lanes);
/* The lane of the event's thread, AB_NO_LANE for the end of a thread. */
uint32_t ab_trace_lanes_find(struct ab_trace_lanes *lanes, const struct ab_event *e);

/* Calls of the trace whose positions in the tape are asked for. */
struct ab_trace_moments {
    uint64_t *calls;     /* n, ascending: so many calls come before the moment */
    uint32_t *positions; /* n, set burst by burst; the end where the trace has fewer calls */
    size_t n;
};

struct ab_trace_pusher {
    struct ab_tape_builder *b;
    const struct ab_trace_tape_options *options;
    struct ab_slot_pool pool;
    struct ab_trace_lanes lanes;
    uint32_t *slots; /* by the reader's slot: the tape's */
    size_t cap_slots;
    uint64_t n_events;
    uint64_t n_shared_ends; /* ends of threads that shared their lane: left out */
    uint64_t time_us;       /* of the last call */
    bool has_written;       /* the trace says what is written */
    uint64_t n_recorded,
        n_left;           /* large blocks that are touched as it says; that are left alone, … */
    uint64_t *left_bytes; /* … by the reader's slot */
    size_t cap_left;
    uint64_t left_live_bytes, left_peak_bytes;
    size_t next_scope;  /* of options->scopes: the first that has not ended … */
    uint64_t scope_end; /* … and where it does; UINT64_MAX = there is none */
    size_t next_span;   /* of options->spans: the first that has not begun */
    size_t next_moment,
        n_placed; /* of options->moments: the first ahead, those that have positions */
    struct ab_mark_table requests; /* beside blocks, as far as the trace was read */
    size_t next_request;
    struct ab_trace_open_span {
        uint64_t end;
        uint32_t lane, depth; /* of its save point; 0 = it has none */
    } open[AB_SAVE_POINTS_MAX];
    uint32_t n_open;
    uint64_t stop; /* the call before which the next of all these begins or ends */
    struct ab_overview_maker *overview; /* NULL = not asked for */
    struct ab_event *events;            /* a batch */
};
/* The times of a trace are steps of the tape; where nothing was called for AB_IDLE_NS, an idle
 * stretch. */
/* The whole file as one tape with the one measured phase "replay". */
struct ab_trace_tape_options {
    unsigned touch; /* default AB_TOUCH_PAGE; or AB_TOUCH_SHARE */
    uint32_t touch_bytes;
    enum ab_touch_recorded recorded; /* of large blocks: touch as the trace says */
    uint32_t n_lanes; /* threads share that many; 0 = as many as live at the same time, up to
                            AB_LANES_MAX */
    bool is_partial;  /* as of struct ab_trace_options */
    bool has_window;  /* else AB_WINDOW_AUTO */
    uint32_t window;
    bool wants_overview;            /* the pusher makes one */
    const struct ab_scopes *scopes; /* the iterations of the tape; borrowed, NULL = it has none */
    const struct ab_scope_spans *spans; /* with save points; borrowed, NULL = there are none */
    struct ab_trace_moments *moments;   /* borrowed, NULL = there are none */
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

/* A trace as tapes, read once: whole where it is no longer than it may be, else in bursts of
 * equally many calls, each a tape of its own. Memory is a matter of the live blocks and of one
 * burst. */

struct ab_trace_feed_options {
    struct ab_trace_tape_options tape;
    uint32_t
        burst_events;    /* in bursts of so many calls, however short it is; 0 = whole, or in bursts
                              as long as most_bytes allows */
    uint64_t most_bytes; /* of a tape, or of a burst */
};

struct ab_trace_feed {
    const char *path; /* borrowed */
    struct ab_trace_feed_options options;
    uint32_t burst_events; /* 0 = whole */
    /* once the last burst was given: */
    struct ab_tape total; /* of all bursts: facts, counts, digest and the one phase; no ops */
    struct ab_trace_info info;
    uint32_t n_bursts;
    struct ab_trace_info end; /* as the end mark states it, 0 = not known */
    /* how far it is */
    struct ab_phase phase;
    struct ab_trace_reader *reader;
    struct ab_trace_pusher pusher;
    bool is_planned, is_over; /* what bursts have in common is known; the reader is at its end */
};

/* `path` must outlive the feed. AB_USAGE: the trace does not say what has to be touched. */
enum ab_status ab_trace_feed_open(const char *path, const struct ab_trace_feed_options *options,
                                  struct ab_trace_feed **out, struct ab_err *err);
void ab_trace_feed_close(struct ab_trace_feed *feed);

/* *burst is borrowed until the next call; NULL after the last. Of the first, is_over says whether
 * it is the only one. */
enum ab_status ab_trace_feed_next(struct ab_trace_feed *feed, const struct ab_tape **burst,
                                  struct ab_err *err);

#endif
