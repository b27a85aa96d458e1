/* SPDX-License-Identifier: MIT
 *
 * Runs a measurement from start to end: selects back ends, opens outputs before anything runs,
 * describes the session and runs its rounds. Then repeats rounds to confirm a failure, writes the
 * results and sets the exit code.
 */
#include "app/measure.h"

#include "app/backend_choice.h"
#include "app/decision.h"
#include "app/noise_warning.h"
#include "app/result_store.h"
#include "app/say.h"
#include "core/alloc.h"
#include "core/text.h"
#include "document/session_record.h"
#include "result/environment.h"
#include "result/merge/shard_part.h"
#include "result/session.h"
#include "result/shown.h"
#include "runner/supervise.h"
#include "stats/stopping.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static enum ab_status open_outputs(const struct ab_measure_task *task, struct ab_measurement *m,
                                   struct ab_err *err)
{
    const struct ab_measure_request *asked = task->asked;
    const struct ab_inputs inputs = {
        .files = asked->args,
        .n = asked->n_args,
        .others = {asked->verdicts.baseline, task->others[0], task->others[1]},
        .rules = asked->maps.rules,
        .n_rules = asked->maps.n,
    };
    AB_TRY(ab_store_open(&asked->store, &asked->talk, &m->store, err));
    AB_TRY(ab_outputs_open(&asked->outputs, &m->outputs, err));
    return ab_outputs_spare_inputs(&m->outputs, &asked->outputs, &inputs, err);
}

static void describe_backends(struct ab_measurement *m)
{
    struct ab_session *s = &m->session;
    s->n_backends = (uint32_t)m->selection.n * (m->n_combinations > 1 ? m->n_combinations : 1);
    s->backends = ab_alloc_zeroed(s->n_backends + 1, sizeof s->backends[0]);
    for (size_t i = 0; i < s->n_backends; i++) {
        ab_case_describe(&m->selection.items[i % m->selection.n], &s->backends[i]);
        m->engine->add_case(m, i, &s->backends[i]);
    }
    ab_backends_set_labels(s->backends, s->n_backends);
}

static enum ab_status read_gates(const struct ab_measure_task *task, struct ab_measurement *m,
                                 struct ab_err *err)
{
    const struct ab_measure_request *asked = task->asked;
    const char *names[AB_SELECTION_MAX];
    struct ab_gate_source source = {
        .talk = &asked->talk,
        .gates = asked->verdicts.gates,
        .n_gates = asked->verdicts.n_gates,
        .workload = asked->ignores_gates ? NULL : task->workload,
        .phases = task->phases,
        .n_phases = task->n_phases,
        .backends = names,
        .named = m->session.named,
        .n_named = m->session.n_named,
        .is_exec = task->is_exec,
    };
    for (size_t i = 0; i < m->selection.n && i < AB_SELECTION_MAX; i++)
        names[source.n_backends++] = m->selection.items[i].name;
    return ab_gate_set_read(&source, &m->gates, err);
}

/* ---- the rule that ends the rounds ---- */

static bool has_rule(const struct ab_stop_rules *rules)
{
    return rules->time_budget_ns > 0 || rules->precision > 0;
}

/* Returns the limit of rounds: --rounds, or the limit of the stopping rule if that ends the
 * session. */
static uint32_t most_rounds(const struct ab_stop_rules *rules)
{
    return has_rule(rules) && !rules->has_rounds ? AB_STOPPING_MOST_ROUNDS : rules->rounds;
}

/* Refuses --precision and --time-budget where other options make them impossible. */
static enum ab_status check_rule(const struct ab_stop_rules *rules, size_t n_backends,
                                 struct ab_err *err)
{
    const char *name = rules->precision > 0 ? "precision" : "time-budget";
    if (has_rule(rules) && rules->shard.count > 0)
        return ab_fail(err, AB_USAGE,
                       "--shard and --%s are mutually exclusive: the number of rounds must be "
                       "known before a part is run",
                       name);
    if (rules->precision > 0 && n_backends < 2)
        return ab_fail(err, AB_USAGE,
                       "--precision is about ratios: it needs at least two back ends");
    if (rules->precision > 0 && most_rounds(rules) < AB_STOPPING_LEAST_ROUNDS)
        return ab_fail(err, AB_USAGE,
                       "--precision needs at least %d rounds, --rounds allows %u: below that there "
                       "are no intervals",
                       AB_STOPPING_LEAST_ROUNDS, most_rounds(rules));
    return AB_OK;
}

static void describe_session(struct ab_measurement *m)
{
    struct ab_session *s = &m->session;
    s->start = time(NULL);
    s->n_rounds_planned = most_rounds(&m->rules);
    s->stopping = (struct ab_stopping){
        .time_budget_s = (double)m->rules.time_budget_ns * 1e-9,
        .precision = m->rules.precision,
        .spent_s = m->resumed != NULL ? m->resumed->stopping.spent_s : 0,
        .n_rounds_most = s->n_rounds_planned,
    };
    ab_environment_read(&s->host);
    m->engine->describe(m);
}

/* Performs all checks that are possible before anything runs. */
static enum ab_status prepare(const struct ab_measure_task *task, struct ab_measurement *m,
                              struct ab_err *err)
{
    const struct ab_measure_request *asked = task->asked;
    const struct ab_verdicts_wanted *wanted = &asked->verdicts;
    if (m->rules.shard.count > 0 && (wanted->baseline != NULL || wanted->has_limit))
        return ab_fail(err, AB_USAGE,
                       "--shard and --%s are mutually exclusive: compare the merged result",
                       wanted->baseline != NULL ? "baseline" : "limit");
    AB_TRY(ab_decision_open(asked, &m->decision, err));
    AB_TRY(m->engine->select(m, err));
    AB_TRY(open_outputs(task, m, err));
    describe_backends(m);
    ab_verified_find(&asked->store, &m->session);
    AB_TRY(ab_base_name_set(wanted->base, &m->session, err));
    AB_TRY(read_gates(task, m, err));
    AB_TRY(check_rule(&m->rules, m->selection.n, err));
    if (m->engine->choose != NULL)
        AB_TRY(m->engine->choose(m, err));
    describe_session(m);
    ab_noise_warn_gates(&asked->store, &asked->talk, &m->session, m->gates.gates, m->gates.n_gates);
    if (wanted->baseline != NULL || wanted->has_limit)
        ab_noise_warn_limit(&asked->store, &asked->talk, m->session.host.fingerprint, "--limit",
                            "all", "time", wanted->limit, m->session.n_rounds_planned);
    AB_TRY(ab_outputs_check(&m->outputs, &m->session, err));
    return ab_decision_check(&m->decision, &m->session, err);
}

/* Drops the gates and claims of a shard. They were read, so that mistakes show at once, but they
 * are judged on the merged result. */
static void set_gates_aside(struct ab_measurement *m, const struct ab_talk *talk)
{
    if (m->session.shard.count == 0)
        return;
    if (m->gates.n_gates > 0)
        ab_say(talk, "allocbench: gates are judged on the merged result");
    m->gates.n_gates = m->gates.n_claims = 0;
}

/* Frees the memory of one session, the first or the confirming one. */
static void release_session(struct ab_session *s)
{
    ab_session_fini(s);
    free(s->gates);
    free(s->claims);
    free(s->backends);
}

/* Describes the confirming session: another seed, and only the concerned back ends. */
static void describe_again(struct ab_measurement *again, const bool *is_concerned)
{
    struct ab_session *s = &again->session;
    describe_backends(again);
    describe_session(again);
    s->seed = ~s->seed;
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (!is_concerned[i] && s->backends[i].status == AB_BACKEND_OK)
            s->backends[i].status = AB_BACKEND_ABSENT;
}

/* Measures again the rows with a failed gate or comparison, with as many rounds as the session had.
 * A row fails only if its second measurement fails too. The function is not inlined, because its
 * local variables would then occupy stack space during the first measurement too. */
static __attribute__((noinline)) enum ab_status confirm(struct ab_measurement *m,
                                                        const struct ab_talk *talk,
                                                        struct ab_err *err)
{
    bool is_concerned[AB_COMBINATIONS_MAX] = {false}; /* one element per possible row */
    struct ab_measurement again = *m;
    uint32_t n = ab_decision_suspicious(&m->decision, &m->session, is_concerned);
    if (n == 0)
        return AB_OK;
    ab_say(talk, "%u verdict%s to confirm: %u more rounds", n, n == 1 ? "" : "s",
           m->session.n_rounds);
    ab_store_save(&m->store, &m->session);
    again.rules = (struct ab_stop_rules){.has_rounds = m->rules.has_rounds,
                                         .rounds = m->session.n_rounds};
    again.resumed = NULL;
    again.is_again = true;
    again.session = (struct ab_session){.base = m->session.base,
                                        .command_line = m->session.command_line};
    again.store = (struct ab_store){0};
    describe_again(&again, is_concerned);
    enum ab_status status = m->engine->run(&again, err);
    ab_session_settle(&again.session);
    if (status == AB_OK)
        ab_decision_confirm(&m->decision, &m->session, &again.session);
    else if (status == AB_INTERRUPTED)
        ab_fail(err, status, "interrupted while a failure was being confirmed; it stands");
    release_session(&again.session);
    return status;
}

/* Writes all outputs, even if one fails. Returns the first error. */
static enum ab_status write_outputs(struct ab_measurement *m, struct ab_err *err)
{
    struct ab_err more;
    enum ab_status status = ab_store_write(&m->store, &m->session, err);
    enum ab_status written = ab_outputs_write(&m->outputs, &m->session,
                                              status == AB_OK ? err : &more);
    return status == AB_OK ? written : status;
}

static void show(const struct ab_measure_request *asked, const struct ab_measurement *m,
                 enum ab_status status)
{
    const struct ab_measured measured = {.asked = asked,
                                         .session = &m->session,
                                         .replay = m->replay,
                                         .decision = &m->decision,
                                         .store = &m->store,
                                         .status = status,
                                         .n_left = m->n_left};
    if (asked->show != NULL)
        asked->show(asked->user, &measured);
}

/* Returns the exit code. A failed back end outweighs a gate, because a gate means nothing if a back
 * end has failed. */
static int judge(const struct ab_measurement *m)
{
    bool has_failed = ab_case_has_failed(&m->session) ||
                      (m->replay != NULL && ab_case_has_failed(m->replay));
    return ab_status_exit_code(has_failed ? AB_BACKEND
                                          : ab_verdict_status(m->decision.wanted, &m->session));
}

/* Judges, confirms and writes the results of a measurement that ended with `status`. */
static enum ab_status conclude(struct ab_measurement *m, const struct ab_talk *talk,
                               enum ab_status status, struct ab_err *err)
{
    struct ab_err why;
    set_gates_aside(m, talk);
    ab_decision_make(&m->decision, &m->gates, &m->session);
    if (status == AB_OK)
        status = confirm(m, talk, err);
    enum ab_status written = write_outputs(m, &why);
    if (written == AB_OK)
        return status;
    if (status == AB_INTERRUPTED)
        ab_complain(talk, (ab_err_context(&why, "allocbench: "), why.text));
    if (status != AB_OK)
        return status;
    *err = why;
    return written;
}

/* ---- interruptions: the note on stored rounds, and the command that resumes ---- */

static void add_option(struct ab_text *t, const char *option, const char *value)
{
    ab_text_addf(t, " %s ", option);
    ab_text_add_shell(t, value);
}

/* Appends the options that a resuming command must repeat, because a stored result is not trusted
 * to name libraries or the rules of a mapping (--map or `via`). */
static void add_libraries(struct ab_text *t, const struct ab_measure_request *asked,
                          const struct ab_session *s, const struct ab_selection_list *list)
{
    bool has_file = false;
    for (size_t i = 0; i < list->n; i++)
        has_file = has_file || list->items[i].is_file;
    for (size_t i = 0; has_file && i < asked->backends.n; i++)
        add_option(t, "-b", asked->backends.names[i]);
    for (size_t i = 0; i < asked->maps.n; i++)
        add_option(t, "--map", asked->maps.rules[i]);
    for (uint32_t i = 0; i < s->n_backends && asked->maps.n == 0; i++)
        if (s->backends[i].n_heaps > 0 && s->backends[i].combination == 0)
            add_option(t, "--map", s->backends[i].map);
}

static void add_command(struct ab_text *t, const char *folder, const struct ab_session *s,
                        const struct ab_store *store)
{
    struct ab_text path = {0};
    ab_text_addf(&path, "%s/%s", store->folder, store->name);
    ab_text_addf(t, "\ncontinue:  allocbench %s", ab_session_resume_commands[s->kind]);
    add_option(t, "--resume", path.s);
    if (folder != NULL)
        add_option(t, "--results", folder);
    ab_text_fini(&path);
}

static void add_rounds(struct ab_text *t, const struct ab_session *s)
{
    uint32_t planned = ab_shard_n_rounds(s->shard, s->n_rounds_planned);
    ab_text_addf(t, "interrupted after %u ", s->n_rounds);
    if (s->stopping.time_budget_s > 0 || s->stopping.precision > 0)
        ab_text_addf(t, "round%s", s->n_rounds == 1 ? "" : "s");
    else
        ab_text_addf(t, "of %u rounds", planned);
}

/* Sets the text of AB_INTERRUPTED in *err, which is empty under --quiet. */
static void explain_interruption(const struct ab_measure_task *task, const struct ab_measurement *m,
                                 struct ab_err *err)
{
    const struct ab_measure_request *asked = task->asked;
    const struct ab_session *s = &m->session;
    struct ab_text t = {0};
    if (s->n_rounds == s->n_rounds_resumed) {
        ab_text_add(&t, "interrupted before a round was complete; nothing new was stored");
    } else {
        add_rounds(&t, s);
        ab_text_add(&t, m->store.name[0] != 0 ? "; what is complete is kept" : "; not stored");
    }
    if (m->store.name[0] != 0 && !task->is_exec) { /* a program cannot be resumed */
        add_command(&t, asked->store.folder, s, &m->store);
        add_libraries(&t, asked, s, &m->selection);
    }
    ab_fail(err, AB_INTERRUPTED, "%s", asked->talk.is_quiet ? "" : t.s);
    ab_text_fini(&t);
}

static void begin(const struct ab_measure_task *task, struct ab_measurement *m)
{
    *m = (struct ab_measurement){
        .engine = task->engine,
        .work = task->work,
        .n_combinations = task->n_combinations,
        .resumed = task->resumed,
        .rules = task->asked->rules,
        .session.command_line = task->asked->command.kept,
    };
    /* from here on, a signal that ends the process leaves no files or processes behind */
    ab_supervise_begin();
}

static void release(struct ab_measurement *m)
{
    ab_outputs_abandon(&m->outputs);
    ab_store_close(&m->store);
    ab_decision_close(&m->decision);
    release_session(&m->session);
    ab_selection_list_fini(&m->selection);
    ab_gate_set_fini(&m->gates);
}

enum ab_status ab_measure(const struct ab_measure_task *task, int *exit_code, struct ab_err *err)
{
    const struct ab_measure_request *asked = task->asked;
    struct ab_measurement m;
    begin(task, &m);
    enum ab_status status = prepare(task, &m, err);
    if (status == AB_OK) {
        status = m.engine->run(&m, err);
        /* Keeps complete rounds even if the rest fails, unless there are none beyond those of the
         * resumed result. */
        bool is_new = (status == AB_OK && !asked->is_trial) ||
                      m.session.n_rounds > m.session.n_rounds_resumed;
        if (is_new && m.engine->conclude != NULL)
            m.engine->conclude(&m);
        if (is_new)
            ab_session_settle(&m.session);
        if (is_new && asked->take == NULL) {
            status = conclude(&m, &asked->talk, status, err);
            /* after all files are written, because the pipe of the output may close */
            show(asked, &m, status);
            *exit_code = judge(&m);
        } else if (is_new && status == AB_OK) {
            status = asked->take(asked->user, &m.session, err);
        }
        if (status == AB_INTERRUPTED &&
            (!is_new || (asked->take == NULL && !m.session.is_complete)))
            explain_interruption(task, &m, err);
    }
    release(&m);
    return status;
}
