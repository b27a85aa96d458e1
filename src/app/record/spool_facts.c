/* SPDX-License-Identifier: MIT
 *
 * Adds up the reports of the traces of a spool, and finds the programs that were not recorded.
 */
#include "app/record/spool_facts.h"

#include "app/record/launch.h"
#include "base/bits.h"
#include "base/clock.h"
#include "core/text.h"
#include "program/program_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Adds up the reports of all traces that were written. If no trace has a reason why recording
 * ended, takes the reason in the spool, because processes that started after the end were not
 * recorded. */
static void add_up(const struct ab_spool_traces *t, struct ab_spool_facts *f)
{
    struct ab_convert_report *sum = &f->sum;
    f->end = ab_spool_read_end(t->folder);
    for (size_t i = 0; i < t->n_results; i++) {
        const struct ab_convert_report *r = &t->results[i].report;
        if (!ab_spool_has_trace(&t->results[i]))
            continue;
        sum->n_shared_threads += r->n_shared_threads;
        sum->n_foreign += r->n_foreign;
        sum->n_reused += r->n_reused;
        if (r->stop == AB_SPOOL_RUNNING) /* else the end of the recording interrupted these calls */
            sum->n_unfinished += r->n_unfinished;
        sum->n_repairs += r->n_repairs;
        sum->n_usable_size += r->n_usable_size;
        sum->n_sites += r->n_sites;
        sum->n_cut_sites += r->n_cut_sites;
        sum->n_stacks += r->n_stacks;
        sum->n_marks += r->n_marks;
        sum->n_lost_marks += r->n_lost_marks;
        sum->lacks_sites |= r->lacks_sites;
        if (r->repair_ticks_max > sum->repair_ticks_max)
            sum->repair_ticks_max = r->repair_ticks_max;
        f->end = ab_spool_end_text(r->stop) != NULL ? r->stop : f->end;
        sum->info.events += r->info.events - r->n_inherited;
        sum->info.threads += r->info.threads;
        sum->noting_ticks += r->noting_ticks;
        sum->site_ticks += r->site_ticks;
        sum->turn_ticks += r->turn_ticks;
        if (r->span_ticks > sum->span_ticks)
            sum->span_ticks = r->span_ticks;
        f->n_running += t->results[i].is_running;
        f->n_short += t->results[i].outcome == AB_SPOOL_SHORT;
        f->n_bypassed += r->info.bypass.is_there;
    }
}

const char *ab_spool_facts_why_unseen(const struct ab_unseen *u, struct ab_err *why)
{
    char path[4096];
    const char *stop = ab_spool_stop_text(u->why);
    if (stop != NULL)
        return stop;
    if (!ab_program_file_find(u->path, path, sizeof path))
        return "not found: deleted since, or started from another folder or root";
    if (ab_launch_check(path, why) != AB_OK)
        return why->text;
    if (u->user == geteuid())
        return "LD_PRELOAD was removed, or it ended before the recorder started";
    ab_fail(
        why, AB_SYSTEM,
        "it ran as another user (uid %u): LD_PRELOAD was removed, or that user cannot reach the "
        "recorder or the folder of the recording, which TMPDIR chooses",
        u->user);
    return why->text;
}

/* True if the traced program is a launcher: it made few calls and then executed another program. A
 * program that only renamed itself has ended by exit or made more calls. */
static bool has_another_name(const struct ab_spool_traces *t)
{
    enum { FEW_EVENTS = 10000 };
    const struct ab_spool_image *image = &t->main->image;
    return t->main->n_events < FEW_EVENTS && !image->has_exited && t->last_name != NULL &&
           t->last_name[0] != 0 && strcmp(t->last_name, image->comm) != 0;
}

/* Returns a program that the command executed after the traced one and that made no recorded call;
 * NULL = none. */
static const struct ab_spool_entry *find_silent(const struct ab_spool_traces *t)
{
    for (size_t i = 0; i < t->n_images; i++)
        if (t->images[i].image.pid == t->main->image.pid &&
            t->images[i].generation > t->main->generation)
            return &t->images[i];
    return NULL;
}

static const char *silent_reason(const struct ab_spool_traces *t,
                                 const struct ab_spool_entry *silent)
{
    static const struct ab_places none = {0};
    struct ab_bypass_report report = {.places = &none};
    struct ab_trace_bypass bypass;
    struct ab_trace_whole whole = AB_WHOLE_NONE;
    ab_bypass_read(t->folder, silent, &report, &bypass, &whole);
    return report.path[0] != 0 && report.kind == AB_BYPASS_OWN
               ? "it has a malloc of its own"
               : "it made no call of malloc that the recorder sees; it may have a malloc of its own";
}

/* Finds the program that the command's own process executed and that was not recorded. A comparison
 * of names is not enough, because many launchers have the name of the program that they start. */
static void find_successor(const struct ab_spool_traces *t, const struct ab_unseen *u,
                           struct ab_spool_facts *f)
{
    struct ab_err why;
    const struct ab_spool_entry *silent = find_silent(t);
    const char *reason = "LD_PRELOAD was removed, or the program is static, setuid, has its own "
                         "malloc, uses another C library or another root";
    if (u != NULL)
        reason = ab_spool_facts_why_unseen(u, &why);
    else if (silent != NULL)
        reason = silent_reason(t, silent);
    else if (!has_another_name(t))
        return;
    const char *path = u != NULL ? u->path : silent != NULL ? silent->image.path : t->last_name;
    bool has_other_name = strcmp(basename(path), t->main->image.program) != 0;
    ab_text_printable(f->successor, sizeof f->successor, has_other_name ? basename(path) : path);
    AB_COPY(f->successor_why, reason);
}

static int by_processes(const void *a, const void *b)
{
    const struct ab_unseen *x = a, *y = b;
    return x->n != y->n ? AB_COMPARE(y->n, x->n) : strcmp(x->path, y->path);
}

/* Finds the programs that were not recorded. Without --follow, only the successor of the command's
 * own program matters. */
static void find_unseen(const struct ab_spool_traces *t, struct ab_spool_facts *f)
{
    f->n_unseen = ab_spool_read_unseen(t->folder, t->images, t->n_images, &f->unseen, &f->n_lost);
    if (f->n_unseen > 0)
        qsort(f->unseen, f->n_unseen, sizeof f->unseen[0], by_processes);
    if (!ab_spool_takes_children(t) && t->main != NULL) {
        find_successor(t, f->n_unseen > 0 ? &f->unseen[0] : NULL, f);
        f->n_unseen = 0;
    }
}

/* Returns the time in ns that program and recorder took together. This is the CPU time if it is
 * known. It is unknown if a daemon outlives the command, and in `trace recover`. Then the result is
 * the elapsed time. If that is less than least_ns, it counts once for each CPU that the threads may
 * have used. */
static double whole_time(const struct ab_spool_facts *f, const struct ab_spool_traces *t,
                         double least_ns, const char **kind)
{
    double wall_ns = fmax(t->wall_ns, (double)f->sum.span_ticks * f->ns_per_tick);
    double cpus = fmin((double)f->sum.info.threads, fmax(1, (double)sysconf(_SC_NPROCESSORS_ONLN)));
    *kind = t->cpu_ns > 0 ? " CPU time" : wall_ns < least_ns && cpus > 1 ? " on all CPUs" : "";
    if (t->cpu_ns > 0)
        return t->cpu_ns;
    return wall_ns < least_ns ? wall_ns * cpus : wall_ns;
}

static void find_cost(const struct ab_spool_traces *t, struct ab_spool_facts *f)
{
    const struct ab_convert_report *r = &f->sum;
    struct ab_recording_cost c = {.turn_ns = (double)r->turn_ticks * f->ns_per_tick};
    double noting_ns = r->noting_ticks * f->ns_per_tick, site_ns = r->site_ticks * f->ns_per_tick;
    c.sum_ns = noting_ns + site_ns + c.turn_ns;
    c.of_ns = whole_time(f, t, c.sum_ns, &c.of_kind);
    c.event_ns = noting_ns / (double)r->info.events;
    c.site_ns = site_ns / (double)r->n_sites;
    if (noting_ns > 0)
        f->cost = c;
}

void ab_spool_facts_find(const struct ab_spool_traces *t, struct ab_spool_facts *out)
{
    struct ab_clock clock;
    *out = (struct ab_spool_facts){.ns_per_tick = t->ns_per_tick};
    if (out->ns_per_tick <= 0) {
        ab_clock_calibrate(&clock);
        out->ns_per_tick = clock.ns_per_tick;
    }
    add_up(t, out);
    find_unseen(t, out);
    find_cost(t, out);
}
