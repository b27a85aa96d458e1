/* SPDX-License-Identifier: MIT
 *
 * Pushes a trace into tapes: decides whether it is held whole, cuts bursts, and sums up what they
 * have in common.
 */
#include "trace_tools/burst_source.h"

#include "trace/reader.h"

#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TELL_EVENTS = 1 << 20 };

static void tell(const struct ab_trace_feed *f)
{
    const struct ab_trace_tape_options *o = &f->options.tape;
    uint64_t done = f->pusher.n_events;
    if (o->progress != NULL)
        o->progress(o->user, done, f->end.events > done ? f->end.events : 0);
}

/* ---- what all bursts have in common ---- */

/* How many lanes the threads take up. */
static enum ab_status scan(struct ab_trace_feed *f, uint32_t *n_lanes, struct ab_err *err)
{
    struct ab_trace_options reading = {.is_partial = f->options.tape.is_partial,
                                       .has_thread_ends = true};
    struct ab_trace_reader *r;
    struct ab_trace_lanes lanes;
    struct ab_event *events = malloc(AB_TRACE_BATCH * sizeof events[0]);
    enum ab_status status = events == NULL ? ab_fail(err, AB_SYSTEM, "out of memory")
                                           : ab_trace_open_with(f->path, &reading, &r, err);
    if (status != AB_OK) {
        free(events);
        return status;
    }
    ab_trace_lanes_init(&lanes, f->options.tape.n_lanes);
    for (size_t n = 1; status == AB_OK && n > 0;) {
        status = ab_trace_next(r, events, AB_TRACE_BATCH, &n, err);
        for (size_t i = 0; status == AB_OK && i < n; i++) {
            uint32_t lane;
            if (!ab_trace_lanes_find(&lanes, &events[i], &lane))
                status = ab_fail(err, AB_SYSTEM, "out of memory for the threads");
        }
    }
    if (status == AB_OK)
        *n_lanes = lanes.n;
    ab_trace_lanes_fini(&lanes);
    ab_trace_close(r);
    free(events);
    return status;
}

/* Bursts agree on the lanes, which are known after the last event only: a trace of several threads
 * is read through for them. */
static enum ab_status plan(struct ab_trace_feed *f, struct ab_err *err)
{
    uint32_t n_lanes = 1;
    enum ab_status status = AB_OK;
    f->is_planned = true;
    if (f->end.threads == 1)
        return AB_OK;
    if ((status = scan(f, &n_lanes, err)) != AB_OK)
        return status;
    ab_tape_set_lanes(f->pusher.b, n_lanes);
    return AB_OK;
}

/* ---- bursts ---- */

enum ab_status ab_trace_feed_open(const char *path, const struct ab_trace_feed_options *options,
                                  struct ab_trace_feed **out, struct ab_err *err)
{
    struct ab_trace_options reading = {.is_partial = options->tape.is_partial,
                                       .has_thread_ends = true};
    struct ab_trace_feed *f = calloc(1, sizeof *f);
    enum ab_status status = AB_OK;
    if (f == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    f->path = path;
    f->options = *options;
    ab_trace_read_end(path, &f->end);
    f->burst_events = options->burst_events;
    strcpy(f->phase.name, AB_TRACE_PHASE);
    f->phase.is_measured = true;
    if (options->tape.scopes != NULL)
        snprintf(f->phase.iteration, sizeof f->phase.iteration, "%s",
                 ab_trace_iteration_name(options->tape.scopes));
    f->phase.budget_ns = options->tape.budget_ns;
    f->total.phases = &f->phase;
    f->total.n_phases = 1;
    if ((status = ab_trace_open_with(path, &reading, &f->reader, err)) == AB_OK &&
        (status = ab_trace_pusher_open(&f->pusher, &f->options.tape, err)) == AB_OK &&
        f->burst_events != 0)
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
    ab_trace_pusher_close(&f->pusher);
    free(f);
}

/* Up to the end of the trace, or as many calls as a burst has; ends of threads in between. */
static enum ab_status push_burst(struct ab_trace_feed *f, struct ab_err *err)
{
    uint64_t begin = f->pusher.n_events;
    enum ab_status status = ab_trace_pusher_phase(&f->pusher, err);
    while (status == AB_OK && !f->is_over) {
        uint64_t n = f->pusher.n_events - begin, left = f->burst_events - n;
        size_t n_read = 1;
        if (f->burst_events != 0 && left == 0)
            break;
        if (f->burst_events == 0 && ab_tape_bytes(f->pusher.b) >= f->options.most_bytes)
            f->burst_events = (uint32_t)n;
        else
            status = ab_trace_pusher_take(
                &f->pusher, f->reader,
                f->burst_events != 0 && left < AB_TRACE_BATCH ? left : AB_TRACE_BATCH, &n_read,
                err);
        f->is_over = n_read == 0;
        if (f->pusher.n_events % TELL_EVENTS < AB_TRACE_BATCH)
            tell(f);
    }
    return status;
}

/* The burst that was just full may have been the last: then there is none after it. */
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

static void add_burst(struct ab_trace_feed *f, const struct ab_tape *burst)
{
    const struct ab_phase *phase = &burst->phases[0];
    f->n_bursts++;
    f->total.n_ops += burst->n_ops;
    f->total.n_edges += burst->n_edges;
    f->total.n_remote += burst->n_remote;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        f->phase.n_ops[k] += phase->n_ops[k];
    f->phase.n_touches += phase->n_touches;
    f->phase.touched_pages += phase->touched_pages;
    f->phase.end = f->total.n_ops;
    f->total.facts = burst->facts;
    f->total.stretch_bytes = burst->stretch_bytes;
    f->total.n_slots = burst->n_slots;
    if (burst->window != 0 && (f->total.window == 0 || burst->window < f->total.window))
        f->total.window = burst->window;
    f->total.live_end_blocks = burst->live_end_blocks;
    f->total.live_end_bytes = burst->live_end_bytes;
}

/* Of one burst its own; else of all of theirs. */
static void add_digest(struct ab_trace_feed *f, const struct ab_tape *burst)
{
    char both[2 * SHA256_DIGEST_STRING_LENGTH];
    if (f->n_bursts == 0) {
        strcpy(f->total.sha256, burst->sha256);
        return;
    }
    strcpy(both, f->total.sha256);
    strcat(both, burst->sha256);
    SHA256Data((const uint8_t *)both, strlen(both), f->total.sha256);
}

static enum ab_status wrong(const struct ab_trace_feed *f, const char *what, struct ab_err *err)
{
    return ab_fail(err, AB_INPUT, "%s: %s", ab_trace_reader_name(f->reader), what);
}

enum ab_status ab_trace_feed_next(struct ab_trace_feed *f, const struct ab_tape **burst,
                                  struct ab_err *err)
{
    const struct ab_tape *made;
    enum ab_status status;
    uint64_t begin = f->pusher.n_events;
    *burst = NULL;
    if (f->is_over && f->n_bursts > 0)
        return AB_OK;
    if ((status = push_burst(f, err)) != AB_OK || (status = look_ahead(f, err)) != AB_OK)
        return status;
    if (f->is_over && (status = ab_trace_pusher_end_scopes(&f->pusher, err)) != AB_OK)
        return status;
    if (f->is_over)
        f->info = *ab_trace_reader_info(f->reader);
    else if (!f->is_planned && (status = plan(f, err)) != AB_OK)
        return status;
    if (f->pusher.n_events == begin) /* but for ends of threads */
        return f->n_bursts > 0 ? AB_OK : wrong(f, "a trace without events", err);
    if ((status = ab_tape_cut(f->pusher.b, &made, err)) != AB_OK)
        return status;
    if ((uint64_t)f->total.n_ops + made->n_ops > AB_TAPE_MAX_OPS)
        return wrong(f, "more than 4 billion ops; `trace cut` makes shorter ones", err);
    if (f->n_bursts > 0 && made->facts.lanes != f->total.facts.lanes)
        return wrong(f, "its end mark declares fewer threads than its events have", err);
    add_digest(f, made);
    add_burst(f, made);
    *burst = made;
    return AB_OK;
}
