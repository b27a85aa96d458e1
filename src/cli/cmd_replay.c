/* SPDX-License-Identifier: MIT */
#include "cli/commands.h"
#include "cli/measure.h"
#include "cli/one_file.h"
#include "cli/progress.h"
#include "cli/resume.h"
#include "trace/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is to be replayed, once it is known how. */
struct replay {
    const char *path;
    char file[64];  /* where `path` is read from */
    int spool;      /* copy of standard input, without a name; -1 = none */
    struct ab_trace_tape_options options;
    struct ab_tape tape;
    struct ab_trace_feed *feed;
    struct ab_trace_info info;
};

static const char *touch_text(const struct ab_options *o, char *buf, size_t cap)
{
    static const char *const names[] = {"none", "first", "ends", "page", "line", "all"};
    if (o->touch == AB_TOUCH_FIRST)
        snprintf(buf, cap, "touch=first(%u)", o->touch_bytes);
    else
        snprintf(buf, cap, "touch=%s", names[o->touch]);
    return buf;
}

static enum ab_status copy_input(int to, struct ab_err *err)
{
    static char buf[1 << 16];
    for (ssize_t n = 1; n != 0;) {
        n = read(STDIN_FILENO, buf, sizeof buf);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return ab_fail_errno(err, AB_INPUT, "cannot read standard input");
        for (ssize_t done = 0, w; done < n; done += w)
            if ((w = write(to, buf + done, (size_t)(n - done))) < 0)
                return ab_fail_errno(err, AB_SYSTEM, "cannot keep what standard input gives");
    }
    return AB_OK;
}

/* Every run reads the trace from its begin, a pipe gives it once: so it is kept, as it came. */
static enum ab_status spool_input(struct replay *r, struct ab_err *err)
{
    const char *places[] = {getenv("TMPDIR"), "/tmp", "/var/tmp"};
    if (strcmp(r->path, "-") != 0)
        return AB_OK;
    for (size_t i = 0; i < sizeof places / sizeof places[0] && r->spool < 0; i++)
        if (places[i] != NULL)
            r->spool = open(places[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (r->spool < 0)
        return ab_fail_errno(err, AB_SYSTEM, "no room in $TMPDIR, /tmp or /var/tmp for what "
                                             "standard input gives");
    snprintf(r->file, sizeof r->file, "/proc/self/fd/%d", r->spool);
    return copy_input(r->spool, err);
}

/* Errors name the file as the user does. */
static enum ab_status name_input(const struct replay *r, enum ab_status status, struct ab_err *err)
{
    size_t n = strlen(r->file);
    if (status == AB_OK || n == 0 || strncmp(err->text, r->file, n) != 0)
        return status;
    struct ab_err plain = *err;
    return ab_fail(err, status, "standard input%s", plain.text + n);
}

struct reading { /* what is told on a terminal meanwhile */
    struct ab_progress_line line;
    const char *path;
};

static void show_reading(void *user, uint64_t done, uint64_t total)
{
    struct reading *reading = user;
    ab_progress_show_events(&reading->line, reading->path, done, total);
}

/* In bursts, or as a whole. */
static enum ab_status read_trace(const struct ab_options *o, struct replay *r, struct ab_err *err)
{
    const char *file = r->file[0] != 0 ? r->file : r->path;
    uint32_t burst = o->has_burst ? o->burst_events : AB_BURST_EVENTS;
    uint64_t from = o->has_burst ? 0 : AB_STREAM_EVENTS;
    enum ab_status status = AB_OK;
    struct reading reading = {.path = r->path};
    ab_progress_begin(&reading.line, o->is_quiet);
    r->options.progress = show_reading;
    r->options.user = &reading;
    if (burst != 0)
        status = ab_trace_feed_open(file, &r->options, burst, from, &r->feed, &r->info, err);
    if (status == AB_OK && r->feed == NULL)
        status = ab_trace_to_tape(file, &r->options, &r->tape, &r->info, err);
    ab_progress_end(&reading.line);
    if (r->feed != NULL)
        r->feed->options.progress = NULL; /* from here on runs are measured */
    return name_input(r, status, err);
}

static enum ab_status measure(const struct ab_options *o, struct replay *r,
                              struct ab_resume *resume, int *exit_code, struct ab_err *err)
{
    char touch[64], program[300], threads[64], burst[64];
    struct ab_tape *tape = r->feed != NULL ? &r->feed->total : &r->tape;
    const char *settings[8], *slash = strrchr(r->path, '/');
    unsigned n = 0;
    snprintf(program, sizeof program, "program=%s", r->info.program);
    snprintf(threads, sizeof threads, "threads=%llu in %u lanes",
             (unsigned long long)r->info.threads, tape->facts.lanes);
    settings[n++] = touch_text(o, touch, sizeof touch);
    settings[n++] = program;
    if (r->info.threads > 1)
        settings[n++] = threads;
    if (r->feed != NULL) {
        snprintf(burst, sizeof burst, "burst=%u calls, %u of them", r->feed->burst_events,
                 r->feed->n_bursts);
        settings[n++] = burst;
    }
    if (r->info.is_partial)
        settings[n++] = "partial: the end of the trace is missing";
    settings[n] = NULL;
    struct ab_subject subject = {
        .kind = "trace",
        .name = r->spool >= 0 ? "standard input" : slash != NULL ? slash + 1 : r->path,
        .about = "",
        .path = r->path,
        .file = r->file[0] != 0 ? r->file : NULL,
        .text = "",
        .settings = settings,
        .seed = o->has_seed ? o->seed : 1,
        .tape = tape,
        .feed = r->feed,
        .resumed = resume->is_on ? &resume->stored.session : NULL,
    };
    return ab_measure(o, &subject, exit_code, err);
}

static enum ab_status replay_trace(const struct ab_options *o, struct ab_resume *resume,
                                   int *exit_code, struct ab_err *err)
{
    struct replay r = {.spool = -1,
                       .options = {.touch = o->touch,
                                   .touch_bytes = o->touch_bytes,
                                   .n_lanes = o->n_lanes,
                                   .is_partial = o->is_partial,
                                   .has_window = o->has_window,
                                   .window = o->window}};
    enum ab_status status = ab_one_file(o, "a trace", "replay", &r.path, err);
    if (status == AB_OK && (status = spool_input(&r, err)) == AB_OK &&
        (status = read_trace(o, &r, err)) == AB_OK)
        status = measure(o, &r, resume, exit_code, err);
    ab_trace_feed_close(r.feed);
    ab_tape_fini(&r.tape);
    if (r.spool >= 0)
        close(r.spool);
    return status;
}

enum ab_status ab_cmd_replay(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_resume resume;
    enum ab_status status = ab_resume_begin(o, "trace", &resume, err);
    if (status != AB_OK)
        return status;
    if (!resume.is_done)
        status = replay_trace(&resume.options, &resume, exit_code, err);
    ab_resume_end(&resume);
    return status;
}
