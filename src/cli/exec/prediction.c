/* SPDX-License-Identifier: MIT
 *
 * The replay is that of the command of this name, with its result handed over in memory as the
 * document that the command would write: what it measures is what a user would see of it.
 */
#include "cli/exec/prediction.h"

#include "base/clock.h"
#include "cli/benchmark/failures.h"
#include "cli/benchmark/replay/replay.h"
#include "report/sinks/sinks.h"
#include "stats/aggregate.h"
#include "stats/stopping.h"
#include "trace_tools/to_tape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* All replays together, where --time-budget does not say; the intervals that are narrow enough,
 * where --precision does not. */
static const uint64_t budget_ns = UINT64_C(120) * 1000000000;
static const double precision = 0.01;

static enum ab_status take(void *user, const struct ab_session *session, struct ab_err *err)
{
    char path[64];
    int fd = memfd_create("allocbench-replay", MFD_CLOEXEC);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (f == NULL) {
        ab_fail_errno(err, AB_SYSTEM, "cannot keep the result of the replay");
        if (fd >= 0)
            close(fd);
        return AB_SYSTEM;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool ok = ab_sinks[AB_SINK_JSON].write(f, session) && fflush(f) == 0;
    enum ab_status status = ok ? ab_stored_read(path, user, err)
                               : ab_fail(err, AB_SYSTEM, "out of memory");
    fclose(f);
    return status;
}

/* What `replay` takes of the command line of `exec`: throughput alone, and with a buffer, which takes
 * longest, in fewer processes. Rounds end early where that says enough. */
static void set_replay(struct ab_options *r, const struct ab_options *o, uint32_t n_backends,
                       uint64_t cache_bytes)
{
    static const char *usual[] = {"libraries"};
    *r = *o;
    if (r->n_backends == 0) { /* those of the program, and no allocator that suits the trace */
        r->backends = usual;
        r->n_backends = 1;
    }
    memset(r->sinks, 0, sizeof r->sinks);
    memset(r->wants_lines, 0, sizeof r->wants_lines);
    r->cache_bytes = cache_bytes;
    r->processes = cache_bytes > 0 ? 1 : 3;
    r->has_passes = true;
    memset(&r->passes, 0, sizeof r->passes);
    r->is_store_off = r->hides_failures = true;
    r->n_gates = 0;
    r->timeout_ns = 0;
    r->drain_ns = 0;
    r->has_rounds = true; /* at most so many */
    r->precision = n_backends < 2 || r->rounds < AB_STOPPING_LEAST_ROUNDS ? 0
                   : o->precision > 0                                     ? o->precision
                                                                          : precision;
    r->baseline = NULL;
    r->has_limit = r->is_strict_compare = r->is_joint = false;
}

/* The size for an allocator comes from the others: there must be one beside it and the base. */
static bool can_fit(const struct ab_session *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_backends; i++)
        n += ab_session_has_numbers(s, i);
    return n > 2;
}

/* The one that comes next. `left_ns`: for it and those after it. */
static enum ab_status replay(const struct ab_options *o, uint32_t n_backends, uint64_t left_ns,
                             struct ab_prediction *out, struct ab_err *err)
{
    const struct ab_replay_watch watch = {.take = take, .user = &out->replays[out->n]};
    size_t n_left = n_backends > 2 ? AB_CACHE_FIT_SIZES - out->n : 1;
    struct ab_options r;
    const char *trace = o->trace;
    char stage[32];
    int exit_code = 0;
    set_replay(&r, o, n_backends, ab_cache_fit_sizes[out->n]);
    snprintf(stage, sizeof stage, n_backends > 2 ? "replay %zu of %d" : "replay", out->n + 1,
             AB_CACHE_FIT_SIZES);
    r.stage.name = stage;
    r.args = &trace;
    r.n_args = 1;
    r.time_budget_ns = left_ns / n_left + 1;
    enum ab_status status = ab_replay(&r, &watch, &exit_code, err);
    out->n += status == AB_OK;
    return status;
}

enum ab_status ab_prediction_make(const struct ab_options *o, uint32_t n_backends,
                                  struct ab_prediction *out, struct ab_err *err)
{
    uint64_t began_ns = ab_clock_now_ns(), spent_ns = 0;
    uint64_t most_ns = o->time_budget_ns > 0 ? o->time_budget_ns / 2 : budget_ns;
    if (!o->is_quiet)
        fprintf(stderr, "allocbench: replaying the trace, then running the program\n");
    while (out->n < AB_CACHE_FIT_SIZES) {
        if (out->n == 1 && !can_fit(&out->replays[0].session))
            break;
        if (out->n == 1 && spent_ns * AB_CACHE_FIT_SIZES > most_ns) {
            if (!o->is_quiet)
                fprintf(stderr,
                        "allocbench: no replays with data of the program's: they would take "
                        "longer than the time budget allows (--time-budget)\n");
            break;
        }
        AB_TRY(replay(o, n_backends, most_ns > spent_ns ? most_ns - spent_ns : 0, out, err));
        spent_ns = ab_clock_now_ns() - began_ns;
    }
    out->spent_s = (double)spent_ns * 1e-9;
    return AB_OK;
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

/* The program may have more rounds than the replay. Its calls are the same in all. */
static void note_bare(const struct ab_prediction *p, struct ab_session *exec)
{
    const struct ab_session *s = &p->replays[0].session;
    for (uint32_t i = 0; i < exec->n_results; i++) {
        struct ab_result *r = &exec->results[i];
        const char *name = exec->backends[r->backend].name;
        const struct ab_result *of = find_result(s, name, r->round);
        const struct ab_result *any = s->n_rounds > 0 ? find_result(s, name, s->rounds[0].index)
                                                      : NULL;
        if (any != NULL)
            r->calls = (double)any->n_ops;
        if (of != NULL)
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
