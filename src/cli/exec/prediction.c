/* SPDX-License-Identifier: MIT
 *
 * The replay is the command of that name, with its result in a temporary file: what it measures is
 * what a user would see of it.
 */
#include "cli/exec/prediction.h"

#include "cli/benchmark/failures.h"
#include "cli/commands.h"
#include "core/leftover.h"
#include "stats/aggregate.h"
#include "trace_tools/to_tape.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
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

/* What `replay` takes of the command line of `exec`: throughput alone, and with a buffer, which takes
 * longest, in fewer processes. There are rounds enough: the program itself has one process in each. */
static struct ab_options options_of_replay(const struct ab_options *o, uint64_t cache_bytes,
                                           const char *path)
{
    static const char *usual[] = {"libraries"};
    struct ab_options r = *o;
    if (r.n_backends == 0) { /* those of the program, and no allocator that suits the trace */
        r.backends = usual;
        r.n_backends = 1;
    }
    memset(r.sinks, 0, sizeof r.sinks);
    memset(r.wants_lines, 0, sizeof r.wants_lines);
    r.args = malloc(sizeof r.args[0]);
    r.n_args = r.args != NULL;
    if (r.args != NULL)
        r.args[0] = o->trace;
    r.sinks[AB_SINK_JSON] = path;
    r.cache_bytes = cache_bytes;
    r.processes = cache_bytes > 0 ? 1 : 3;
    r.has_passes = true;
    memset(&r.passes, 0, sizeof r.passes);
    r.is_quiet = r.is_store_off = r.hides_failures = true;
    r.n_gates = 0;
    r.timeout_ns = 0;
    r.drain_ns = 0;
    r.time_budget_ns = 0;
    r.precision = 0;
    r.baseline = NULL;
    r.has_limit = r.is_strict_compare = r.is_joint = false;
    return r;
}

static enum ab_status replay(const struct ab_options *o, uint64_t cache_bytes,
                             struct ab_stored *out, struct ab_err *err)
{
    struct place place;
    int exit_code = 0;
    enum ab_status status = find_place(&place, err);
    if (status != AB_OK)
        return status;
    struct ab_options r = options_of_replay(o, cache_bytes, place.path);
    status = r.args == NULL ? ab_fail(err, AB_SYSTEM, "out of memory")
                            : ab_cmd_replay(&r, &exit_code, err);
    if (status == AB_OK)
        status = ab_stored_read(place.path, out, err);
    free(r.args);
    leave_place(&place);
    return status;
}

/* The size for an allocator comes from the others: there must be one beside it and the base. */
static bool can_fit(const struct ab_session *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_backends; i++)
        n += ab_session_has_numbers(s, i);
    return n > 2;
}

enum ab_status ab_prediction_make(const struct ab_options *o, struct ab_prediction *out,
                                  struct ab_err *err)
{
    enum ab_status status = AB_OK;
    if (!o->is_quiet)
        fprintf(stderr, "allocbench: replaying the trace, then running the program\n");
    while (out->n < AB_CACHE_FIT_SIZES && status == AB_OK) {
        if (out->n == 1 && !can_fit(&out->replays[0].session))
            break;
        status = replay(o, ab_cache_fit_sizes[out->n], &out->replays[out->n], err);
        out->n += status == AB_OK;
    }
    return status;
}

/* ---- what they say ---- */

static const struct ab_result *find_result(const struct ab_session *s, const char *name,
                                           uint32_t round)
{
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (strcmp(s->backends[i].name, name) == 0 && ab_session_has_numbers(s, i))
            return ab_session_find(s, i, AB_TRACE_PHASE, AB_OP_ALL, round);
    return NULL;
}

/* Of one allocator in one round, by the replay with buffer `size`; NaN = none. */
static double replayed(const struct ab_prediction *p, size_t size, const char *name, uint32_t round)
{
    const struct ab_result *r = find_result(&p->replays[size].session, name, round);
    return r != NULL ? r->ns_per_op : (double)NAN;
}

static void note_bare(const struct ab_prediction *p, struct ab_session *exec)
{
    for (uint32_t i = 0; i < exec->n_results; i++) {
        struct ab_result *r = &exec->results[i];
        const struct ab_result *of = find_result(&p->replays[0].session,
                                                 exec->backends[r->backend].name, r->round);
        if (of == NULL)
            continue;
        r->calls = (double)of->n_ops;
        r->replay_ns_per_call = of->ns_per_op;
    }
}

static double measured_of_round(const struct ab_session *exec, uint32_t backend, uint32_t round)
{
    const struct ab_result *r = ab_session_find(exec, backend, AB_PROGRAM_PHASE, AB_OP_ALL, round);
    return r != NULL ? r->cpu_ns / r->calls : (double)NAN;
}

/* Differences of an allocator to the base. `x` has room for two numbers a round. */
static void look_at(const struct ab_prediction *p, const struct ab_session *exec, uint32_t base,
                    uint32_t backend, double *x, struct ab_cache_fit *fit)
{
    uint32_t n = exec->n_rounds;
    double *y = x + n;
    for (uint32_t i = 0; i < n; i++) {
        x[i] = measured_of_round(exec, base, exec->rounds[i].index);
        y[i] = measured_of_round(exec, backend, exec->rounds[i].index);
    }
    fit->measured = ab_effect_difference(x, y, n);
    for (size_t size = 0; size < AB_CACHE_FIT_SIZES; size++) {
        for (uint32_t i = 0; i < n; i++) {
            uint32_t round = exec->rounds[i].index;
            x[i] = replayed(p, size, exec->backends[base].name, round);
            y[i] = replayed(p, size, exec->backends[backend].name, round);
        }
        fit->predicted[size] = ab_effect_difference(x, y, n).ratio;
    }
}

static void note_fitted(const struct ab_prediction *p, struct ab_session *exec, uint32_t base,
                        uint32_t backend, size_t size)
{
    for (uint32_t i = 0; i < exec->n_results; i++) {
        struct ab_result *r = &exec->results[i];
        if (r->backend != backend)
            continue;
        r->replay_cache_bytes = (double)ab_cache_fit_sizes[size];
        r->replay_cache_ns_per_call = replayed(p, size, exec->backends[backend].name, r->round);
        r->replay_cache_base_ns_per_call = replayed(p, size, exec->backends[base].name, r->round);
    }
}

static bool fit(const struct ab_prediction *p, struct ab_session *exec)
{
    uint32_t base = ab_session_base(exec), n = exec->n_backends;
    if (p->n < AB_CACHE_FIT_SIZES || base == UINT32_MAX)
        return true;
    struct ab_cache_fit *fits = calloc(n, sizeof fits[0]);
    double *x = calloc((size_t)exec->n_rounds * 2 + 1, sizeof x[0]);
    bool ok = fits != NULL && x != NULL;
    for (uint32_t b = 0; ok && b < n; b++)
        look_at(p, exec, base, b, x, &fits[b]); /* the base itself shows no difference */
    for (uint32_t b = 0; ok && b < n; b++) {
        size_t size = ab_cache_fit_choose(fits, n, b);
        if (b != base && size < AB_CACHE_FIT_SIZES)
            note_fitted(p, exec, base, b, size);
    }
    free(fits);
    free(x);
    return ok;
}

bool ab_prediction_note(const struct ab_prediction *p, struct ab_session *exec)
{
    if (p->n == 0)
        return true;
    note_bare(p, exec);
    return fit(p, exec);
}

int ab_prediction_failures(const struct ab_prediction *p, const struct ab_session *exec,
                           bool is_quiet)
{
    const struct ab_session *told[1 + AB_CACHE_FIT_SIZES] = {exec};
    int exit_code = 0;
    for (size_t i = 0; i < p->n; i++) {
        int code = ab_failures_tell_rest(&p->replays[i].session, "replay: ", told, i + 1, is_quiet);
        exit_code = exit_code != 0 ? exit_code : code;
        told[i + 1] = &p->replays[i].session;
    }
    return exit_code;
}

void ab_prediction_fini(struct ab_prediction *p)
{
    while (p->n > 0)
        ab_stored_fini(&p->replays[--p->n]);
}
