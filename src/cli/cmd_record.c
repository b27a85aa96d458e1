/* SPDX-License-Identifier: MIT
 *
 * Implements `record`. Shows the progress of the recording and prints what was recorded. Warns if
 * the work was done by children or by a program without the recorder, so that the trace may be of
 * the wrong program.
 */
#include "app/record/record.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/spool_summary.h"
#include "core/alloc.h"
#include "core/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the line of progress, drawn only while we are in the foreground of the terminal ---- */

struct live_line {
    struct ab_progress_line line;
    /* looked_ns: time since the start at which the line was last drawn; n_calls: number of calls at
     * that time */
    uint64_t looked_ns, n_calls;
};

static bool is_same_terminal(void)
{
    struct stat out, err;
    return fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 &&
           S_ISCHR(out.st_mode) && S_ISCHR(err.st_mode) && out.st_rdev == err.st_rdev;
}

static bool is_in_background(void)
{
    pid_t front = tcgetpgrp(STDERR_FILENO); /* -1 = not the terminal of our session */
    return front >= 0 && front != getpgrp();
}

/* Draws "recording ended, 12.4 M calls, spool 88.1 MiB". This is shown while the command goes on
 * without being recorded. */
static void draw_end(struct live_line *l, const struct ab_launch_progress *p)
{
    char text[AB_PROGRESS_BYTES], calls[32];
    snprintf(text, sizeof text, "recording ended, %s calls, spool %s",
             ab_units_count(calls, sizeof calls, (double)p->n_calls), AB_BYTES(p->spool_bytes));
    ab_progress_show_text(&l->line, text);
}

/* Appends ", 93 % converted". */
static void add_converted(struct ab_text *to, const struct ab_launch_progress *p)
{
    uint64_t n = p->n_converted < p->n_events ? p->n_converted : p->n_events;
    if (n > 0)
        ab_text_addf(to, ", %.0f %% converted", floor(100 * (double)n / (double)p->n_events));
}

/* Draws "recording 1:05, 12.4 M calls, 310 k/s, spool 88.1 MiB, 93 % converted". */
static void draw(struct live_line *l, const struct ab_launch_progress *p)
{
    struct ab_text text = {0};
    char calls[32], rate[32];
    unsigned long long s = p->spent_ns / 1000000000;
    uint64_t n_new = p->n_calls > l->n_calls ? p->n_calls - l->n_calls : 0;
    double per_s = (double)n_new * 1e9 / (double)(p->spent_ns - l->looked_ns);
    ab_text_add(&text, "recording ");
    if (s >= 3600)
        ab_text_addf(&text, "%llu:%02llu:%02llu", s / 3600, s / 60 % 60, s % 60);
    else
        ab_text_addf(&text, "%llu:%02llu", s / 60, s % 60);
    ab_text_addf(&text, ", %s calls, %s/s, spool %s",
                 ab_units_count(calls, sizeof calls, (double)p->n_calls),
                 ab_units_count(rate, sizeof rate, per_s), AB_BYTES(p->spool_bytes));
    add_converted(&text, p);
    ab_progress_show_text(&l->line, text.s);
    ab_text_fini(&text);
}

static void show_live(void *user, const struct ab_launch_progress *p)
{
    struct live_line *l = user;
    if (is_in_background())
        return;
    if (p->is_ended)
        draw_end(l, p);
    else
        draw(l, p);
    l->looked_ns = p->spent_ns;
    l->n_calls = p->n_calls;
}

static void end_live(void *user)
{
    struct live_line *l = user;
    ab_progress_end(&l->line);
}

/* Prepares the line of progress. If standard output is the same terminal, nothing is drawn without
 * --progress, because the command's output would mix with the line. */
static struct ab_launch_watch begin_live(struct live_line *l, const struct ab_options *o)
{
    ab_progress_begin(&l->line,
                      o->talk.is_quiet || (is_same_terminal() && !o->recording.shows_progress));
    return (struct ab_launch_watch){
        .user = l, .show = l->line.is_on ? show_live : NULL, .end = end_live};
}

/* ---- notes and warnings ---- */

/* Warns if the trace may not be of the intended program. */
static void print_hints(const struct ab_recording *r)
{
    const struct ab_launch *l = &r->launch;
    const struct ab_spool_traces *t = &r->traces;
    char launcher[600];
    if (l->end.has_left)
        fprintf(stderr, "allocbench: the command has ended, but processes that it started are "
                        "still running; their further calls are not recorded (--wait waits for "
                        "them)\n");
    if (t->main == NULL)
        return;
    ab_text_printable(launcher, sizeof launcher, t->main->image.program);
    if (!l->takes_children && r->facts.successor[0] == 0 &&
        l->end.children_faults > l->end.own_faults)
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
            "allocbench: the recording is complete, but %s (process %d) goes on: ^C ends it; "
            "--duration with --stop would have ended it\n",
            AB_SHOWN(600, basename(l->program)), l->pid);
}

/* Warns if the call sites of the program will have no lines. */
static void print_lineless(const struct ab_recording *r)
{
    const char *instead = ab_recording_lineless(r);
    if (instead != NULL)
        fprintf(stderr,
                "allocbench: %s has no debug information: its call sites will be %s, without "
                "lines; compile it with -g%s\n",
                AB_SHOWN(600, r->traces.main->image.program), instead,
                strncmp(r->launch.program, "/usr/", 5) == 0 ? ", or install its -dbgsym package"
                                                            : "");
}

/* Warns if --marks saw no frame. Perhaps the program shows frames in a way that cannot be
 * intercepted. */
static void print_unseen(const struct ab_launch *l)
{
#define NAME(name) ", " #name
    if (l->frames[0] != 0 && !l->end.has_frames)
        fprintf(stderr,
                "allocbench: --marks: no program or library that is linked with %s called it; "
                "allocbench/mark.h marks frames in the program itself\n",
                &(AB_FRAMES(NAME))[2]);
}

static void print_kept_spool(const struct ab_recording *r)
{
    char shown[512];
    ab_text_printable(shown, sizeof shown, r->traces.path);
    fprintf(stderr,
            "allocbench: %s: about %llu events, not converted; use allocbench trace "
            "recover %s -o TRACE.abt\n",
            shown, (unsigned long long)r->n_calls, shown);
}

/* Prints what was recorded; under --quiet only what was lost. `status` is the status of the
 * recording. */
static void print_recording(struct ab_recording *r, bool is_quiet, enum ab_status status)
{
    ab_spool_summary_print_traces(r, is_quiet);
    if (status != AB_OK)
        return;
    if (r->traces.n_in_doubt > 0)
        fprintf(stderr, "allocbench: the recording is kept in %s; use allocbench trace recover\n",
                r->launch.folder);
    if (is_quiet)
        return;
    if (r->is_unconverted)
        print_kept_spool(r);
    print_hints(r);
    print_unseen(&r->launch);
    print_lineless(r);
    print_going_on(&r->launch);
}

static char last_words[1200];

static void keep_without_memory(void)
{
    ssize_t ignored = write(STDERR_FILENO, last_words, strlen(last_words));
    (void)ignored;
    _exit(AB_LAUNCH_FAILED);
}

/* Prepares the message that is printed if memory runs out. Then allocbench ends, the command goes
 * on, and its recording is kept. */
static void prepare_last_words(const char *folder)
{
    snprintf(last_words, sizeof last_words,
             "allocbench: the recording is kept in %s; use allocbench trace recover\n", folder);
    ab_memory_at_end(keep_without_memory);
}

static struct ab_record_request request_of(const struct ab_options *o)
{
    const struct ab_recording_wanted *r = &o->recording;
    return (struct ab_record_request){
        .args = o->args,
        .output = o->output,
        .is_unconverted = r->is_unconverted,
        .takes_children = r->is_following || r->is_waiting,
        .is_waiting = r->is_waiting,
        .marks_frames = r->marks_frames,
        .has_call_times = r->has_call_times,
        .site_depth = r->site_depth,
        .most_events = r->most_events,
        .most_bytes = r->most_spool_bytes,
        .duration_ns = r->duration_ns,
        .stops_command = r->stops_command,
        .begun = prepare_last_words,
    };
}

enum ab_status ab_cmd_record(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_recording recording;
    struct live_line live = {.n_calls = 0};
    struct ab_progress_files files = {.is_quiet = o->talk.is_quiet};
    *exit_code = AB_LAUNCH_FAILED;
    if (o->n_args == 0)
        return ab_fail(err, AB_USAGE,
                       "record needs a command: allocbench record -o app.abt -- ./app …");
    if (o->output != NULL && strcmp(o->output, "-") == 0)
        return ab_fail(err, AB_USAGE,
                       "the command uses standard output; give a file for the trace");
    if (o->recording.stops_command && o->recording.duration_ns == 0)
        return ab_fail(err, AB_USAGE,
                       "--stop needs --duration, which says when to end the command");
    struct ab_record_request request = request_of(o);
    request.watch = begin_live(&live, o);
    request.conversion = ab_progress_of_files(&files);
    enum ab_status status = ab_record(&request, &recording, exit_code, err);
    print_recording(&recording, o->talk.is_quiet, status);
    int code = ab_recording_end(&recording);
    if (status == AB_OK)
        *exit_code = code;
    return status;
}
