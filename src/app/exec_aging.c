/* SPDX-License-Identifier: MIT
 *
 * Reads the sizes of blocks from a trace. Without a trace, records the program first.
 */
#include "app/exec_aging.h"

#include "app/record/record.h"
#include "app/say.h"
#include "base/rng.h"
#include "core/alloc.h"
#include "core/text.h"
#include "core/unfinished.h"
#include "inside/aging_library.h"
#include "program/program.h"
#include "runner/supervise.h"
#include "trace_tools/walk.h"

#include <signal.h>
#include <stdlib.h>
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

static enum ab_status read_trace(const char *path, uint64_t seed, struct ab_exec_aging *out,
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
               : ab_fail(err, AB_USAGE, "--aged: the program allocates nothing");
}

/* Passes a signal that ended the recording on to this process, which had blocked it. */
static enum ab_status interrupt(int signal, struct ab_err *err)
{
    raise(signal);
    return ab_fail(err, AB_INTERRUPTED, "interrupted");
}

static enum ab_status run_recorder(const struct ab_exec_request *asked,
                                   const struct ab_record_request *request, struct ab_err *err)
{
    struct ab_recording recording;
    int code;
    enum ab_status status = ab_record(request, &recording, &code, err);
    if (recording.launch.signal != 0)
        ab_launch_stop(&recording.launch);
    code = ab_recording_end(&recording);
    if (recording.launch.signal != 0)
        return interrupt(recording.launch.signal, err);
    if (status == AB_OK && code == 0 && !recording.launch.is_stopped)
        return AB_OK;
    if (status != AB_OK) {
        ab_err_context(err, "allocbench: ");
        ab_complain(&asked->measure.talk, err->text);
    }
    return ab_fail(err, AB_SYSTEM,
                   "--aged: the program could not be recorded, for the sizes of its blocks; make "
                   "a recording with 'allocbench record' and give it by --trace");
}

/* Records the command into the file `trace` and discards the program's standard output.
 * The spool is made in `folder`, so that it is deleted with `folder` if this process is killed. */
static enum ab_status record(const struct ab_exec_request *asked,
                             const struct ab_program_command *command, const char *folder,
                             const char *trace, struct ab_err *err)
{
    const struct ab_record_request request = {
        .args = (const char **)command->argv,
        .output = trace,
        .spool_in = folder,
        .is_contained = true,
        .stdin_path = asked->program.stdin_path,
        .duration_ns = asked->measure.conditions.timeout_ns,
        .stops_command = true,
    };
    ab_say(&asked->measure.talk,
           "allocbench: --aged: recording the program for the sizes of its blocks");
    if (command->prepare != NULL)
        AB_TRY(ab_program_prepare(command->prepare, STDERR_FILENO,
                                  asked->measure.conditions.timeout_ns, err));
    return run_recorder(asked, &request, err);
}

static enum ab_status record_and_read(const struct ab_exec_request *asked,
                                      const struct ab_program_command *command,
                                      struct ab_exec_aging *out, struct ab_err *err)
{
    struct ab_temporary folder = {.path = ""};
    char trace[sizeof folder.path + 16];
    AB_TRY(ab_temporary_make("litter", &folder, err));
    AB_FIT(trace, "%s/program.abt", folder.path);
    enum ab_status status = record(asked, command, folder.path, trace, err);
    if (status == AB_OK)
        status = read_trace(trace, asked->measure.settings.seed, out, err);
    ab_temporary_remove(&folder);
    return status;
}

enum ab_status ab_exec_aging_find(const struct ab_exec_request *asked,
                                  const struct ab_program_command *command,
                                  struct ab_exec_aging *out, struct ab_err *err)
{
    if (asked->server.is_server)
        return ab_fail(err, AB_USAGE,
                       "--aged and --server are mutually exclusive: the sizes of blocks come "
                       "from a recording, which must end");
    AB_TRY(ab_companion_path(AB_AGING_LIBRARY, out->library, sizeof out->library, err));
    if (ab_spawn_needs_alias(out->library))
        return ab_fail(err, AB_USAGE,
                       "--aged: LD_PRELOAD cannot hold a path with a space, a colon or a quote: %s",
                       AB_SHOWN(512, out->library));
    out->sizes = ab_alloc_zeroed(AB_AGING_SIZES_MOST, sizeof out->sizes[0]);
    return asked->program.trace != NULL
               ? read_trace(asked->program.trace, asked->measure.settings.seed, out, err)
               : record_and_read(asked, command, out, err);
}

void ab_exec_aging_fini(struct ab_exec_aging *l)
{
    free(l->sizes);
    *l = (struct ab_exec_aging){0};
}
