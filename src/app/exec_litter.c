/* SPDX-License-Identifier: MIT
 *
 * Reads the sizes of blocks from a trace. Without a trace, has `record` make one, as a user would.
 */
#include "app/exec_litter.h"

#include "app/say.h"
#include "base/rng.h"
#include "core/alloc.h"
#include "core/text.h"
#include "core/unfinished.h"
#include "inside/aging_library.h"
#include "program/program.h"
#include "runner/supervise.h"
#include "trace_tools/walk.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct reading {
    struct ab_aging_sizes sizes;
    struct ab_rng rng;
};

static enum ab_status take(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct reading *r = user;
    (void)err;
    for (size_t i = 0; i < batch->n; i++) {
        const struct ab_event *e = &batch->events[i];
        if (!e->failed && e->kind <= AB_EVENT_ALLOC_ALIGNED)
            ab_aging_sizes_take(&r->sizes, &r->rng, e->size);
    }
    return AB_OK;
}

static enum ab_status read_trace(const char *path, uint64_t seed, struct ab_exec_litter *out,
                                 struct ab_err *err)
{
    struct reading r = {.sizes = {.sizes = out->sizes, .cap = AB_AGING_SIZES_MOST}};
    struct ab_trace_info info;
    const struct ab_walk walk = {.path = path, .is_partial = true, .visit = take, .user = &r};
    ab_rng_init(&r.rng, seed, AB_AGING_SAMPLE_STREAM);
    AB_TRY(ab_trace_walk(&walk, &info, err));
    out->n_sizes = r.sizes.n;
    out->live_peak_bytes = info.live_peak_bytes;
    return info.live_peak_bytes > 0
               ? AB_OK
               : ab_fail(err, AB_USAGE, "--litter: the program allocates nothing");
}

/* Records o->args into the file `trace` and discards the program's standard output. The spool is
 * made in `folder`, so that it is deleted with `folder` if the recording is killed. */
static enum ab_status record(const struct ab_options *o, const char *folder, const char *trace,
                             struct ab_err *err)
{
    char self[PATH_MAX] = "";
    struct ab_text command = {0};
    if (readlink("/proc/self/exe", self, sizeof self - 1) <= 0)
        return ab_fail_errno(err, AB_SYSTEM, "--litter: cannot record the program");
    ab_text_add(&command, AB_TEMPORARY_PLACE "=");
    ab_text_add_shell(&command, folder);
    ab_text_add(&command, " ");
    ab_text_add_shell(&command, self);
    ab_text_add(&command, " record -q -o ");
    ab_text_add_shell(&command, trace);
    ab_text_add(&command, " --");
    for (size_t i = 0; i < o->n_args; i++) {
        ab_text_add(&command, " ");
        ab_text_add_shell(&command, o->args[i]);
    }
    ab_text_add(&command, " >/dev/null <");
    ab_text_add_shell(&command,
                      o->program.stdin_path != NULL ? o->program.stdin_path : "/dev/null");
    ab_say(o, "allocbench: --litter: recording the program for the sizes of its blocks");
    enum ab_status status = o->program.prepare != NULL
                                ? ab_program_prepare(o->program.prepare, STDERR_FILENO,
                                                     o->conditions.timeout_ns, err)
                                : AB_OK;
    if (status == AB_OK &&
        (status = ab_program_prepare(command.s, STDERR_FILENO, o->conditions.timeout_ns, err)) ==
            AB_SYSTEM)
        ab_fail(err, status,
                "--litter: the program could not be recorded, for the sizes of its blocks; make "
                "a recording with 'allocbench record' and give it by --trace");
    ab_text_fini(&command);
    return status;
}

static enum ab_status record_and_read(const struct ab_options *o, struct ab_exec_litter *out,
                                      struct ab_err *err)
{
    struct ab_temporary folder = {.path = ""};
    char trace[sizeof folder.path + 16];
    AB_TRY(ab_temporary_make("litter", &folder, err));
    snprintf(trace, sizeof trace, "%s/program.abt", folder.path);
    enum ab_status status = record(o, folder.path, trace, err);
    if (status == AB_OK)
        status = read_trace(trace, o->settings.seed, out, err);
    ab_temporary_remove(&folder);
    return status;
}

enum ab_status ab_exec_litter_find(const struct ab_options *o, struct ab_exec_litter *out,
                                   struct ab_err *err)
{
    if (o->server.is_server)
        return ab_fail(err, AB_USAGE,
                       "litter and --server are mutually exclusive: the sizes of its blocks are "
                       "known of a program that ends");
    AB_TRY(ab_companion_path(AB_AGING_LIBRARY, out->library, sizeof out->library, err));
    if (ab_spawn_needs_alias(out->library))
        return ab_fail(
            err, AB_USAGE,
            "--litter: LD_PRELOAD cannot hold a path with a space, a colon or a quote: %s",
            AB_SHOWN(512, out->library));
    out->sizes = ab_alloc_zeroed(AB_AGING_SIZES_MOST, sizeof out->sizes[0]);
    return o->program.trace != NULL ? read_trace(o->program.trace, o->settings.seed, out, err)
                                    : record_and_read(o, out, err);
}

void ab_exec_litter_fini(struct ab_exec_litter *l)
{
    free(l->sizes);
    *l = (struct ab_exec_litter){0};
}
