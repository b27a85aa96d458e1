/* SPDX-License-Identifier: MIT
 *
 * A trace as a tape in bursts: for traces whose tape would be too long to hold. The whole file is
 * read twice ahead (what it holds; what the bursts will need), then once for every run. Memory is
 * a matter of the live blocks and of one burst.
 */
#ifndef AB_TRACE_FEED_H
#define AB_TRACE_FEED_H

#include "trace/to_tape.h"

/* Events of one burst; and a trace of more events than that is replayed in bursts. */
#define AB_BURST_EVENTS (1u << 20)
#define AB_STREAM_EVENTS (4u << 20)

struct ab_trace_feed {
    const char *path; /* borrowed */
    struct ab_trace_tape_options options;
    uint32_t burst_events;
    struct ab_tape total; /* of all bursts: facts, counts, digest and the one phase; no ops */
    struct ab_phase phase;
    uint32_t n_bursts;
    uint32_t most_ops, most_wide, most_turns; /* of a burst */
    uint64_t *sums; /* of each burst: a run must get what was surveyed */
    bool is_surveyed;
    /* where it stands */
    uint32_t next;
    struct ab_trace_reader *reader;
    struct ab_trace_pusher pusher;
    struct ab_event *events;
};

/* Reads the trace through. *out is NULL when it has no more than `stream_events` events: then take
 * ab_trace_to_tape. `options` and `path` must outlive the feed. */
enum ab_status ab_trace_feed_open(const char *path, const struct ab_trace_tape_options *options,
                                  uint32_t burst_events, uint64_t stream_events,
                                  struct ab_trace_feed **out, struct ab_trace_info *info,
                                  struct ab_err *err);
void ab_trace_feed_close(struct ab_trace_feed *feed);

/* The next burst is the first. */
enum ab_status ab_trace_feed_rewind(struct ab_trace_feed *feed, struct ab_err *err);
/* *burst is borrowed until the next call. There are n_bursts of them; AB_INPUT when the file is
 * not any more what it was. */
enum ab_status ab_trace_feed_next(struct ab_trace_feed *feed, const struct ab_tape **burst,
                                  struct ab_err *err);

#endif
