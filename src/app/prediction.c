/* SPDX-License-Identifier: MIT
 *
 * The replay is that of the command of this name, with its result handed over in memory as the
 * document that the command would write: what it measures is what a user would see of it.
 */
#include "app/prediction.h"

#include "app/replay.h"
#include "base/clock.h"
#include "cli/failures.h"
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

/* Where --time-budget does not say; the intervals that are narrow enough, where --precision does not.
 */
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

/* What `replay` takes of the command line of `exec`: throughput alone. Rounds end early where that
 * says enough. */
static void set_replay(struct ab_options *r, const struct ab_options *o, uint32_t n_backends)
{
    static const char *usual[] = {"libraries"};
    *r = *o;
    if (r->n_backends == 0) { /* those of the program, and no allocator that suits the trace */
        r->backends = usual;
        r->n_backends = 1;
    }
    memset(r->sinks, 0, sizeof r->sinks);
    memset(r->wants_lines, 0, sizeof r->wants_lines);
    r->processes = 3;
    r->stage.name = "replay";
    r->time_budget_ns = (o->time_budget_ns > 0 ? o->time_budget_ns / 2 : budget_ns) + 1;
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

enum ab_status ab_prediction_make(const struct ab_options *o, uint32_t n_backends,
                                  struct ab_prediction *out, struct ab_err *err)
{
    const struct ab_replay_watch watch = {.take = take, .user = &out->replay};
    uint64_t began_ns = ab_clock_now_ns();
    const char *trace = o->trace;
    struct ab_options r;
    int exit_code = 0;
    if (!o->is_quiet)
        fprintf(stderr, "allocbench: replaying the trace, then running the program\n");
    set_replay(&r, o, n_backends);
    r.args = &trace;
    r.n_args = 1;
    AB_TRY(ab_replay(&r, &watch, &exit_code, err));
    out->is_made = true;
    out->spent_s = (double)(ab_clock_now_ns() - began_ns) * 1e-9;
    return AB_OK;
}

/* ---- what it says ---- */

static const struct ab_result *find_result(const struct ab_session *s, const char *name,
                                           uint32_t round)
{
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (strcmp(s->backends[i].name, name) == 0 && ab_session_has_numbers(s, i))
            return ab_session_find(s, i, AB_TRACE_PHASE, AB_OP_ALL, round);
    return NULL;
}

/* The program may have more rounds than the replay. Its calls are the same in all. */
void ab_prediction_note(const struct ab_prediction *p, struct ab_session *exec)
{
    const struct ab_session *s = &p->replay.session;
    for (uint32_t i = 0; p->is_made && i < exec->n_results; i++) {
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

int ab_prediction_failures(const struct ab_prediction *p, const struct ab_session *exec,
                           bool is_quiet)
{
    return p->is_made ? ab_failures_tell_rest(&p->replay.session, "replay: ", exec, is_quiet) : 0;
}

void ab_prediction_fini(struct ab_prediction *p)
{
    if (p->is_made)
        ab_stored_fini(&p->replay);
    p->is_made = false;
}
