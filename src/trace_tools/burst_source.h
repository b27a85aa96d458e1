/* SPDX-License-Identifier: MIT
 *
 * A trace as tapes, read once: whole where it is no longer than it may be, else in bursts of equally
 * many calls, each a tape of its own. Memory is a matter of the live blocks and of one burst.
 */
#ifndef AB_TRACE_TOOLS_BURST_SOURCE_H
#define AB_TRACE_TOOLS_BURST_SOURCE_H

#include "trace_tools/to_tape.h"

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

/* `path` must outlive the feed. */
enum ab_status ab_trace_feed_open(const char *path, const struct ab_trace_feed_options *options,
                                  struct ab_trace_feed **out, struct ab_err *err);
void ab_trace_feed_close(struct ab_trace_feed *feed);

/* *burst is borrowed until the next call; NULL after the last. Of the first, is_over says whether it
 * is the only one. */
enum ab_status ab_trace_feed_next(struct ab_trace_feed *feed, const struct ab_tape **burst,
                                  struct ab_err *err);

#endif
