/* SPDX-License-Identifier: MIT
 *
 * Reads a trace from a file or pipe, writes it as a tape file, whole or in bursts, and has it
 * measured.
 */
#include "app/replay.h"

#include "app/measure_tape.h"
#include "app/one_file.h"
#include "app/owners.h"
#include "app/resume_result.h"
#include "app/say.h"
#include "app/stacks.h"
#include "core/text.h"
#include "runner/estimate.h"
#include "tape/tape_file.h"
#include "trace_tools/to_tape.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* State of one replay. */
struct replay {
    const struct ab_measure_request *asked;
    const char *path;
    char file[64]; /* path that is read instead of `path` */
    int spool;     /* unnamed copy of standard input; -1 = none */
    struct ab_trace_feed_options options;
    struct ab_trace_feed *feed;
    struct ab_scopes scopes;
    struct ab_scope_spans spans;
    struct ab_tape_map map;
    struct ab_overview overview;
    struct ab_stacks stacks; /* flame graphs of call sites; all NULL = not read */
    struct ab_owner_list owners;
};

/* Writes the setting "touch=…" that was applied to `buf` and returns `buf`. If --touch auto found
 * no recorded touches, the setting names the touch that all blocks got. */
static const char *touch_text(const struct ab_measure_request *asked,
                              const struct ab_trace_pusher *p, char *buf, size_t cap)
{
    static const char *const words[] = AB_TOUCH_WORDS("");
    bool is_auto = asked->replay.recorded == AB_RECORDED_AUTO;
    const char *how = asked->replay.recorded == AB_RECORDED_MUST || (is_auto && p->n_recorded > 0)
                          ? "recorded"
                      : is_auto && p->n_left > 0 ? "auto"
                                                 : NULL;
    if (how != NULL)
        snprintf(buf, cap, "touch=%s%s%s", how, asked->replay.touch != AB_TOUCH_PAGE ? "," : "",
                 asked->replay.touch != AB_TOUCH_PAGE ? words[asked->replay.touch] : "");
    else if (asked->replay.touch == AB_TOUCH_FIRST)
        snprintf(buf, cap, "touch=first(%u)", asked->replay.touch_bytes);
    else if (asked->replay.touch == AB_TOUCH_SHARE)
        snprintf(buf, cap, "touch=%.6g%%", asked->replay.touch_bytes / (AB_TOUCH_WHOLE / 100.0));
    else
        snprintf(buf, cap, "touch=%s", words[asked->replay.touch]);
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
                return ab_fail_errno(err, AB_SYSTEM, "cannot buffer standard input");
    }
    return AB_OK;
}

/* Copies standard input to an unnamed file, because a trace may be read twice. */
static enum ab_status spool_input(struct replay *r, struct ab_err *err)
{
    const char *folder;
    if (strcmp(r->path, "-") != 0)
        return AB_OK;
    if ((r->spool = ab_unnamed_file(&folder)) < 0)
        return ab_fail_errno(err, AB_SYSTEM,
                             "no space in $TMPDIR, /var/tmp or /tmp to buffer "
                             "standard input");
    AB_FIT(r->file, "/proc/self/fd/%d", r->spool);
    return copy_input(r->spool, err);
}

/* Replaces the name of the copy in an error by "standard input". */
static enum ab_status name_input(const struct replay *r, enum ab_status status, struct ab_err *err)
{
    size_t n = strlen(r->file);
    if (status == AB_OK || n == 0 || strncmp(err->text, r->file, n) != 0)
        return status;
    struct ab_err plain = *err;
    return ab_fail(err, status, "standard input%s", plain.text + n);
}

static void show_reading(void *user, uint64_t done, uint64_t total)
{
    const struct replay *r = user;
    ab_say_count(&r->asked->talk, r->path, "events", done, total);
}

static void show_stacks(void *user, uint64_t n_events)
{
    show_reading(user, n_events, 0);
}

/* Sets the number of events and of bytes of the trace that may be in memory as a tape at a time. */
static void set_burst(const struct ab_measure_request *asked, struct ab_trace_feed_options *options)
{
    options->burst_events = asked->replay.burst_events;
    options->most_bytes = asked->replay.has_burst ? UINT64_MAX : ab_tape_memory(&asked->settings);
}

/* Writes the tape, burst by burst, to the file that runs map. */
static enum ab_status lay_down(struct replay *r, struct ab_err *err)
{
    struct ab_tape_file file = {0};
    const struct ab_tape *burst;
    enum ab_status status = ab_trace_feed_next(r->feed, &burst, err);
    if (status != AB_OK || (status = ab_tape_file_begin(r->feed->is_over, &file, err)) != AB_OK)
        return status;
    while (status == AB_OK && burst != NULL)
        if ((status = ab_tape_file_add(&file, burst, err)) == AB_OK)
            status = ab_trace_feed_next(r->feed, &burst, err);
    if (status == AB_OK)
        status = ab_tape_file_end(&file, &r->feed->total, &r->map, err);
    ab_tape_file_abandon(&file);
    return status;
}

static enum ab_status find_scopes(const struct ab_measure_request *asked, const char *file,
                                  struct replay *r, struct ab_err *err)
{
    if (asked->replay.each_budget_ns != 0 && !asked->replay.has_each_scope)
        return ab_fail(err, AB_USAGE, "--budget needs --each scope");
    if (!asked->replay.has_each_scope)
        return AB_OK;
    const struct ab_walk walk = {.path = file, .is_partial = asked->replay.is_partial};
    enum ab_status status = ab_scopes_find(&walk, asked->scopes_wish, &r->scopes, err);
    if (status == AB_OK && r->scopes.from == AB_SCOPES_NONE)
        return ab_fail(err, AB_CONFIG,
                       "%s: --each scope: it has no marks, and no scopes are found in it", file);
    if (status == AB_OK)
        status = ab_scope_spans_find(&walk, &r->scopes, &r->spans, err);
    r->options.tape.scopes = &r->scopes;
    r->options.tape.spans = &r->spans;
    r->options.tape.budget_ns = asked->replay.each_budget_ns;
    return status;
}

/* Reads the call stacks, if an HTML or SVG report will show them. */
static enum ab_status read_stacks(const struct ab_measure_request *asked, const char *file,
                                  struct replay *r, struct ab_err *err)
{
    struct ab_walk walk = {.path = file,
                           .is_partial = asked->replay.is_partial,
                           .progress = show_stacks,
                           .progress_user = r};
    if ((asked->outputs.sinks[AB_SINK_HTML] == NULL && asked->outputs.sinks[AB_SINK_SVG] == NULL) ||
        !r->feed->info.has_sites)
        return AB_OK;
    AB_TRY(ab_trace_stacks_read(&walk, &r->stacks, err));
    r->stacks.by_pinned = r->owners.flame = ab_flame_open();
    return AB_OK;
}

/* Reads the owners and marks. Runs before the tape is made, because that sets the positions of the
 * marks. */
static enum ab_status read_owners(const struct ab_measure_request *asked, const char *file,
                                  struct replay *r, struct ab_err *err)
{
    if (!ab_owners_are_wanted(asked, NULL))
        return AB_OK;
    r->options.tape.moments = &r->owners.marks;
    return ab_owners_of_trace(asked, file, &r->owners, err);
}

static enum ab_status read_trace(const struct ab_measure_request *asked, struct replay *r,
                                 struct ab_err *err)
{
    const char *file = r->file[0] != 0 ? r->file : r->path;
    r->options.tape.progress = show_reading;
    r->options.tape.user = r;
    set_burst(asked, &r->options);
    enum ab_status status = find_scopes(asked, file, r, err);
    if (status == AB_OK)
        status = read_owners(asked, file, r, err);
    if (status == AB_OK)
        status = ab_trace_feed_open(file, &r->options, &r->feed, err);
    if (status == AB_OK && (status = lay_down(r, err)) == AB_OK)
        ab_overview_end(r->feed->pusher.overview, &r->overview);
    if (status == AB_OK)
        status = read_stacks(asked, file, r, err);
    if (status == AB_OK && r->owners.n > 0)
        status = ab_owners_find_moments(&asked->passes, r->map.image, &r->owners, err);
    return name_input(r, status, err);
}

struct settings { /* settings of the subject as texts; ends with NULL */
    const char *list[12];
    char touch[64], untouched[64], program[300], threads[64], burst[64], budget[64], between[64];
};

static void list_settings(const struct ab_measure_request *asked, const struct replay *r,
                          struct settings *s)
{
    const struct ab_trace_info *info = &r->feed->info;
    unsigned n = 0;
    AB_FIT(s->program, "program=%s", info->program);
    AB_FIT(s->threads, "threads=%llu in %u lanes", (unsigned long long)info->threads,
           r->feed->total.facts.lanes);
    const struct ab_trace_pusher *pusher = &r->feed->pusher;
    s->list[n++] = touch_text(asked, pusher, s->touch, sizeof s->touch);
    if (pusher->n_left > 0) {
        AB_FIT(s->untouched, "untouched=%llu of live bytes at most",
               (unsigned long long)pusher->left_peak_bytes);
        s->list[n++] = s->untouched;
    }
    s->list[n++] = s->program;
    if (asked->replay.has_each_scope)
        s->list[n++] = "each=scope";
    if (asked->replay.each_budget_ns != 0) {
        AB_FIT(s->budget, "budget=%lluns", (unsigned long long)asked->replay.each_budget_ns);
        s->list[n++] = s->budget;
    }
    if (asked->conditions.has_between) {
        AB_FIT(s->between, "between=%u", asked->conditions.between);
        s->list[n++] = s->between;
    }
    if (info->threads > 1)
        s->list[n++] = s->threads;
    if (r->feed->burst_events != 0) {
        AB_FIT(s->burst, "burst=%u calls, %u of them", r->feed->burst_events, r->feed->n_bursts);
        s->list[n++] = s->burst;
    }
    if (info->is_partial)
        s->list[n++] = "partial: the end of the trace is missing";
    s->list[n] = NULL;
}

/* Returns n, or 0 if it is unknown. */
static uint64_t known(uint64_t n)
{
    return n == AB_WHOLE_UNKNOWN ? 0 : n;
}

static enum ab_status measure(const struct ab_measure_request *asked, struct replay *r,
                              struct ab_resume *resume, int *exit_code, struct ab_err *err)
{
    struct settings settings;
    const char *slash = strrchr(r->path, '/');
    list_settings(asked, r, &settings);
    struct ab_subject subject = {
        .kind = AB_SESSION_TRACE,
        .scopes = r->options.tape.scopes,
        .is_part = asked->most_events != 0,
        .thread_ends_left_out = r->feed->pusher.n_shared_ends,
        .program_cpu_ns = known(r->feed->info.whole.cpu_ns),
        .program_calls = known(r->feed->info.whole.calls),
        .anonymous_bytes = known(r->feed->info.whole.anonymous_bytes),
        .unasked_bytes = known(r->feed->info.whole.unasked_bytes),
        .name = r->spool >= 0   ? "standard input"
                : slash != NULL ? slash + 1
                                : r->path,
        .about = "",
        .values = "",
        .path = r->path,
        .file = r->file[0] != 0 ? r->file : NULL,
        .text = "",
        .settings = settings.list,
        .seed = asked->settings.has_seed ? asked->settings.seed : 1,
        .tape = &r->feed->total,
        .overview = &r->overview,
        .stacks = r->stacks.by_calls != NULL ? &r->stacks : NULL,
        .map = &r->map,
        .owners = r->owners.n > 0 ? &r->owners.owners : NULL,
        .resumed = resume->is_on ? &resume->stored.session : NULL,
    };
    return ab_measure_tape(asked, &subject, 1, exit_code, err);
}

/* Reads the trace to its end, to check that it is readable. */
static enum ab_status try_trace(struct replay *r, struct ab_err *err)
{
    const struct ab_tape *burst = NULL;
    r->options.tape.progress = show_reading;
    r->options.tape.user = r;
    set_burst(r->asked, &r->options);
    enum ab_status status = ab_trace_feed_open(r->path, &r->options, &r->feed, err);
    do
        status = status == AB_OK ? ab_trace_feed_next(r->feed, &burst, err) : status;
    while (status == AB_OK && burst != NULL);
    return status;
}

static enum ab_status replay_trace(const struct ab_measure_request *asked, struct ab_resume *resume,
                                   int *exit_code, struct ab_err *err)
{
    struct replay r = {.asked = asked,
                       .spool = -1,
                       .options.tape = {.touch = asked->replay.touch,
                                        .touch_bytes = asked->replay.touch_bytes,
                                        .recorded = asked->replay.recorded,
                                        .n_lanes = asked->replay.n_lanes,
                                        .is_partial = asked->replay.is_partial,
                                        .wants_overview = true,
                                        .has_window = asked->conditions.has_window,
                                        .window = asked->conditions.window,
                                        .most_events = asked->most_events}};
    enum ab_status status = ab_one_file(asked->args, asked->n_args, "a trace", "replay", &r.path,
                                        err);
    if (status == AB_OK && asked->is_trial) {
        ab_say_prepare(&asked->talk, r.path);
        status = try_trace(&r, err);
        ab_say_prepare(&asked->talk, NULL);
    } else if (status == AB_OK && (status = spool_input(&r, err)) == AB_OK) {
        ab_say_prepare(&asked->talk, r.spool >= 0 ? "standard input" : r.path);
        status = read_trace(asked, &r, err);
        ab_say_prepare(&asked->talk, NULL);
    }
    if (status == AB_OK && !asked->is_trial)
        status = measure(asked, &r, resume, exit_code, err);
    ab_trace_feed_close(r.feed);
    ab_tape_map_close(&r.map);
    ab_scopes_fini(&r.scopes);
    ab_scope_spans_fini(&r.spans);
    ab_stacks_fini(&r.stacks);
    ab_owners_fini(&r.owners);
    if (r.spool >= 0)
        close(r.spool);
    return status;
}

enum ab_status ab_replay(const struct ab_measure_request *asked, int *exit_code, struct ab_err *err)
{
    struct ab_resume resume;
    struct ab_named_outputs named = {0};
    AB_TRY(ab_resume_begin(asked, AB_SESSION_TRACE, &resume, err));
    enum ab_status status = AB_OK;
    if (!resume.is_done) {
        ab_named_outputs_make(&resume.asked.outputs, resume.asked.args, resume.asked.n_args,
                              &named);
        resume.asked.outputs = named.wanted;
        status = replay_trace(&resume.asked, &resume, exit_code, err);
    }
    ab_named_outputs_fini(&named);
    ab_resume_end(&resume);
    return status;
}
