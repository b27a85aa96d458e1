/* SPDX-License-Identifier: MIT
 *
 * The replay is the command of that name, with its result in a temporary file: what it measures is
 * what a user would see of it.
 */
#include "cli/exec/prediction.h"

#include "cli/commands.h"
#include "core/leftover.h"
#include "stats/aggregate.h"
#include "trace_tools/to_tape.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct place { /* of the temporary result */
    int folder;
    char name[64], path[4096];
};

static enum ab_status find_place(struct place *p, struct ab_err *err)
{
    const char *folder = getenv("TMPDIR");
    if (folder == NULL || folder[0] != '/' || strlen(folder) > sizeof p->path - sizeof p->name - 2)
        folder = "/tmp";
    snprintf(p->name, sizeof p->name, "allocbench-replay-%d.json", (int)getpid());
    snprintf(p->path, sizeof p->path, "%.4000s/%s", folder, p->name);
    p->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (p->folder < 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot open %.400s", folder);
    if (access(p->path, F_OK) == 0) {
        close(p->folder);
        return ab_fail(err, AB_SYSTEM, "%.400s is in the way", p->path);
    }
    ab_leftover_enter(p->folder, p->name);
    return AB_OK;
}

static void leave_place(struct place *p)
{
    unlinkat(p->folder, p->name, 0);
    ab_leftover_forget(p->folder, p->name);
    close(p->folder);
}

/* What `replay` takes of the command line of `exec`. */
static struct ab_options options_of_replay(const struct ab_options *o, uint32_t rounds,
                                           const char *path)
{
    struct ab_options r = *o;
    memset(r.sinks, 0, sizeof r.sinks);
    r.args = malloc(sizeof r.args[0]);
    r.n_args = r.args != NULL;
    if (r.args != NULL)
        r.args[0] = o->trace;
    r.sinks[AB_SINK_JSON] = path;
    r.rounds = rounds;
    r.is_quiet = r.is_store_off = true;
    r.n_gates = 0;
    r.timeout_ns = 0;
    r.drain_ns = 0;
    return r;
}

enum ab_status ab_prediction_make(const struct ab_options *o, uint32_t rounds,
                                  struct ab_prediction *out, struct ab_err *err)
{
    struct place place;
    int exit_code = 0;
    enum ab_status status = find_place(&place, err);
    if (status != AB_OK)
        return status;
    struct ab_options r = options_of_replay(o, rounds, place.path);
    if (!o->is_quiet)
        fprintf(stderr, "allocbench: replaying the trace, then running the program\n");
    status = r.args == NULL ? ab_fail(err, AB_SYSTEM, "out of memory")
                            : ab_cmd_replay(&r, &exit_code, err);
    if (status == AB_OK)
        status = ab_stored_read(place.path, &out->replay, err);
    out->is_made = status == AB_OK;
    free(r.args);
    leave_place(&place);
    return status;
}

static uint32_t find_backend(const struct ab_session *s, const char *name)
{
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (strcmp(s->backends[i].name, name) == 0)
            return i;
    return UINT32_MAX;
}

void ab_prediction_note(const struct ab_prediction *p, struct ab_session *exec)
{
    const struct ab_session *replay = &p->replay.session;
    for (uint32_t i = 0; p->is_made && i < exec->n_results; i++) {
        struct ab_result *r = &exec->results[i];
        uint32_t backend = find_backend(replay, exec->backends[r->backend].name);
        const struct ab_result *of = backend == UINT32_MAX
                                         ? NULL
                                         : ab_session_find(replay, backend, AB_TRACE_PHASE,
                                                           AB_OP_ALL, r->round);
        if (of == NULL || !ab_session_has_numbers(replay, backend))
            continue;
        r->calls = (double)of->n_ops;
        r->replay_ns_per_call = of->ns_per_op;
    }
}

void ab_prediction_fini(struct ab_prediction *p)
{
    if (p->is_made)
        ab_stored_fini(&p->replay);
    p->is_made = false;
}
