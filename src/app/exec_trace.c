/* SPDX-License-Identifier: MIT
 *
 * The replay of a program's trace, ahead of its runs. Its result is handed over in memory as the
 * document that the command `replay` would write: what it measures is what a user would see of it.
 */
#include "app/exec_trace.h"

#include "app/replay.h"
#include "app/say.h"
#include "base/clock.h"
#include "core/units_show.h"
#include "report/sinks/sinks.h"
#include "stats/metric.h"
#include "stats/stopping.h"
#include "trace_tools/to_tape.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Where --time-budget does not say; the intervals that are narrow enough, where --precision does not.
 */
static const uint64_t budget_ns = UINT64_C(120) * 1000000000;
static const double precision = 0.01;

/* What a call of the trace takes in a run that is timed, with what comes before and after it, and in
 * the first one, which proves the answers. Rather too much: other programs run as well. */
enum { CALL_NS = 60, PROOF_NS = 150, PROCESSES = 3, CALLS_LEAST = 1000000 };

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
    ab_sinks[AB_SINK_JSON].write(f, session);
    fflush(f);
    enum ab_status status = ab_stored_read(path, user, err);
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
    r->stage.name = "replay";
    r->time_budget_ns = (o->time_budget_ns > 0 ? o->time_budget_ns / 2 : budget_ns) + 1;
    r->has_passes = true;
    memset(&r->passes, 0, sizeof r->passes);
    r->is_store_off = true;
    r->n_gates = 0;
    r->timeout_ns = 0;
    r->drain_ns = 0;
    r->has_rounds = true; /* at most so many */
    r->precision = n_backends < 2 || r->rounds < AB_STOPPING_LEAST_ROUNDS ? 0
                   : o->precision > 0                                     ? o->precision
                                                                          : precision;
    r->baseline = NULL;
    r->has_limit = r->is_strict_compare = r->is_joint = r->wants_instr = false;
}

/* Of so many calls in the rounds that there are at least, the null back end included. */
static double expected_ns(const struct ab_options *r, uint32_t n_backends, uint64_t n_calls)
{
    uint32_t least = r->rounds < AB_STOPPING_LEAST_ROUNDS ? r->rounds : AB_STOPPING_LEAST_ROUNDS;
    double of_call = PROOF_NS + (double)CALL_NS * least * r->processes;
    return (double)n_calls * of_call * (n_backends + 1);
}

/* In fewer processes where the time is short; then fewer calls. How many; 0 = all. */
static uint64_t fit_into_time(struct ab_options *r, uint32_t n_backends, uint64_t n_calls)
{
    const double most = (double)r->time_budget_ns;
    r->processes = PROCESSES;
    if (expected_ns(r, n_backends, n_calls) <= most)
        return 0;
    r->processes = 1;
    double share = most / expected_ns(r, n_backends, n_calls);
    if (!(share < 1) || n_calls <= CALLS_LEAST)
        return 0;
    return (uint64_t)fmax(CALLS_LEAST, share * (double)n_calls);
}

static void announce(const struct ab_options *o, const struct ab_prediction *p)
{
    char part[32], all[32];
    if (p->n_replayed == 0)
        ab_say(o, "allocbench: replaying the trace, then running the program");
    else
        ab_say(o,
               "allocbench: replaying the first %s of %s calls of the trace, which is too long for "
               "the time (--time-budget), then running the program",
               ab_units_count(part, sizeof part, (double)p->n_replayed),
               ab_units_count(all, sizeof all, (double)p->n_calls));
}

enum ab_status ab_exec_predict(struct ab_measurement *m, struct ab_prediction *out,
                               struct ab_err *err)
{
    const struct ab_options *o = m->options;
    struct ab_replay_watch watch = {.take = take, .user = &out->replay};
    uint64_t began_ns = ab_clock_now_ns();
    const char *trace = o->trace;
    struct ab_trace_info end;
    struct ab_options r;
    int exit_code = 0;
    set_replay(&r, o, m->session.n_backends);
    out->n_calls = ab_trace_read_end(trace, &end) ? end.events : 0;
    out->n_replayed = fit_into_time(&r, m->session.n_backends, out->n_calls);
    watch.most_events = out->n_replayed;
    announce(o, out);
    r.args = &trace;
    r.n_args = 1;
    AB_TRY(ab_replay(&r, &watch, &exit_code, err));
    m->replay = &out->replay.session;
    if (o->time_budget_ns > 0)
        m->session.stopping.spent_s = (double)(ab_clock_now_ns() - began_ns) * 1e-9;
    m->session.start = time(NULL);
    return AB_OK;
}

static const struct ab_result *find_result(const struct ab_session *s, const char *name,
                                           uint32_t round)
{
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (strcmp(s->backends[i].name, name) == 0 && ab_session_has_numbers(s, i))
            return ab_session_find(s, i, AB_TRACE_PHASE, AB_OP_ALL, round);
    return NULL;
}

void ab_prediction_note(const struct ab_session *s, uint64_t n_calls, struct ab_session *exec)
{
    for (uint32_t i = 0; i < exec->n_results; i++) {
        struct ab_result *r = &exec->results[i];
        if (r->op != AB_OP_ALL)
            continue;
        const char *name = exec->backends[r->backend].name;
        const struct ab_result *of = find_result(s, name, r->round);
        const struct ab_result *any = s->n_rounds > 0 ? find_result(s, name, s->rounds[0].index)
                                                      : NULL;
        if (any != NULL)
            r->calls = n_calls > 0 ? (double)n_calls : (double)any->n_ops;
        if (of != NULL)
            r->replay_ns_per_call = of->ns_per_op;
    }
}
