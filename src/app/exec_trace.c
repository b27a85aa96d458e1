/* SPDX-License-Identifier: MIT
 *
 * Replays a program's trace before the program runs, and keeps copies of the results.
 */
#include "app/exec_trace.h"

#include "app/replay.h"
#include "app/say.h"
#include "base/clock.h"
#include "core/units_show.h"
#include "result/numbers.h"
#include "result/session.h"
#include "runner/sampling.h"
#include "stats/metric.h"
#include "stats/stopping.h"
#include "trace_tools/to_tape.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Time for all replays if --time-budget is not given, in ns. */
static const uint64_t budget_ns = UINT64_C(180) * 1000000000;

/* Constants for expected_ns(). CALL_NS is the time of one call in a timed run, overhead included.
 * PROOF_NS is the time of one call in the first run, which checks the answers. Both times are
 * deliberately high, because other programs share the machine. */
enum { CALL_NS = 60, PROOF_NS = 150, PROCESSES = 3, CALLS_LEAST = 1000000 };

static const struct {
    const char *name;
    uint32_t between;
    double time_share;
} kinds[AB_REPLAY_KINDS] = {
    [AB_REPLAY_WARM] = {"replay, warm", 0, 0.35}, [AB_REPLAY_COLD] = {"replay, cold", 100, 0.65}};

static enum ab_status take(void *user, const struct ab_session *session, struct ab_err *err)
{
    (void)err;
    ab_stored_copy(session, AB_CHECKSUM_GOOD, user);
    return AB_OK;
}

/* Returns the request to replay `trace`, under the same back ends as the program. Throughput always
 * runs. The latency pass is added, because --inside times single calls too. --rounds is an upper
 * limit. --precision is left out, because its goal concerns throughput and not single calls. */
static struct ab_measure_request request_of(const struct ab_measure_request *exec,
                                            const char **trace)
{
    static const char *usual[] = {"libraries"};
    struct ab_measure_request r = {
        .talk = {.listener = exec->talk.listener, .is_quiet = exec->talk.is_quiet},
        .command = exec->command,
        .args = trace,
        .n_args = 1,
        .backends = exec->backends,
        .settings = exec->settings,
        .rules = {.has_rounds = true, .rounds = exec->rules.rounds},
        .passes = {.is_given = true, .plan.rounds[AB_PASS_LATENCY] = AB_EVERY_ROUND},
        .conditions = {.has_between = true},
        .replay = exec->replay,
        .verdicts = {.base = exec->verdicts.base},
        .store = {.folder = exec->store.folder, .is_part = true},
        .take = take,
    };
    if (r.backends.n == 0) { /* the libraries, without built-ins that may suit the trace */
        r.backends.names = usual;
        r.backends.n = 1;
    }
    return r;
}

/* Returns the expected time in ns of replaying n_calls calls in the fewest rounds that are allowed.
 * The null back end counts as one more back end. */
static double expected_ns(const struct ab_measure_request *r, uint32_t n_backends, double n_calls)
{
    double least = r->rules.rounds < AB_STOPPING_LEAST_ROUNDS ? r->rules.rounds
                                                              : AB_STOPPING_LEAST_ROUNDS;
    double calls = n_calls * (PROOF_NS + CALL_NS * least * (r->passes.processes + 1));
    double timed = least * fmin(n_calls * AB_SAMPLE_RATE, AB_SAMPLES_MAX);
    return (calls + timed * r->conditions.between * AB_BETWEEN_NS) * (n_backends + 1);
}

/* Sets the time budget of one replay. If the budget is short, uses one process, then fewer calls.
 * Returns the number of calls to replay. */
static uint64_t fit_into_time(struct ab_measure_request *r, uint64_t whole_ns,
                              enum ab_replay_kind kind, uint32_t n_backends, uint64_t n_calls)
{
    double n = (double)n_calls;
    double most = (whole_ns > 0 ? (double)whole_ns / 2 : (double)budget_ns) *
                  kinds[kind].time_share;
    r->talk.stage.name = kinds[kind].name;
    r->conditions.between = kinds[kind].between;
    r->rules.time_budget_ns = (uint64_t)most + 1;
    r->passes.processes = PROCESSES;
    if (expected_ns(r, n_backends, n) > most)
        r->passes.processes = 1;
    while (n > CALLS_LEAST && expected_ns(r, n_backends, n) > most)
        n *= 0.9;
    return n_calls <= CALLS_LEAST ? n_calls : (uint64_t)fmax(n, CALLS_LEAST);
}

static void announce(const struct ab_talk *talk, const struct ab_prediction *p)
{
    char part[32], all[32];
    if (p->n_replayed == 0)
        ab_say(talk, "allocbench: replaying the trace, then running the program");
    else
        ab_say(talk,
               "allocbench: replaying the first %s of %s calls of the trace, which is too long for "
               "the time (--time-budget), then running the program",
               ab_units_count(part, sizeof part, (double)p->n_replayed),
               ab_units_count(all, sizeof all, (double)p->n_calls));
}

enum ab_status ab_exec_predict(const struct ab_measure_request *asked, struct ab_measurement *m,
                               const char *trace, struct ab_prediction *out, struct ab_err *err)
{
    uint64_t began_ns = ab_clock_now_ns(), whole_ns = m->rules.time_budget_ns;
    struct ab_trace_info end;
    struct ab_measure_request r = request_of(asked, &trace);
    int exit_code = 0;
    out->n_calls = ab_trace_read_end(trace, &end) ? end.events : 0;
    /* both replays replay the same number of calls */
    for (unsigned i = 0; i < AB_REPLAY_KINDS; i++) {
        uint64_t n = fit_into_time(&r, whole_ns, i, m->session.n_backends, out->n_calls);
        if (n < out->n_calls && (out->n_replayed == 0 || n < out->n_replayed))
            out->n_replayed = n;
    }
    r.most_events = out->n_replayed;
    announce(&asked->talk, out);
    for (; out->n_replays < AB_REPLAY_KINDS; out->n_replays++) {
        r.user = &out->replays[out->n_replays];
        fit_into_time(&r, whole_ns, out->n_replays, m->session.n_backends, out->n_calls);
        AB_TRY(ab_replay(&r, &exit_code, err));
    }
    m->replay = &out->replays[AB_REPLAY_WARM].session;
    if (whole_ns > 0)
        m->session.stopping.spent_s = (double)(ab_clock_now_ns() - began_ns) * 1e-9;
    m->session.start = time(NULL);
    return AB_OK;
}

void ab_prediction_fini(struct ab_prediction *p)
{
    while (p->n_replays > 0)
        ab_stored_fini(&p->replays[--p->n_replays]);
}

static const struct ab_result *find_result(const struct ab_session *s, const char *name,
                                           uint32_t round)
{
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (strcmp(s->backends[i].name, name) == 0 && ab_session_has_numbers(s, i))
            return ab_session_find(s, i, AB_TRACE_PHASE, AB_OP_ALL, round);
    return NULL;
}

/* Returns the mean time of the timed calls in ns, less the cost of reading the clock; NaN if the
 * difference is not above 0. */
static double time_of_call(const struct ab_session *s, const char *name, uint32_t round)
{
    const struct ab_result *r = find_result(s, name, round);
    double ns = r != NULL && r->n > 0 ? r->mean - ab_session_floor_mean(s) : (double)NAN;
    return ns > 0 ? ns : (double)NAN;
}

void ab_prediction_note(const struct ab_prediction *p, struct ab_session *exec)
{
    const struct ab_session *warm = &p->replays[AB_REPLAY_WARM].session,
                            *cold = &p->replays[AB_REPLAY_COLD].session;
    for (uint32_t i = 0; i < exec->n_results; i++) {
        struct ab_result *r = &exec->results[i];
        if (r->op != AB_OP_ALL)
            continue;
        const char *name = exec->backends[r->backend].name;
        const struct ab_result *of = find_result(warm, name, r->round);
        const struct ab_result *any = warm->n_rounds > 0
                                          ? find_result(warm, name, warm->rounds[0].index)
                                          : NULL;
        if (any != NULL)
            r->calls = p->n_calls > 0 ? (double)p->n_calls : (double)any->n_ops;
        if (of != NULL)
            r->replay_ns_per_call = of->ns_per_op;
        r->replay_warm_ns_per_call = time_of_call(warm, name, r->round);
        r->replay_cold_ns_per_call = time_of_call(cold, name, r->round);
    }
}
