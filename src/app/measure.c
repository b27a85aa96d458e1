/* SPDX-License-Identifier: MIT
 *
 * One measurement from start to end: selects back ends, opens outputs before anything runs,
 * describes the session, runs its rounds, writes what came out and decides the exit code.
 */
#include "app/measure.h"

#include "app/backend_choice.h"
#include "app/base_name.h"
#include "app/cases.h"
#include "app/decision.h"
#include "app/gate_set.h"
#include "app/mapped_rows.h"
#include "app/noise_warning.h"
#include "app/outputs.h"
#include "app/result_store.h"
#include "app/rounds.h"
#include "app/verified.h"
#include "backend/selection.h"
#include "cli/commands.h"
#include "cli/failures.h"
#include "cli/terminal.h"
#include "core/file_digest.h"
#include "core/memory.h"
#include "core/text.h"
#include "report/table/sink_claims.h"
#include "report/table/sink_gates.h"
#include "report/table/sink_table.h"
#include "result/environment.h"
#include "result/merge/shard.h"
#include "result/session.h"
#include "runner/case.h"
#include "runner/count_round.h"
#include "runner/estimate.h"
#include "runner/session/resume.h"
#include "runner/session/session.h"
#include "runner/spawn.h"
#include "runner/supervise.h"

#include <limits.h>
#include <math.h>
#include <sched.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>

struct measurement {
    const struct ab_options *options;
    const struct ab_subject *subject;
    struct ab_selection_list selection;
    struct ab_mapped_rows mapped;
    struct ab_case *cases;
    struct ab_outputs outputs;
    struct ab_store store;
    struct ab_session session;
    const char **phases;
    struct ab_gate_set gates;
    struct ab_pass_plan passes;
    struct ab_decision decision; /* what is decided: against a baseline, by gates */
    char config_sha256[SHA256_DIGEST_STRING_LENGTH];
    char worker_path[PATH_MAX];
};

static enum ab_status open_outputs(struct measurement *m, struct ab_err *err)
{
    enum ab_status status = ab_store_open(m->options, &m->store, err);
    if (status == AB_OK)
        status = ab_outputs_open(m->options, &m->outputs, err);
    return status != AB_OK ? status : ab_outputs_spare_inputs(&m->outputs, m->options, err);
}

static enum ab_status select_backends(struct measurement *m, struct ab_err *err)
{
    const struct ab_options *o = m->options;
    const struct ab_subject *s = m->subject;
    const struct ab_backend_wish wish = {
        .options = o, .listed = s->backends, .n_listed = s->n_backends, .tape = s->map};
    struct ab_text choice = {0};
    char shown[300];
    AB_TRY(ab_backend_choice_make(&wish, &m->selection, err));
    const struct ab_selection *foreign = ab_case_foreign(o, &m->selection);
    if (foreign != NULL && !o->allows_plugins)
        return ab_fail(err, AB_USAGE,
                       "the workload names the library %s as a back end; to run its "
                       "code use --allow-plugins, or name it with -b",
                       ab_text_printable(shown, sizeof shown, foreign->name));
    ab_backend_choice_say(&wish, &m->selection, &choice);
    if (choice.s != NULL && !o->is_quiet)
        fprintf(stderr, "back ends: %s\n", choice.s);
    ab_text_fini(&choice);
    if (s->resumed == NULL)
        AB_TRY(ab_decision_add_witness(&m->decision, &m->selection, err));
    AB_TRY(ab_mapped_rows_read(o, s, &m->selection, &m->mapped, err));
    return ab_mapped_rows_make(o, &m->mapped, s, err);
}

static void copy(char *dst, size_t cap, const char *src)
{
    snprintf(dst, cap, "%s", src);
}

static void prepare_cases(struct measurement *m)
{
    struct ab_session *session = &m->session;
    size_t n = m->selection.n;
    m->cases = ab_alloc_zeroed(n + 1, sizeof m->cases[0]);
    session->backends = ab_alloc_zeroed(n + 1, sizeof session->backends[0]);
    session->n_backends = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        ab_case_describe(&m->selection.items[i], &session->backends[i]);
        ab_case_make(&m->selection.items[i], &m->cases[i]);
        ab_mapped_rows_fill(&m->mapped, i, &m->cases[i], &session->backends[i]);
    }
    ab_verified_find(m->options, session);
}

static void list_phases(struct measurement *m)
{
    m->phases = ab_alloc_zeroed(m->subject->map->image->n_phases + 1, sizeof m->phases[0]);
    for (uint32_t i = 0; i < m->subject->map->image->n_phases; i++)
        if (m->subject->map->phases[i].is_measured)
            m->phases[m->session.n_phases++] = m->subject->map->phases[i].name;
    m->session.phases = m->phases;
}

static enum ab_status read_gates(struct measurement *m, struct ab_err *err)
{
    const char *names[AB_SELECTION_MAX];
    struct ab_gate_source source = {
        .options = m->options,
        .workload = m->subject->workload,
        .phases = m->subject->map->phases,
        .n_phases = m->subject->map->image->n_phases,
        .backends = names,
    };
    for (size_t i = 0; i < m->selection.n && i < AB_SELECTION_MAX; i++)
        names[source.n_backends++] = m->selection.items[i].name;
    return ab_gate_set_read(&source, &m->gates, err);
}

static bool is_judged(const struct measurement *m)
{
    return m->gates.n_gates + m->gates.n_claims > 0 || m->options->baseline != NULL;
}

static void describe_session(struct measurement *m)
{
    const struct ab_subject *s = m->subject;
    struct ab_session *session = &m->session;
    session->kind = s->kind;
    session->name = s->name;
    session->about = s->about;
    session->config_path = s->path;
    session->config_text = s->text;
    if (strcmp(s->kind, "workload") == 0)
        SHA256Data((const uint8_t *)s->text, strlen(s->text), m->config_sha256);
    else if (!ab_file_digest(s->file != NULL ? s->file : s->path, m->config_sha256))
        m->config_sha256[0] = 0;
    session->config_sha256 = m->config_sha256;
    session->tape_sha256 = s->tape->sha256;
    session->settings = s->settings;
    session->seed = s->seed;
    session->start = time(NULL);
    session->n_rounds_planned = ab_round_limit_most(m->options);
    session->passes = m->passes;
    ab_round_limit_describe(m->options, s->resumed, session);
    if (!is_judged(m) && s->take == NULL)
        ab_round_limit_by_default(m->options, session);
    session->shard = m->options->shard;
    session->facts = s->tape->facts;
    session->overview = s->overview;
    session->stacks = s->stacks;
    session->n_slots = s->tape->n_slots;
    session->n_tape_ops = s->tape->n_ops;
    session->window = s->tape->window;
    session->is_window_given = m->options->has_window;
    session->n_edges = s->tape->n_edges;
    session->n_remote = s->tape->n_remote;
    session->command_line = ab_command_line;
    session->resumed_from = s->resumed != NULL ? m->options->resume : NULL;
    session->timer.window_ns = NAN;
    session->timer.floor_ns = NAN;
#if defined(__x86_64__)
    session->timer.source = "rdtsc/rdtscp";
#else
    session->timer.source = "cntvct_el0";
#endif
    ab_environment_read(&session->host);
    if (session->shard.count > 0) /* parts of two nodes of one kind must be told apart */
        ab_environment_read_name(&session->host);
    if (m->options->is_thp_off) /* what the workers had, not what the system would give */
        copy(session->host.thp, sizeof session->host.thp, "never (--thp)");
}

static enum ab_status check_cpus(const struct ab_options *o, struct ab_err *err)
{
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (size_t i = 0; i < o->n_cpus; i++)
        if (o->cpus[i] >= CPU_SETSIZE || !CPU_ISSET((unsigned)o->cpus[i], &allowed))
            return ab_fail(err, AB_USAGE, "--cpus: CPU %d is not available to this process",
                           o->cpus[i]);
    return AB_OK;
}

/* Puts the name of the partial result in front of what is wrong with it. */
static enum ab_status name_resumed(const struct measurement *m, struct ab_err *err)
{
    char shown[512];
    return ab_err_context(err, "%s: ", ab_text_printable(shown, sizeof shown, m->options->resume));
}

static enum ab_status run_session(struct measurement *m, struct ab_err *err)
{
    const struct ab_options *o = m->options;
    struct ab_round_watch watch;
    struct ab_session_plan plan = {
        .cases = m->cases,
        .rounds = m->session.n_rounds_planned,
        .processes = o->processes != 0 ? o->processes : ab_estimate_processes(m->subject->map),
        .progress = ab_round_watch_progress,
        .round_done = ab_round_watch_end_round,
        .user = &watch};
    plan.resumed = m->subject->resumed;
    plan.allows_broken = o->allows_broken;
    if (o->wants_instr || o->instr_ops > 0)
        plan.instr_ops = o->instr_ops > 0 ? o->instr_ops : AB_INSTR_OPS;
    plan.context.tape = m->subject->map;
    plan.context.worker_path = m->worker_path;
    plan.context.timeout_ns = o->timeout_ns;
    plan.context.drain_ns = o->drain_ns;
    plan.context.is_thp_off = o->is_thp_off;
    plan.context.memory_limit_bytes = o->mem_limit_bytes != 0 ? o->mem_limit_bytes
                                                              : ab_default_memory_limit();
    enum ab_status status = check_cpus(o, err);
    if (status != AB_OK)
        return status;
    status = ab_shard_check(o->shard, plan.rounds, m->session.n_backends, err);
    if (status != AB_OK)
        return status;
    plan.context.cpus = m->session.cpus = o->cpus;
    plan.context.n_cpus = m->session.n_cpus = (uint32_t)o->n_cpus;
    plan.context.is_strict = m->session.is_strict = o->is_strict;
    m->session.cpu = o->n_cpus > 0 ? o->cpus[0] : -1;
    if (plan.resumed != NULL && (status = ab_resume_check(&m->session, plan.resumed, err)) != AB_OK)
        return name_resumed(m, err);
    ab_clock_calibrate(&plan.context.clock);
    if ((status = ab_gate_set_check_floor(&m->gates, &plan.context.clock, err)) != AB_OK)
        return status;
    m->session.timer.ns_per_tick = plan.context.clock.ns_per_tick;
    m->session.timer.quantum_ns = plan.context.clock.quantum_ns;
    ab_round_watch_begin(&watch, o, &m->store, &m->session);
    status = ab_session_run(&plan, &m->session, err);
    ab_round_watch_end(&watch);
    return status == AB_USAGE && plan.resumed != NULL ? name_resumed(m, err) : status;
}

/* The list of gates is for people: where standard output has a document, it goes beside it. */
static void print_verdicts(const struct measurement *m)
{
    struct ab_table_style style = ab_terminal_style(m->options);
    bool is_taken = ab_outputs_use_stdout(m->options);
    if (m->options->is_quiet) {
        ab_verdicts_tell(&m->session, m->options->fails_inconclusive);
        return;
    }
    style.color = style.color && !is_taken;
    if (!is_taken)
        ab_sink_claims(stdout, &m->session, style);
    ab_decision_print(&m->decision, is_taken ? stderr : stdout, style);
    ab_sink_gates(is_taken ? stderr : stdout, &m->session, style);
    ab_decision_print_next(&m->decision, &m->session, m->store.name[0] != 0,
                           is_taken ? stderr : stdout, style);
}

/* Files come before the table, whose pipe may close; and one output that fails is no reason to go
 * without the others. The first error is the one that is told. */
static enum ab_status write_outputs(struct measurement *m, struct ab_err *err)
{
    struct ab_err more;
    struct ab_table_style style = ab_terminal_style(m->options);
    style.is_live = true;
    enum ab_status status = ab_store_write(&m->store, &m->session, err);
    enum ab_status written = ab_outputs_write(&m->outputs, &m->session,
                                              status == AB_OK ? err : &more);
    if (!ab_outputs_use_stdout(m->options) && !m->options->is_quiet)
        ab_sink_table(stdout, &m->session, style);
    print_verdicts(m);
    if (status == AB_OK && written == AB_OK)
        written = ab_outputs_lines(m->options, &m->session,
                                   ab_outputs_use_stdout(m->options) ? stderr : stdout, err);
    fflush(stdout); /* the table first, then where it is kept */
    if (!m->options->is_quiet)
        ab_store_tell(&m->store, stderr);
    return status == AB_OK ? written : status;
}

/* A failed back end outweighs a gate: without it the gate says nothing. */
static int judge(const struct measurement *m)
{
    int exit_code = m->options->hides_failures
                        ? 0
                        : ab_failures_tell(&m->session, m->options->is_quiet);
    return exit_code != 0 ? exit_code
                          : ab_status_exit_code(ab_decision_status(&m->decision, &m->session));
}

static void explain_interruption(const struct measurement *m, struct ab_err *err)
{
    struct ab_interruption it = {m->options, &m->session, &m->store, &m->selection};
    ab_interruption_explain(&it, err);
}

/* Frees what a single run needs, the first one or one that confirms it. */
static void release_run(struct measurement *m)
{
    ab_session_fini(&m->session);
    free(m->session.gates);
    free(m->session.claims);
    free(m->session.backends);
    free(m->cases);
    free(m->phases);
}

/* A shard is not what a gate or a claim speaks of: they are read, so that a mistake shows at once,
 * and judged on the whole. */
static void set_gates_aside(struct measurement *m)
{
    if (m->session.shard.count == 0)
        return;
    if (m->gates.n_gates > 0 && !m->options->is_quiet)
        fprintf(stderr, "allocbench: gates are judged on the merged result\n");
    m->gates.n_gates = m->gates.n_claims = 0;
}

static void release(struct measurement *m)
{
    ab_outputs_abandon(&m->outputs);
    ab_store_close(&m->store);
    ab_decision_close(&m->decision);
    release_run(m);
    ab_selection_list_fini(&m->selection);
    ab_mapped_rows_fini(&m->mapped);
    ab_gate_set_fini(&m->gates);
}

static enum ab_status run_again(struct measurement *again, const struct ab_confirmation *c,
                                struct ab_err *err)
{
    prepare_cases(again);
    list_phases(again);
    describe_session(again);
    ab_confirmation_describe(c, &again->session);
    enum ab_status status = run_session(again, err);
    ab_session_settle(&again->session);
    return status;
}

/* Apart, for its second measurement would be on the stack all the time. */
static __attribute__((noinline)) enum ab_status confirm(struct measurement *m, struct ab_err *err)
{
    struct ab_confirmation c;
    struct ab_subject subject = *m->subject;
    struct measurement again = *m;
    if (!ab_confirmation_begin(&c, m->options, &m->decision, &m->session))
        return AB_OK;
    ab_store_save(&m->store, &m->session);
    again.options = &c.options;
    subject.resumed = NULL;
    again.subject = &subject;
    again.session = (struct ab_session){0};
    again.store = (struct ab_store){0};
    again.cases = NULL;
    again.phases = NULL;
    enum ab_status status = run_again(&again, &c, err);
    status = ab_confirmation_end(&m->decision, &m->session, &again.session, status, err);
    release_run(&again);
    return status;
}

/* All that can be refused before anything runs. */
static enum ab_status prepare(struct measurement *m, struct ab_err *err)
{
    if (m->options->shard.count > 0 && (m->options->baseline != NULL || m->options->has_limit))
        return ab_fail(err, AB_USAGE,
                       "--shard and --%s are mutually exclusive: compare the merged result",
                       m->options->baseline != NULL ? "baseline" : "limit");
    enum ab_status status = ab_companion_path(AB_WORKER_NAME, m->worker_path, sizeof m->worker_path,
                                              err);
    if (status != AB_OK || (status = ab_decision_open(m->options, &m->decision, err)) != AB_OK ||
        (status = select_backends(m, err)) != AB_OK || (status = open_outputs(m, err)) != AB_OK)
        return status;
    prepare_cases(m);
    list_phases(m);
    if ((status = ab_base_name_set(m->options->base, &m->session, err)) != AB_OK ||
        (status = ab_terminal_check_phase(m->options, &m->session, err)) != AB_OK ||
        (status = read_gates(m, err)) != AB_OK ||
        (status = ab_round_limit_check(m->options, m->session.n_backends, err)) != AB_OK ||
        (status = ab_pass_choice_make(m->options, &m->gates, m->subject->resumed, &m->passes,
                                      err)) != AB_OK)
        return status;
    describe_session(m);
    ab_noise_warn_gates(m->options, &m->session, m->gates.gates, m->gates.n_gates);
    if (m->options->baseline != NULL || m->options->has_limit)
        ab_noise_warn_limit(m->options, m->session.host.fingerprint, "--limit", "all", "time",
                            m->options->limit, m->session.n_rounds_planned);
    status = ab_outputs_check(&m->outputs, &m->session, err);
    return status != AB_OK ? status : ab_decision_check(&m->decision, &m->session, err);
}

enum ab_status ab_measure(const struct ab_options *o, const struct ab_subject *subject,
                          int *exit_code, struct ab_err *err)
{
    struct measurement m = {.options = o, .subject = subject};
    struct ab_err why;
    ab_supervise_begin(); /* from here on nothing is left behind by a signal */
    enum ab_status status = prepare(&m, err);
    if (status != AB_OK)
        goto out;
    status = run_session(&m, err);
    if (status != AB_OK && m.session.n_rounds == m.session.n_rounds_resumed) {
        if (status == AB_INTERRUPTED)
            explain_interruption(&m, err);
        goto out; /* nothing new to keep */
    }
    ab_session_settle(&m.session);
    if (subject->take != NULL) {
        status = status == AB_OK ? subject->take(subject->user, &m.session, err) : status;
        goto out;
    }
    set_gates_aside(&m);
    ab_decision_make(&m.decision, &m.gates, &m.session);
    if (status == AB_OK)
        status = confirm(&m, err);
    enum ab_status written = write_outputs(&m, status == AB_OK ? err : &why);
    if (status == AB_OK)
        status = written;
    else if (written != AB_OK && status == AB_INTERRUPTED)
        fprintf(stderr, "allocbench: %s\n", why.text);
    *exit_code = judge(&m);
    if (subject->seen != NULL && status == AB_OK)
        subject->seen(subject->user, &m.session);
    if (status == AB_INTERRUPTED && !m.session.is_complete)
        explain_interruption(&m, err);
out:
    release(&m);
    return status;
}
