/* SPDX-License-Identifier: MIT
 *
 * Converts a trace to a tape, as a whole or in bursts (parts of equally many calls). Threads become
 * lanes, and blocks become slots of the tape builder.
 */
#ifndef AB_TRACE_TOOLS_TO_TAPE_H
#define AB_TRACE_TOOLS_TO_TAPE_H

#include "base/save_points.h"
#include "tape/slot_pool.h"
#include "tape/tape.h"
#include "trace/reader.h"
#include "trace_tools/scopes.h"

#define AB_TRACE_PHASE "replay" /* the only phase of a trace */

#define AB_NO_LANE UINT16_MAX

/* Assigns a lane to each living thread. When a thread has ended, its lane can go to a new thread.
 * If there are more than `most` threads, they share lanes. */
struct ab_trace_lanes {
    uint32_t most, n; /* n: number of lanes used so far */
    uint16_t *of_thread;
    size_t cap;
    bool is_taken[AB_LANES_MAX];
    uint32_t n_threads[AB_LANES_MAX]; /* number of living threads in each lane */
};
void ab_trace_lanes_init(struct ab_trace_lanes *lanes, uint32_t most); /* most: 0 = AB_LANES_MAX */
void ab_trace_lanes_fini(struct ab_trace_lanes *lanes);
/* Returns the lane of the event's thread; AB_NO_LANE for the end of a thread. */
uint32_t ab_trace_lanes_find(struct ab_trace_lanes *lanes, const struct ab_event *e);

/* Moments of the trace (numbers of calls) whose positions in the tape are wanted. */
struct ab_trace_moments {
    uint64_t *calls; /* number of calls before each moment, ascending */
    /* positions in the tape, set burst by burst; the end of the tape if the trace has fewer
     * calls */
    uint32_t *positions;
    size_t n;
};

struct ab_trace_pusher {
    struct ab_tape_builder *b;
    const struct ab_trace_tape_options *options;
    struct ab_slot_pool pool;
    struct ab_trace_lanes lanes;
    uint32_t *slots; /* slot of the tape, by slot of the reader */
    size_t cap_slots;
    uint64_t n_events;
    /* number of ends of threads that shared their lane; these ends are dropped */
    uint64_t n_shared_ends;
    uint64_t time_us; /* time of the last call, in µs */
    bool has_written; /* True if the trace has written pages */
    /* n_recorded: number of large blocks touched as recorded; n_left: number of large blocks left
     * untouched */
    uint64_t n_recorded, n_left;
    uint64_t *left_bytes; /* size of an untouched block, by slot of the reader */
    size_t cap_left;
    uint64_t left_live_bytes, left_peak_bytes;
    size_t next_scope; /* index in options->scopes of the next end of a scope */
    /* number of the call before which that scope ends; UINT64_MAX = no more ends */
    uint64_t scope_end;
    size_t next_span; /* index in options->spans of the next span to begin */
    /* next_moment: index in options->moments of the next moment; n_placed: number of moments that
     * have positions */
    size_t next_moment, n_placed;
    struct ab_mark_table requests; /* requests such as malloc_trim read so far */
    size_t next_request;
    struct ab_trace_open_span {
        uint64_t end;
        uint32_t lane, depth; /* depth: depth of the span's save point; 0 = it has no save point */
    } open[AB_SAVE_POINTS_MAX];
    uint32_t n_open;
    /* number of the call before which the next scope, span, moment or request comes */
    uint64_t stop;
    struct ab_overview_maker *overview; /* NULL = not requested */
    struct ab_event *events;            /* a batch */
};
/* Options of a tape. The whole file becomes one tape with the single measured phase "replay".
 * Times of the trace become steps of the tape, and pauses of at least AB_IDLE_NS become idle
 * stretches. */
struct ab_trace_tape_options {
    unsigned touch; /* default AB_TOUCH_PAGE; or AB_TOUCH_SHARE */
    uint32_t touch_bytes;
    enum ab_touch_recorded recorded; /* whether large blocks are touched as the trace says */
    /* number of lanes; 0 = as many as threads live at the same time, up to AB_LANES_MAX */
    uint32_t n_lanes;
    bool is_partial; /* as in struct ab_trace_options */
    bool has_window; /* False = the window is AB_WINDOW_AUTO */
    uint32_t window;
    bool wants_overview; /* True to make an overview */
    /* scopes that become iterations of the tape; borrowed, NULL = none */
    const struct ab_scopes *scopes;
    /* spans that become save points of the tape; borrowed, NULL = none */
    const struct ab_scope_spans *spans;
    /* moments whose positions are wanted; borrowed, NULL = none */
    struct ab_trace_moments *moments;
    /* time limit for the allocator in one iteration; 0 = none */
    uint64_t budget_ns;
    uint64_t most_events; /* number of events to read from the beginning; 0 = all */
    /* Called from time to time while the trace is read before the runs; NULL = none. `total` 0 =
     * not known. */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
};
enum ab_status ab_trace_to_tape(const char *path, const struct ab_trace_tape_options *options,
                                struct ab_tape *out, struct ab_trace_info *info,
                                struct ab_err *err);

/* ---- a trace as tapes, read once ----
 *
 * A short trace becomes one tape. A longer trace is split into bursts of equally many calls, each
 * of which is a tape. Memory depends on the live blocks and on the size of one burst. */

struct ab_trace_feed_options {
    struct ab_trace_tape_options tape;
    /* calls per burst, even if the trace is short; 0 = one tape, or bursts as long as most_bytes
     * allows */
    uint32_t burst_events;
    uint64_t most_bytes; /* largest size of a tape or burst, in bytes */
};

struct ab_trace_feed {
    const char *path; /* borrowed */
    struct ab_trace_feed_options options;
    uint32_t burst_events; /* calls per burst; 0 = the trace is one tape */
    /* valid after the last burst: */
    /* all bursts together: facts, counts, digest and the single phase, without ops */
    struct ab_tape total;
    struct ab_trace_info info;
    uint32_t n_bursts;
    struct ab_trace_info end; /* totals that the end mark of the file has; 0 = not known */
    /* progress: */
    struct ab_phase phase;
    struct ab_trace_reader *reader;
    struct ab_trace_pusher pusher;
    /* is_planned: True if the properties that bursts share are known; is_over: True if the reader
     * is at the end of the trace */
    bool is_planned, is_over;
};

/* Opens a trace. `path` must outlive the feed. Returns AB_USAGE if touches as recorded are required
 * and the trace does not have written pages. */
enum ab_status ab_trace_feed_open(const char *path, const struct ab_trace_feed_options *options,
                                  struct ab_trace_feed **out, struct ab_err *err);
void ab_trace_feed_close(struct ab_trace_feed *feed);

/* Returns the next burst, valid until the next call; NULL after the last. After the first burst,
 * is_over tells whether there is only one. */
enum ab_status ab_trace_feed_next(struct ab_trace_feed *feed, const struct ab_tape **burst,
                                  struct ab_err *err);

#endif
