/* SPDX-License-Identifier: MIT */
#include "cli/commands.h"
#include "cli/measure.h"
#include "cli/one_file.h"
#include "cli/resume.h"
#include "trace/reader.h"

#include <stdio.h>
#include <string.h>

static const char *touch_text(const struct ab_options *o, char *buf, size_t cap)
{
    static const char *const names[] = {"none", "first", "ends", "page", "line", "all"};
    if (o->touch == AB_TOUCH_FIRST)
        snprintf(buf, cap, "touch=first(%u)", o->touch_bytes);
    else
        snprintf(buf, cap, "touch=%s", names[o->touch]);
    return buf;
}

static enum ab_status replay_trace(const struct ab_options *o, struct ab_resume *resume,
                                   int *exit_code, struct ab_err *err)
{
    const char *path;
    struct ab_tape tape = {0};
    struct ab_trace_info info;
    struct ab_trace_tape_options options = {.touch = o->touch,
                                            .touch_bytes = o->touch_bytes,
                                            .n_lanes = o->n_lanes,
                                            .has_window = o->has_window,
                                            .window = o->window};
    enum ab_status status = ab_one_file(o, "a trace", "replay", &path, err);
    if (status != AB_OK || (status = ab_trace_to_tape(path, &options, &tape, &info, err)) != AB_OK)
        return status;
    char touch[64], program[300], threads[64];
    snprintf(program, sizeof program, "program=%s", info.program);
    snprintf(threads, sizeof threads, "threads=%llu in %u lanes", (unsigned long long)info.threads,
             tape.facts.lanes);
    const char *settings[] = {touch_text(o, touch, sizeof touch), program,
                              info.threads > 1 ? threads : NULL, NULL};
    const char *slash = strrchr(path, '/');
    struct ab_subject subject = {
        .kind = "trace",
        .name = slash != NULL ? slash + 1 : path,
        .about = "",
        .path = path,
        .text = "",
        .settings = settings,
        .seed = o->has_seed ? o->seed : 1,
        .tape = &tape,
        .resumed = resume->is_on ? &resume->stored.session : NULL,
    };
    status = ab_measure(o, &subject, exit_code, err);
    ab_tape_fini(&tape);
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
