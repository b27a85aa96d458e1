/* SPDX-License-Identifier: MIT
 *
 * Converts one image: opens a trace, puts in what a fork inherited, takes every event, and sums up
 * what was lost, repaired and what recording cost.
 */
#include "record/convert.h"

#include "record/converter.h"
#include "trace/format.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static void sum_up(struct ab_converter *c)
{
    struct ab_convert_report *r = c->report;
    uint64_t site_ticks = 0, n_timed_sites = 0;
    for (uint32_t i = 0; i < c->n_lanes; i++) {
        const struct ab_convert_lane *lane = &c->lanes[i];
        r->n_unfinished += lane->n_resizing + lane->stream.n_unwritten;
        if (lane->n_resizing > 0 && lane->stream.n_unwritten > 0)
            r->n_unfinished--; /* a resize whose end has a place but was not written is one call */
        r->turn_ticks += lane->stream.turn_ticks;
        site_ticks += lane->stream.site_ticks;
        n_timed_sites += lane->stream.n_timed_sites;
        if (lane->stream.is_cut && r->stop == AB_SPOOL_RUNNING && r->damage[0] == 0)
            snprintf(r->damage, sizeof r->damage, "part of the spool cannot be read");
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

/* What is no spool of ours ends the trace there: what came before is whole. */
static enum ab_status convert_all(struct ab_converter *c, ab_convert_progress *progress, void *user,
                                  struct ab_err *err)
{
    enum { TELL_EVERY = 1 << 20 };
    enum ab_status status = AB_OK;
    bool is_over = false;
    while (status == AB_OK && !is_over) {
        status = ab_converter_run(c, TELL_EVERY, &is_over, err);
        if (status == AB_OK && !is_over && progress != NULL &&
            !progress(user, c->n_done, c->image->n_events))
            status = ab_fail(err, AB_INTERRUPTED, "interrupted");
    }
    if (status == AB_INPUT) {
        snprintf(c->report->damage, sizeof c->report->damage, "%.119s", err->text);
        status = AB_OK;
    }
    sum_up(c);
    return status;
}

/* Once all events are in. */
static void note_bypass(struct ab_converter *c)
{
    struct ab_trace_bypass bypass;
    ab_bypass_read(c->folder, c->image, &c->report->bypass, &bypass);
    bypass.least_calls = c->report->n_foreign + c->report->n_reused; /* no recorded call explains */
    bypass.is_there = bypass.n_modules > 0 || bypass.least_calls > 0;
    ab_trace_writer_bypass(c->writer, &bypass);
}

static enum ab_status inherit(struct ab_converter *c, struct ab_family *family, struct ab_err *err)
{
    struct ab_held *blocks = NULL;
    size_t n = 0;
    enum ab_status status = ab_family_inherited(family, c->image, &blocks, &n, err);
    if (status == AB_OK)
        status = ab_converter_inherit(c, blocks, n, err);
    free(blocks);
    return status;
}

/* Is there more than one block to pack, and a CPU for it beside ours? */
static bool wants_thread(const struct ab_spool_entry *image)
{
    cpu_set_t set;
    return image->n_events > AB_TRACE_CHUNK_EVENTS_MAX &&
           sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
}

struct conversion {
    struct ab_converter c;
    struct ab_site_table sites;
    struct ab_convert_marks marks;
};

/* To be ended also when it fails. */
static enum ab_status begin(struct conversion *v, struct ab_family *family,
                            const struct ab_spool_entry *image, FILE *to, struct ab_err *err)
{
    const char *folder = ab_family_folder(family);
    struct ab_trace_writer_options options = {.program = image->image.program,
                                              .marks = &v->marks.table,
                                              .has_thread = wants_thread(image)};
    AB_TRY(ab_convert_marks_open(&v->marks, folder, err));
    v->c.marks = &v->marks;
    v->c.has_time = options.has_time = v->marks.has_time;
    if (image->image.has_sites)
        options.sites = v->c.sites = &v->sites;
    AB_TRY(ab_trace_writer_open_with(to, &options, &v->c.writer, err));
    return inherit(&v->c, family, err);
}

static enum ab_status close_writer(struct conversion *v, struct ab_convert_report *report,
                                   struct ab_err *err)
{
    note_bypass(&v->c);
    report->n_marks = v->marks.table.n;
    report->n_lost_marks = v->marks.table.n_lost;
    struct ab_trace_writer *writer = v->c.writer;
    v->c.writer = NULL;
    return ab_trace_writer_close(writer, &report->info, err);
}

static void end(struct conversion *v)
{
    ab_trace_writer_abandon(v->c.writer);
    ab_converter_close(&v->c);
    ab_site_table_fini(&v->sites);
    ab_convert_marks_close(&v->marks);
}

enum ab_status ab_convert(struct ab_family *family, const struct ab_spool_entry *image, FILE *to,
                          struct ab_convert_report *report, ab_convert_progress *progress,
                          void *user, struct ab_err *err)
{
    struct conversion *v = calloc(1, sizeof *v);
    if (v == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    *report = (struct ab_convert_report){.stop = image->image.stop,
                                         .lacks_sites = image->image.lacks_sites != 0,
                                         .n_usable_size = image->image.n_usable_size};
    enum ab_status status = ab_converter_open(&v->c, ab_family_folder(family), image, report, err);
    if (status == AB_OK)
        status = begin(v, family, image, to, err);
    if (status == AB_OK)
        status = convert_all(&v->c, progress, user, err);
    if (status == AB_OK)
        status = close_writer(v, report, err);
    end(v);
    free(v);
    return status;
}
