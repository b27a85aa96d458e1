/* SPDX-License-Identifier: MIT
 *
 * Converts one image to a trace: opens the trace, converts all events, and sums up losses,
 * repairs and the cost of recording. Also contains the conversion after a recording, which
 * begins with the blocks inherited at a fork.
 */
#include "record/converter.h"

#include "base/clock.h"
#include "core/alloc.h"
#include "core/text.h"
#include "trace/format.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns the number of events that were begun but never written. Avoids underflow, because the
 * spool is untrusted. */
static uint64_t n_missing(const struct ab_stream *s)
{
    return s->n_unwritten > s->n_moved ? s->n_unwritten - s->n_moved : 0;
}

static void sum_up(struct ab_converter *c)
{
    struct ab_convert_report *r = c->report;
    uint64_t site_ticks = 0, n_timed_sites = 0;
    for (uint32_t i = 0; i < c->n_lanes; i++) {
        const struct ab_convert_lane *lane = &c->lanes[i];
        uint64_t missing = n_missing(&lane->stream);
        r->n_unfinished += lane->n_resizing + missing;
        if (lane->n_resizing > 0 && missing > 0)
            /* this resize is counted twice above: it has not ended, and its second event was not
             * written */
            r->n_unfinished--;
        r->turn_ticks += lane->stream.turn_ticks;
        site_ticks += lane->stream.site_ticks;
        n_timed_sites += lane->stream.n_timed_sites;
        if (lane->stream.is_cut && r->stop == AB_SPOOL_RUNNING && r->damage[0] == 0)
            AB_FIT(r->damage, "part of the spool cannot be read");
    }
    r->is_short = r->stop != AB_SPOOL_RUNNING || r->damage[0] != 0;
    r->n_threads = c->n_threads;
    r->noting_ticks = ((double)(c->n_done - c->n_bare) * c->image->image.trial_ticks +
                       (double)c->n_bare * c->image->image.bare_ticks) /
                      AB_SPOOL_TRIALS;
    r->site_ticks = n_timed_sites == 0
                        ? 0
                        : (double)site_ticks / (double)n_timed_sites * (double)c->n_sites;
    r->n_sites = c->n_sites;
    r->n_stacks = c->sites != NULL ? c->sites->n_stacks : 0;
    r->span_ticks = c->last_stamp > c->first_stamp ? c->last_stamp - c->first_stamp : 0;
}

enum ab_status ab_conversion_take_all(struct ab_conversion *v, ab_convert_progress *progress,
                                      void *user, struct ab_err *err)
{
    enum { PROGRESS_EVERY = 1 << 20 };
    struct ab_converter *c = &v->c;
    enum ab_status status = AB_OK;
    bool is_over = false;
    while (status == AB_OK && !is_over) {
        status = ab_converter_run(c, PROGRESS_EVERY, &is_over, err);
        if (status == AB_OK && !is_over && progress != NULL &&
            !progress(user, c->n_done, c->image->n_events))
            status = ab_fail(err, AB_INTERRUPTED, "interrupted");
    }
    if (status == AB_INPUT) {
        AB_COPY(c->report->damage, err->text);
        status = AB_OK;
    }
    sum_up(c);
    return status;
}

/* Returns the tick rate since the start of the recording; 0 if the clocks make no sense because the
 * machine was rebooted since. */
static double ns_per_tick(const struct ab_convert_marks *m)
{
    double ns = (double)ab_clock_now_ns() - (double)m->begin_ns;
    double rate = ns / ((double)ab_tick_end() - (double)m->begin_ticks);
    return rate > 0.05 && rate < 100 ? rate : 0;
}

/* Fills in the totals of the whole program, except those that are not known. A recording that ended
 * early does not have all calls. */
static void add_whole(struct ab_conversion *v, uint64_t n_calls)
{
    const struct ab_convert_report *r = v->c.report;
    struct ab_trace_whole *w = &v->whole;
    double ticks = r->noting_ticks + r->site_ticks + (double)r->turn_ticks;
    uint64_t recorder_ns = (uint64_t)(ticks * ns_per_tick(&v->marks));
    if (v->c.image->image.parent != 0) /* places of blocks that it inherited are not known */
        w->anonymous_bytes = w->unasked_bytes = AB_WHOLE_UNKNOWN;
    w->is_there = true;
    if (r->is_short)
        return;
    w->calls = n_calls - r->n_inherited;
    if (recorder_ns == 0 || r->cpu_ns <= recorder_ns)
        return;
    w->cpu_ns = r->cpu_ns - recorder_ns;
    w->recorder_ns = recorder_ns;
}

static void tell_asked(const struct ab_mark_table *t, char *out, size_t cap)
{
    struct ab_mark_stats *stats = ab_alloc((t->n_names + 1) * sizeof stats[0]);
    ab_mark_stats(t, stats);
    for (size_t i = 0; i < t->n_names; i++) {
        char one[300];
        AB_FIT(one, "%s: %llu", t->names[stats[i].name], (unsigned long long)stats[i].n);
        ab_text_join(out, cap, ", ", one);
    }
    free(stats);
}

/* Adds the findings about calls that bypassed the recorder. Call this after all events. */
static void add_bypass(struct ab_converter *c, struct ab_trace_whole *whole)
{
    struct ab_trace_bypass bypass;
    struct ab_bypass_report *report = &c->report->bypass;
    report->places = &c->places;
    report->own_bytes = c->report->own_bytes;
    ab_bypass_read(c->folder, c->image, report, &bypass, whole);
    report->places = NULL;
    /* calls that no recorded call explains */
    bypass.least_calls = c->report->n_foreign + c->report->n_reused;
    bypass.is_there = bypass.n_modules > 0 || bypass.least_calls > 0;
    ab_trace_writer_bypass(c->writer, &bypass);
}

enum ab_status ab_conversion_begin(struct ab_conversion *v, FILE *to, bool has_thread,
                                   struct ab_err *err)
{
    const struct ab_spool_image *image = &v->c.image->image;
    struct ab_trace_writer_options options = {.program = image->program,
                                              .marks = &v->marks.table,
                                              .requests = &v->marks.requests,
                                              .whole = &v->whole,
                                              .has_thread = has_thread};
    v->whole = AB_WHOLE_NONE;
    ab_convert_marks_open(&v->marks, v->c.folder);
    v->marks.requests.is_of_requests = true;
    v->c.marks = &v->marks;
    v->c.has_time = options.has_time = v->marks.has_time;
    if (image->has_sites)
        options.sites = v->c.sites = &v->sites;
    return ab_trace_writer_open_with(to, &options, &v->c.writer, err);
}

enum ab_status ab_conversion_close(struct ab_conversion *v, struct ab_err *err)
{
    struct ab_convert_report *report = v->c.report;
    add_bypass(&v->c, &v->whole);
    add_whole(v, ab_trace_writer_calls(v->c.writer));
    tell_asked(&v->marks.requests, report->asked, sizeof report->asked);
    report->n_marks = v->marks.table.n;
    report->n_lost_marks = v->marks.table.n_lost;
    struct ab_trace_writer *writer = v->c.writer;
    v->c.writer = NULL;
    return ab_trace_writer_close(writer, &report->info, err);
}

void ab_conversion_end(struct ab_conversion *v)
{
    ab_trace_writer_abandon(v->c.writer);
    ab_converter_close(&v->c);
    ab_site_table_fini(&v->sites);
    ab_convert_marks_close(&v->marks);
}

void ab_conversion_take_image(struct ab_convert_report *report, const struct ab_spool_image *image)
{
    report->stop = image->stop;
    report->lacks_sites = image->lacks_sites != 0;
    report->n_usable_size = image->n_usable_size;
    report->cpu_ns = image->cpu_ns;
    report->own_bytes = image->own_bytes;
}

/* ---- conversion after the recording ---- */

static enum ab_status inherit(struct ab_converter *c, struct ab_forks *forks, struct ab_err *err)
{
    struct ab_held *blocks = NULL;
    size_t n = 0;
    enum ab_status status = ab_forks_inherited(forks, c->image, &blocks, &n, err);
    if (status == AB_OK)
        status = ab_converter_inherit(c, blocks, n, err);
    free(blocks);
    return status;
}

/* True if there is more than one chunk of events to encode, and a second CPU. */
static bool wants_thread(const struct ab_spool_entry *image)
{
    cpu_set_t set;
    return image->n_events > AB_TRACE_CHUNK_EVENTS_MAX &&
           sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
}

enum ab_status ab_convert(struct ab_forks *forks, const struct ab_spool_entry *image, FILE *to,
                          struct ab_convert_report *report, ab_convert_progress *progress,
                          void *user, struct ab_err *err)
{
    struct ab_conversion *v = ab_alloc_zeroed(1, sizeof *v);
    *report = (struct ab_convert_report){0};
    ab_conversion_take_image(report, &image->image);
    ab_converter_open(&v->c, ab_forks_folder(forks), image, report);
    enum ab_status status = ab_conversion_begin(v, to, wants_thread(image), err);
    if (status == AB_OK)
        status = inherit(&v->c, forks, err);
    if (status == AB_OK)
        status = ab_conversion_take_all(v, progress, user, err);
    if (status == AB_OK)
        status = ab_conversion_close(v, err);
    ab_conversion_end(v);
    free(v);
    return status;
}
