/* SPDX-License-Identifier: MIT */
#include "trace/feed.h"

#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { BATCH = 4096 };

static void tell(const struct ab_trace_feed *f, uint64_t done, uint64_t total)
{
    if (f->options.progress != NULL)
        f->options.progress(f->options.user, done, total);
}

/* What the file holds, and how many lanes its threads take up. */
static enum ab_status scan(struct ab_trace_feed *f, struct ab_trace_info *info, struct ab_err *err)
{
    struct ab_trace_options reading = {.is_partial = f->options.is_partial,
                                       .has_thread_ends = true};
    struct ab_trace_reader *r;
    struct ab_trace_lanes lanes;
    enum ab_status status = ab_trace_open_with(f->path, &reading, &r, err);
    if (status != AB_OK)
        return status;
    ab_trace_lanes_init(&lanes, f->options.n_lanes);
    uint64_t n_events = 0;
    for (size_t n = 1; status == AB_OK && n > 0; n_events += n) {
        tell(f, n_events, 0);
        status = ab_trace_next(r, f->events, BATCH, &n, err);
        for (size_t i = 0; status == AB_OK && i < n; i++) {
            uint32_t lane;
            if (!ab_trace_lanes_find(&lanes, &f->events[i], &lane))
                status = ab_fail(err, AB_SYSTEM, "out of memory for the threads");
        }
    }
    if (status == AB_OK) {
        *info = *ab_trace_reader_info(r);
        f->total.facts.lanes = lanes.n;
    }
    ab_trace_lanes_fini(&lanes);
    ab_trace_close(r);
    return status;
}

/* As the builder chooses for a tape that it sees whole. */
static void fix_window(struct ab_trace_feed *f, const struct ab_trace_info *info)
{
    uint64_t tenth = info->live_peak_blocks / 10;
    if (f->options.has_window)
        return;
    f->options.has_window = true;
    f->options.window = tenth < AB_WINDOW_LEAST  ? AB_WINDOW_LEAST
                        : tenth > AB_WINDOW_MOST ? AB_WINDOW_MOST
                                                 : (uint32_t)tenth;
}

static uint64_t sum_of(const struct ab_tape *burst)
{
    uint64_t n_begins = burst->facts.lanes + 1, sum = XXH3_64bits(burst->ops, burst->n_ops * 8ull);
    sum = XXH3_64bits_withSeed(burst->lane_begin, n_begins * sizeof burst->lane_begin[0], sum);
    if (burst->n_turns > 0)
        sum = XXH3_64bits_withSeed(burst->turns, burst->n_turns * sizeof burst->turns[0], sum);
    if (burst->n_wide > 0)
        sum = XXH3_64bits_withSeed(burst->wide, burst->n_wide * sizeof burst->wide[0], sum);
    return sum;
}

static void keep_most(uint32_t *most, uint32_t n)
{
    if (n > *most)
        *most = n;
}

static enum ab_status add_burst(struct ab_trace_feed *f, const struct ab_tape *burst,
                                struct ab_err *err)
{
    const struct ab_phase *phase = &burst->phases[0];
    if ((uint64_t)f->total.n_ops + burst->n_ops > AB_TAPE_MAX_OPS)
        return ab_fail(err, AB_SYSTEM, "%s: more than %u ops; `trace cut` makes shorter ones",
                       f->path, AB_TAPE_MAX_OPS);
    f->total.n_ops += burst->n_ops;
    f->total.n_edges += burst->n_edges;
    f->total.n_remote += burst->n_remote;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        f->phase.n_ops[k] += phase->n_ops[k];
    f->phase.n_touches += phase->n_touches;
    f->phase.touched_pages += phase->touched_pages;
    f->sums[f->n_bursts++] = sum_of(burst);
    keep_most(&f->most_ops, burst->n_ops);
    keep_most(&f->most_wide, burst->n_wide);
    keep_most(&f->most_turns, burst->n_turns);
    f->total.facts = burst->facts;
    f->total.n_slots = burst->n_slots;
    f->total.window = burst->window;
    f->total.live_end_blocks = burst->live_end_blocks;
    f->total.live_end_bytes = burst->live_end_bytes;
    return AB_OK;
}

/* Goes through all bursts once, so that everything is known of all before the first one runs. */
static enum ab_status survey(struct ab_trace_feed *f, uint64_t n_events, struct ab_err *err)
{
    SHA2_CTX sha;
    uint64_t n_bursts = (n_events + f->burst_events - 1) / f->burst_events;
    if ((f->sums = malloc(n_bursts * sizeof f->sums[0])) == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    SHA256Init(&sha);
    strcpy(f->phase.name, AB_TRACE_PHASE);
    f->phase.is_measured = true;
    f->total.phases = &f->phase;
    f->total.n_phases = 1;
    enum ab_status status = ab_trace_feed_rewind(f, err);
    while (status == AB_OK && f->n_bursts < n_bursts) {
        const struct ab_tape *burst;
        tell(f, (uint64_t)f->n_bursts * f->burst_events, n_events);
        if ((status = ab_trace_feed_next(f, &burst, err)) == AB_OK)
            status = add_burst(f, burst, err);
        if (status == AB_OK)
            SHA256Update(&sha, (const uint8_t *)burst->sha256, strlen(burst->sha256));
    }
    f->phase.end = f->total.n_ops;
    f->is_surveyed = true;
    SHA256End(&sha, f->total.sha256);
    return status;
}

enum ab_status ab_trace_feed_open(const char *path, const struct ab_trace_tape_options *options,
                                  uint32_t burst_events, uint64_t stream_events,
                                  struct ab_trace_feed **out, struct ab_trace_info *info,
                                  struct ab_err *err)
{
    struct ab_trace_feed *f = calloc(1, sizeof *f);
    enum ab_status status = AB_OK;
    if (f == NULL || (f->events = malloc(BATCH * sizeof f->events[0])) == NULL) {
        free(f);
        return ab_fail(err, AB_SYSTEM, "out of memory");
    }
    f->path = path;
    f->options = *options;
    f->burst_events = burst_events;
    if ((status = scan(f, info, err)) == AB_OK && info->events > stream_events) {
        fix_window(f, info);
        status = survey(f, info->events, err);
        *out = f;
    } else if (status == AB_OK) {
        *out = NULL;
    }
    if (status != AB_OK || *out == NULL)
        ab_trace_feed_close(f);
    return status;
}

static void stop(struct ab_trace_feed *f)
{
    ab_trace_close(f->reader);
    ab_trace_pusher_close(&f->pusher);
    f->reader = NULL;
}

void ab_trace_feed_close(struct ab_trace_feed *f)
{
    if (f == NULL)
        return;
    stop(f);
    free(f->events);
    free(f->sums);
    free(f);
}

enum ab_status ab_trace_feed_rewind(struct ab_trace_feed *f, struct ab_err *err)
{
    struct ab_trace_options reading = {.is_partial = f->options.is_partial,
                                       .has_thread_ends = true};
    stop(f);
    f->next = 0;
    enum ab_status status = ab_trace_open_with(f->path, &reading, &f->reader, err);
    if (status == AB_OK && (status = ab_trace_pusher_open(&f->pusher, &f->options, err)) == AB_OK)
        ab_tape_set_lanes(f->pusher.b, f->total.facts.lanes);
    return status;
}

/* Up to burst_events calls; ends of threads in between. */
static enum ab_status push_burst(struct ab_trace_feed *f, struct ab_err *err)
{
    enum ab_status status = ab_tape_phase(f->pusher.b, AB_TRACE_PHASE, true, err);
    for (uint32_t left = f->burst_events; status == AB_OK && left > 0;) {
        size_t n;
        status = ab_trace_next(f->reader, f->events, left < BATCH ? left : BATCH, &n, err);
        if (status == AB_OK && n == 0)
            break;
        for (size_t i = 0; status == AB_OK && i < n; i++) {
            status = ab_trace_pusher_push(&f->pusher, &f->events[i], err);
            left -= f->events[i].kind != AB_EVENT_THREAD_END;
        }
    }
    return status;
}

enum ab_status ab_trace_feed_next(struct ab_trace_feed *f, const struct ab_tape **burst,
                                  struct ab_err *err)
{
    enum ab_status status = push_burst(f, err);
    if (status != AB_OK)
        return status;
    status = ab_tape_cut(f->pusher.b, !f->is_surveyed, burst, err);
    if (status != AB_OK || !f->is_surveyed)
        return status;
    if (f->next >= f->n_bursts || sum_of(*burst) != f->sums[f->next])
        return ab_fail(err, AB_INPUT, "%s: the file was changed while it was replayed", f->path);
    f->next++;
    return AB_OK;
}
