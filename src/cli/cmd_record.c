/* SPDX-License-Identifier: MIT
 *
 * Implements `record`: runs the command under the recorder, then converts its spool to a trace or
 * keeps the spool. Warns if the trace may be of the wrong program, because the work was done by
 * children or by a program without the recorder.
 */
#include "cli/commands.h"
#include "cli/launch.h"
#include "cli/spool_summary.h"
#include "cli/spool_traces.h"
#include "core/alloc.h"
#include "core/output.h"
#include "core/text.h"
#include "record/relay.h"
#include "symbols/symbols.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Warns if the trace may not be of the intended program. */
static void print_hints(const struct ab_launch *l, const struct ab_spool_traces *t)
{
    char launcher[600];
    if (l->end.has_left)
        fprintf(stderr, "allocbench: the command has ended, but processes that it started are "
                        "still running; their further calls are not recorded (--wait waits for "
                        "them)\n");
    if (t->main == NULL)
        return;
    ab_text_printable(launcher, sizeof launcher, t->main->image.program);
    if (!l->takes_children && !t->has_successor && l->end.children_faults > l->end.own_faults)
        fprintf(stderr,
                "allocbench: child processes of %s allocated more than it did and were not "
                "recorded: --follow records them too\n",
                launcher);
}

/* Prints that the recording is over but the program goes on, so that nobody waits for it. */
static void print_going_on(const struct ab_launch *l)
{
    if (l->end.is_known || l->is_stopped || l->signal != 0)
        return;
    fprintf(stderr,
            "allocbench: the recording is complete; %s (process %d) goes on: ^C ends it, and "
            "--duration with --stop would have\n",
            AB_SHOWN(600, basename(l->program)), l->pid);
}

/* Warns if the call sites of the program will have no lines. If the command executed another
 * program, as a shell does, its file is unknown. */
static void print_lineless(const struct ab_launch *l, const struct ab_spool_traces *t)
{
    struct ab_symbols *symbols;
    char name[sizeof t->main->image.program];
    snprintf(name, sizeof name, "%s", basename(l->program));
    if (l->site_depth == 0 || t->main == NULL || strcmp(name, t->main->image.program) != 0 ||
        ab_symbols_open(l->program, NULL, 0, &symbols) != AB_SYMBOLS_OPEN)
        return;
    enum ab_symbols_depth depth = ab_symbols_depth(symbols);
    if (depth != AB_SYMBOLS_LINES)
        fprintf(stderr,
                "allocbench: %s has no debug information: its call sites will be %s, without "
                "lines; compile it with -g%s\n",
                AB_SHOWN(600, name), depth == AB_SYMBOLS_FUNCTIONS ? "functions" : "addresses",
                strncmp(l->program, "/usr/", 5) == 0 ? ", or install its -dbgsym package" : "");
    ab_symbols_close(symbols);
}

/* Warns if --marks saw no frame. Perhaps the program shows frames in a way that cannot be
 * intercepted. */
static void print_unseen(const struct ab_launch *l)
{
#define NAME(name) ", " #name
    if (l->frames[0] != 0 && !l->end.has_frames)
        fprintf(stderr,
                "allocbench: --marks: no call of %s was seen by a program or library that is "
                "linked with it; allocbench/mark.h marks frames in the program itself\n",
                &(AB_FRAMES(NAME))[2]);
}

static enum ab_status check_seen(const struct ab_launch *l, const struct ab_spool_traces *t,
                                 struct ab_err *err)
{
    if (t->main != NULL || (l->takes_children && t->n_images > 0))
        return AB_OK;
    for (size_t i = 0; i < t->n_images; i++)
        if (ab_spool_stop_text(t->images[i].image.stop) != NULL)
            return ab_fail(err, AB_SYSTEM, "%s could not be recorded: %s",
                           AB_SHOWN(600, basename(l->program)),
                           ab_spool_stop_text(t->images[i].image.stop));
    return ab_fail(err, AB_INPUT,
                   "%s: no call of malloc was recorded. It may include its own malloc, or do its "
                   "work in another process: --follow records that too",
                   AB_SHOWN(600, basename(l->program)));
}

/* Keeps the spool as the result of --no-convert. */
static enum ab_status keep_spool(struct ab_launch *l, const struct ab_spool_traces *t,
                                 struct ab_err *err)
{
    char shown[512];
    uint64_t n_calls = 0;
    const char *stop = NULL;
    for (size_t i = 0; i < t->n_images; i++) {
        n_calls += t->images[i].n_calls;
        stop = stop != NULL ? stop : ab_spool_stop_text(t->images[i].image.stop);
    }
    ab_text_printable(shown, sizeof shown, t->path);
    l->is_kept = true;
    if (stop != NULL)
        return ab_fail(err, AB_SYSTEM,
                       "recording stopped: %s; the part before is in %s; use "
                       "allocbench trace recover --partial",
                       stop, shown);
    if (!t->is_quiet)
        fprintf(stderr,
                "allocbench: %s: about %llu events, not converted; use allocbench trace "
                "recover %s -o TRACE.abt\n",
                shown, (unsigned long long)n_calls, shown);
    return AB_OK;
}

/* Writes the traces, and keeps the spool if one of them may be incomplete. A recording may have
 * taken hours, so an unwritable file, an interruption or an unreadable spool is no reason to
 * discard it. */
static enum ab_status write_traces(struct ab_launch *l, struct ab_spool_traces *t,
                                   struct ab_output *out, struct ab_err *err)
{
    enum ab_status status = ab_spool_traces_write(t, out, err);
    if (t->n_in_doubt == 0)
        return status;
    l->is_kept = true;
    if (status == AB_OK) {
        fprintf(stderr, "allocbench: the recording is kept in %s; use allocbench trace recover\n",
                l->folder);
        return AB_OK;
    }
    ab_err_context(err, "the recording is kept in %s; use allocbench trace recover: ", l->folder);
    return AB_SYSTEM;
}

static enum ab_status keep(struct ab_launch *l, struct ab_output *out, const struct ab_options *o,
                           const struct ab_trace_place *place, struct ab_err *err)
{
    struct ab_spool_traces t = {
        .folder = l->spool,
        .path = place->path,
        .has_folder = place->is_in_folder,
        .ns_per_tick = (double)l->end.wall_ns / (double)(l->end.wall_ticks | 1),
        .wall_ns = (double)l->end.wall_ns,
        .cpu_ns = (double)l->end.cpu_ns,
        .last_name = l->end.comm,
        .along = l->along,
        .is_quiet = o->talk.is_quiet,
        .keeps_old = true,
    };
    enum ab_status status = ab_spool_traces_open(&t, err);
    if (status == AB_OK)
        status = check_seen(l, &t, err);
    if (status == AB_OK && o->recording.is_unconverted)
        status = keep_spool(l, &t, err);
    else if (status == AB_OK)
        status = write_traces(l, &t, out, err);
    if (status == AB_OK && !o->talk.is_quiet) {
        print_hints(l, &t);
        print_unseen(l);
        print_lineless(l, &t);
        print_going_on(l);
    }
    ab_spool_traces_close(&t);
    return status;
}

/* Chooses when to convert. Short recordings are converted at the end, without cost while the
 * command runs. Tests set another size in bytes (0 = only at the end) and do not wait for a free
 * CPU. */
static void choose_along(struct ab_launch *l, const struct ab_options *o)
{
    const char *of_test = getenv("ALLOCBENCH_TEST_CONVERT_FROM");
    l->is_eager = of_test != NULL;
    l->along_bytes = UINT64_C(64) << 20;
    if (of_test != NULL)
        l->along_bytes = strtoull(of_test, NULL, 10);
    if (o->recording.is_unconverted)
        l->along_bytes = 0;
}

static char last_words[1200];

static void keep_without_memory(void)
{
    ssize_t ignored = write(STDERR_FILENO, last_words, strlen(last_words));
    (void)ignored;
    _exit(AB_LAUNCH_FAILED);
}

/* Prepares the message for running out of memory: the command goes on, and its recording is
 * kept. */
static void prepare_last_words(const struct ab_launch *l)
{
    snprintf(last_words, sizeof last_words,
             "allocbench: the recording is kept in %s; use allocbench trace recover\n", l->folder);
    ab_memory_at_end(keep_without_memory);
}

static enum ab_status record(const struct ab_options *o, const struct ab_trace_place *place,
                             int *exit_code, struct ab_err *err)
{
    struct ab_launch launch = {.folder = "", .owner_fd = -1};
    struct ab_output out = {0};
    enum ab_status status = ab_launch_prepare(
        o->args[0], o->recording.is_unconverted ? place->path : NULL, &launch, exit_code, err);
    launch.takes_children = o->recording.is_following || o->recording.is_waiting;
    launch.is_waiting = o->recording.is_waiting;
    launch.most_events = o->recording.most_events;
    launch.most_bytes = o->recording.most_spool_bytes;
    choose_along(&launch, o);
    launch.duration_ns = o->recording.duration_ns;
    launch.site_depth = o->recording.site_depth;
    launch.has_time = o->recording.has_call_times;
    if (status == AB_OK && o->recording.marks_frames)
        status = ab_launch_mark_frames(&launch, err);
    if (status == AB_OK && !o->recording.is_unconverted)
        status = ab_output_open(place->path, &out, err);
    if (status == AB_OK && (status = ab_launch_start(&launch, o->args, err)) == AB_USAGE)
        *exit_code = AB_LAUNCH_CANNOT_RUN;
    if (status == AB_OK) {
        prepare_last_words(&launch);
        ab_live_line_begin(&launch.live, o->talk.is_quiet, o->recording.shows_progress);
        if (ab_launch_await(&launch) && o->recording.stops_command)
            ab_launch_stop(&launch);
        status = keep(&launch, &out, o, place, err);
        int code = ab_launch_finish(&launch);
        if (status == AB_OK)
            *exit_code = launch.is_stopped && launch.signal == 0 ? 0 : code;
    }
    ab_output_abandon(&out);
    ab_launch_clean(&launch);
    return status;
}

enum ab_status ab_cmd_record(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_trace_place place;
    *exit_code = AB_LAUNCH_FAILED;
    if (o->n_args == 0)
        return ab_fail(err, AB_USAGE,
                       "record needs a command: allocbench record -o app.abt -- ./app …");
    if (o->output != NULL && strcmp(o->output, "-") == 0)
        return ab_fail(err, AB_USAGE, "standard output is used by the command; give a file");
    if (o->recording.stops_command && o->recording.duration_ns == 0)
        return ab_fail(err, AB_USAGE, "--stop needs --duration: when to end the command");
    AB_TRY(ab_trace_place_find(o->output, basename(o->args[0]),
                               o->recording.is_unconverted ? "spool" : "abt", &place, err));
    return record(o, &place, exit_code, err);
}
