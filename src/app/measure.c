/* SPDX-License-Identifier: MIT
 *
 * What all measurements have in common: selects back ends, opens outputs before anything runs,
 * describes the session, runs its rounds and again those that confirm a failure, writes what came
 * out and decides the exit code.
 */
#include "app/measure.h"

#include "app/backend_choice.h"
#include "app/decision.h"
#include "app/noise_warning.h"
#include "app/result_store.h"
#include "app/rounds.h"
#include "app/say.h"
#include "core/memory.h"
#include "report/format.h"
#include "result/environment.h"
#include "result/session.h"
#include "runner/supervise.h"

#include <stdlib.h>
#include <time.h>

static enum ab_status open_outputs(struct ab_measurement *m, struct ab_err *err)
{
    AB_TRY(ab_store_open(m->options, &m->store, err));
    AB_TRY(ab_outputs_open(m->options, &m->outputs, err));
    return ab_outputs_spare_inputs(&m->outputs, m->options, err);
}

static void describe_backends(struct ab_measurement *m)
{
    struct ab_session *s = &m->session;
    s->n_backends = (uint32_t)m->selection.n;
    s->backends = ab_alloc_zeroed(m->selection.n + 1, sizeof s->backends[0]);
    for (size_t i = 0; i < m->selection.n; i++) {
        ab_case_describe(&m->selection.items[i], &s->backends[i]);
        m->engine->add_case(m, i, &s->backends[i]);
    }
    ab_verified_find(m->options, s);
}

static enum ab_status read_gates(struct ab_measurement *m, struct ab_err *err)
{
    const char *names[AB_SELECTION_MAX];
    struct ab_gate_source source = {
        .options = m->options,
        .workload = m->workload,
        .phases = m->phases,
        .n_phases = m->n_phases,
        .backends = names,
        .is_exec = m->is_exec,
    };
    for (size_t i = 0; i < m->selection.n && i < AB_SELECTION_MAX; i++)
        names[source.n_backends++] = m->selection.items[i].name;
    return ab_gate_set_read(&source, &m->gates, err);
}

bool ab_measurement_is_judged(const struct ab_measurement *m)
{
    return m->gates.n_gates + m->gates.n_claims > 0 || m->options->baseline != NULL;
}

static void describe_session(struct ab_measurement *m)
{
    struct ab_session *s = &m->session;
    s->start = time(NULL);
    s->command_line = m->options->command_line;
    s->n_rounds_planned = ab_round_limit_most(m->options);
    ab_round_limit_describe(m->options, m->resumed, s);
    ab_environment_read(&s->host);
    m->engine->describe(m);
}

/* All that can be refused before anything runs. */
static enum ab_status prepare(struct ab_measurement *m, struct ab_err *err)
{
    const struct ab_options *o = m->options;
    if (o->shard.count > 0 && (o->baseline != NULL || o->has_limit))
        return ab_fail(err, AB_USAGE,
                       "--shard and --%s are mutually exclusive: compare the merged result",
                       o->baseline != NULL ? "baseline" : "limit");
    AB_TRY(ab_decision_open(o, &m->decision, err));
    AB_TRY(m->engine->select(m, err));
    AB_TRY(open_outputs(m, err));
    describe_backends(m);
    AB_TRY(ab_base_name_set(o->base, &m->session, err));
    AB_TRY(read_gates(m, err));
    AB_TRY(ab_round_limit_check(o, m->session.n_backends, err));
    if (m->engine->choose != NULL)
        AB_TRY(m->engine->choose(m, err));
    describe_session(m);
    ab_noise_warn_gates(o, &m->session, m->gates.gates, m->gates.n_gates);
    if (o->baseline != NULL || o->has_limit)
        ab_noise_warn_limit(o, m->session.host.fingerprint, "--limit", "all", "time", o->limit,
                            m->session.n_rounds_planned);
    AB_TRY(ab_outputs_check(&m->outputs, &m->session, err));
    return ab_decision_check(&m->decision, &m->session, err);
}

/* A shard is not what a gate or a claim speaks of: they are read, so that a mistake shows at once,
 * and judged on the whole. */
static void set_gates_aside(struct ab_measurement *m)
{
    if (m->session.shard.count == 0)
        return;
    if (m->gates.n_gates > 0)
        ab_say(m->options, "allocbench: gates are judged on the merged result");
    m->gates.n_gates = m->gates.n_claims = 0;
}

/* Frees what a single run needs, the first one or one that confirms it. */
static void release_session(struct ab_session *s)
{
    ab_session_fini(s);
    free(s->gates);
    free(s->claims);
    free(s->backends);
}

/* As many rounds again of what failed by a ratio: it fails only if these say so, too. Apart, for its
 * second measurement would be on the stack all the time. */
static __attribute__((noinline)) enum ab_status confirm(struct ab_measurement *m,
                                                        struct ab_err *err)
{
    struct ab_confirmation c;
    struct ab_measurement again = *m;
    if (!ab_confirmation_begin(&c, m->options, &m->decision, &m->session))
        return AB_OK;
    ab_store_save(&m->store, &m->session);
    again.options = &c.options;
    again.resumed = NULL;
    again.is_again = true;
    again.session = (struct ab_session){.base = m->session.base};
    again.store = (struct ab_store){0};
    describe_backends(&again);
    describe_session(&again);
    ab_confirmation_describe(&c, &again.session);
    enum ab_status status = m->engine->run(&again, err);
    ab_session_settle(&again.session);
    status = ab_confirmation_end(&m->decision, &m->session, &again.session, status, err);
    release_session(&again.session);
    return status;
}

/* One output that fails is no reason to go without the others. The first error is the one that is
 * told. */
static enum ab_status write_outputs(struct ab_measurement *m, struct ab_err *err)
{
    struct ab_err more;
    enum ab_status status = ab_store_write(&m->store, &m->session, err);
    enum ab_status written = ab_outputs_write(&m->outputs, &m->session,
                                              status == AB_OK ? err : &more);
    return status == AB_OK ? written : status;
}

static void show(const struct ab_measurement *m, enum ab_status status)
{
    const struct ab_listener *listener = m->options->listener;
    const struct ab_measured measured = {.options = m->options,
                                         .session = &m->session,
                                         .replay = m->replay,
                                         .decision = &m->decision,
                                         .store = &m->store,
                                         .status = status,
                                         .n_left = m->n_left};
    if (listener != NULL)
        listener->show(&measured);
}

/* A failed back end outweighs a gate: without it the gate says nothing. */
static int judge(const struct ab_measurement *m)
{
    bool has_failed = ab_case_has_failed(&m->session) ||
                      (m->replay != NULL && ab_case_has_failed(m->replay));
    return ab_status_exit_code(has_failed ? AB_BACKEND
                                          : ab_verdict_status(m->options, &m->session));
}

/* Files come before what is shown, whose pipe may close. */
static enum ab_status conclude(struct ab_measurement *m, enum ab_status status, int *exit_code,
                               struct ab_err *err)
{
    struct ab_err why;
    set_gates_aside(m);
    ab_decision_make(&m->decision, &m->gates, &m->session);
    if (status == AB_OK)
        status = confirm(m, err);
    enum ab_status written = write_outputs(m, status == AB_OK ? err : &why);
    if (status == AB_OK)
        status = written;
    else if (written != AB_OK && status == AB_INTERRUPTED)
        ab_complain(m->options, (ab_err_context(&why, "allocbench: "), why.text));
    show(m, status);
    *exit_code = judge(m);
    return status;
}

enum ab_status ab_measure(struct ab_measurement *m, int *exit_code, struct ab_err *err)
{
    ab_supervise_begin(); /* from here on nothing is left behind by a signal */
    enum ab_status status = prepare(m, err);
    if (status == AB_OK) {
        status = m->engine->run(m, err);
        /* What is complete is kept, also when the rest fails; but not what was there already. */
        bool is_new = status == AB_OK || m->session.n_rounds > m->session.n_rounds_resumed;
        if (is_new && m->engine->conclude != NULL)
            m->engine->conclude(m);
        if (is_new)
            ab_session_settle(&m->session);
        if (is_new && m->take == NULL)
            status = conclude(m, status, exit_code, err);
        else if (is_new && status == AB_OK)
            status = m->take(m->user, &m->session, err);
        if (status == AB_INTERRUPTED && (!is_new || (m->take == NULL && !m->session.is_complete)))
            ab_interruption_explain(m->options, &m->session, &m->store, &m->selection, err);
    }
    ab_outputs_abandon(&m->outputs);
    ab_store_close(&m->store);
    ab_decision_close(&m->decision);
    release_session(&m->session);
    ab_selection_list_fini(&m->selection);
    ab_gate_set_fini(&m->gates);
    return status;
}
