/* SPDX-License-Identifier: MIT
 *
 * `exec`: a real program under each allocator, from the command line to the exit code. The result
 * is one like those of `run`, with the kind "exec" and one phase.
 */
#include "app/base_name.h"
#include "app/cases.h"
#include "app/decision.h"
#include "app/gate_set.h"
#include "app/noise_warning.h"
#include "app/outputs.h"
#include "app/prediction.h"
#include "app/result_store.h"
#include "app/rounds.h"
#include "app/verified.h"
#include "backend/selection.h"
#include "base/bits.h"
#include "cli/commands.h"
#include "cli/failures.h"
#include "cli/terminal.h"
#include "core/file_digest.h"
#include "core/text.h"
#include "program/program_file.h"
#include "program/program_session.h"
#include "report/table/sink_gates.h"
#include "report/table/sink_table.h"
#include "result/environment.h"
#include "result/session.h"
#include "runner/spawn.h"
#include "runner/supervise.h"
#include "stats/aggregate.h"

#include <inttypes.h>
#include <math.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the work: two results are of the same when command, arguments and input are the same ---- */

enum { SETTINGS_MAX = 6 };

/* That the program itself is another one may be what is measured: it is told, and no part of it. */
struct work {
    char program[4096], name[128];
    char program_sha256[65], work_sha256[65];
    const char *settings[SETTINGS_MAX + 1]; /* malloc'ed, ends with NULL */
    size_t n_settings;
};

static void add_setting(struct work *w, const char *name, const char *value)
{
    struct ab_text t = {0};
    ab_text_addf(&t, "%s=%s", name, value);
    if (t.s != NULL && w->n_settings < SETTINGS_MAX)
        w->settings[w->n_settings++] = t.s;
    else
        ab_text_fini(&t);
}

/* The first word by its last part: the same program may lie elsewhere. */
static void digest_work(const struct ab_options *o, const struct work *w, const char *stdin_sha256,
                        char hex[65])
{
    SHA2_CTX sha;
    SHA256Init(&sha);
    SHA256Update(&sha, (const uint8_t *)w->name, strlen(w->name) + 1);
    for (size_t i = 1; i < o->n_args; i++)
        SHA256Update(&sha, (const uint8_t *)o->args[i], strlen(o->args[i]) + 1);
    SHA256Update(&sha, (const uint8_t *)stdin_sha256, strlen(stdin_sha256));
    SHA256End(&sha, hex);
}

/* `program` is set. AB_INPUT where --stdin cannot be read. */
static enum ab_status describe_work(const struct ab_options *o, struct work *w, struct ab_err *err)
{
    char stdin_sha256[65] = "", shown[512];
    const char *slash = strrchr(w->program, '/');
    snprintf(w->name, sizeof w->name, "%.100s", slash != NULL ? slash + 1 : w->program);
    if (!ab_file_digest(w->program, w->program_sha256))
        w->program_sha256[0] = 0;
    if (o->stdin_path != NULL && !ab_file_digest(o->stdin_path, stdin_sha256))
        return ab_fail_errno(err, AB_INPUT, "--stdin: cannot read %s",
                             ab_text_printable(shown, sizeof shown, o->stdin_path));
    digest_work(o, w, stdin_sha256, w->work_sha256);
    if (o->stdin_path != NULL)
        add_setting(w, "stdin", o->stdin_path);
    if (o->prepare != NULL)
        add_setting(w, "prepare", o->prepare);
    add_setting(w, "check_output", o->is_output_free ? "false" : "true");
    return AB_OK;
}

/* Adds what it printed. */
static void note_output(struct work *w, const struct ab_program_summary *s, bool is_output_free)
{
    char text[40];
    if (is_output_free)
        return;
    snprintf(text, sizeof text, "%" PRIu64, s->output.bytes);
    add_setting(w, "output_bytes", text);
    snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, s->output.high, s->output.low);
    add_setting(w, "output_xxh128", text);
}

static void release_work(struct work *w)
{
    for (size_t i = 0; i < w->n_settings; i++)
        free((void *)w->settings[i]);
    w->n_settings = 0;
}

/* ---- the session ---- */

struct exec {
    const struct ab_options *options;
    struct ab_selection_list selection;
    struct ab_program_case *cases;
    const char *(*envs)[AB_SELECTION_ENV_MAX + 1]; /* of the cases */
    struct work work;
    struct ab_outputs outputs;
    struct ab_store store;
    struct ab_gate_set gates;
    struct ab_session session;
    struct ab_program_summary summary;
    struct ab_prediction prediction;
    struct ab_decision decision;
};

/* ---- before anything runs ---- */

static enum ab_status find_program(struct exec *x, struct ab_err *err)
{
    static const struct ab_program_use measuring = {
        .done = "measured",
        .loaded = "an allocator",
        .needs = "allocators need glibc",
    };
    const struct ab_options *o = x->options;
    char shown[512];
    if (o->n_args == 0)
        return ab_fail(err, AB_USAGE,
                       "exec needs a command: allocbench exec -b glibc,jemalloc -- ./app …");
    if (!ab_program_file_find(o->args[0], x->work.program, sizeof x->work.program))
        return ab_fail(err, AB_USAGE, "%s: no such program, or it is not executable",
                       ab_text_printable(shown, sizeof shown, o->args[0]));
    return ab_program_file_check(x->work.program, &measuring, err);
}

/* Only a malloc that is preloaded, and the C library's, can serve a real program. */
static enum ab_status check_kind(const struct ab_selection *s, struct ab_err *err)
{
    char shown[300];
    ab_text_printable(shown, sizeof shown, s->name);
    bool is_malloc = s->source == AB_SOURCE_LIBC || s->source == AB_SOURCE_PRELOAD;
    if (!is_malloc || s->is_inline || s->is_checked || s->fault_n > 0)
        return ab_fail(err, AB_USAGE,
                       "%s cannot serve a real program: exec needs a malloc that can be preloaded "
                       "(allocbench list backends), or glibc",
                       shown);
    if (s->state == AB_SELECTION_OK && ab_spawn_needs_alias(s->path))
        return ab_fail(err, AB_USAGE,
                       "%s: LD_PRELOAD cannot hold a path with a space, a colon or a quote; make a "
                       "copy of it elsewhere",
                       shown);
    return AB_OK;
}

static enum ab_status select_backends(struct exec *x, struct ab_err *err)
{
    const struct ab_options *o = x->options;
    enum ab_status status = ab_selection_parse(o->backends, o->n_backends, o->backend_path,
                                               &x->selection, err);
    if (status == AB_OK)
        status = ab_decision_add_witness(&x->decision, &x->selection, err);
    for (size_t i = 0; i < x->selection.n && status == AB_OK; i++)
        status = check_kind(&x->selection.items[i], err);
    return status;
}

static void make_case(const struct ab_selection *s, const char **env, struct ab_program_case *c)
{
    if (s->source == AB_SOURCE_PRELOAD)
        c->wanted = (struct ab_proof_wanted){s->path, s->dev, s->ino};
    for (uint32_t i = 0; i < s->n_env; i++)
        env[i] = s->env[i];
    c->env = env;
}

static enum ab_status prepare_cases(struct exec *x, struct ab_err *err)
{
    size_t n = x->selection.n;
    struct ab_session *s = &x->session;
    x->cases = calloc(n + 1, sizeof x->cases[0]);
    x->envs = calloc(n + 1, sizeof x->envs[0]);
    s->backends = calloc(n + 1, sizeof s->backends[0]);
    if (x->cases == NULL || x->envs == NULL || s->backends == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    s->n_backends = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        ab_case_describe(&x->selection.items[i], &s->backends[i]);
        make_case(&x->selection.items[i], x->envs[i], &x->cases[i]);
    }
    ab_verified_find(x->options, s);
    return ab_base_name_set(x->options->base, s, err);
}

static enum ab_status read_gates(struct exec *x, struct ab_err *err)
{
    static const struct ab_phase phase = {.name = AB_PROGRAM_PHASE, .is_measured = true};
    const char *names[AB_SELECTION_MAX];
    struct ab_gate_source source = {
        .options = x->options, .is_exec = true, .phases = &phase, .n_phases = 1, .backends = names};
    for (size_t i = 0; i < x->selection.n && i < AB_SELECTION_MAX; i++)
        names[source.n_backends++] = x->selection.items[i].name;
    return ab_gate_set_read(&source, &x->gates, err);
}

static void describe_session(struct exec *x)
{
    static const char *const phases[] = {AB_PROGRAM_PHASE};
    struct ab_session *s = &x->session;
    s->kind = AB_KIND_EXEC;
    s->name = x->work.name;
    s->about = "";
    s->config_path = x->work.program;
    s->config_text = "";
    s->config_sha256 = x->work.program_sha256;
    s->tape_sha256 = x->work.work_sha256;
    s->settings = x->work.settings;
    s->seed = x->options->seed;
    s->start = time(NULL);
    s->n_rounds_planned = ab_round_limit_most(x->options);
    ab_round_limit_describe(x->options, NULL, s);
    s->n_tape_ops = UINT64_MAX;
    s->command_line = ab_command_line;
    s->phases = phases;
    s->n_phases = 1;
    s->cpu = -1;
    s->timer.source = "CLOCK_MONOTONIC";
    s->timer.ns_per_tick = s->timer.quantum_ns = s->timer.floor_ns = s->timer.window_ns = NAN;
    ab_environment_read(&s->host);
}

/* ---- running ---- */

static enum ab_status run_session(struct exec *x, struct ab_err *err)
{
    const struct ab_options *o = x->options;
    struct ab_round_watch watch;
    struct ab_program_plan plan = {
        .program = {.path = x->work.program,
                    .argv = o->args,
                    .stdin_path = o->stdin_path,
                    .timeout_ns = o->timeout_ns},
        .cases = x->cases,
        .base = ab_session_base(&x->session),
        .rounds = x->session.n_rounds_planned,
        .prepare = o->prepare,
        .prepare_fd = STDERR_FILENO,
        .is_output_free = o->is_output_free,
        .progress = ab_round_watch_progress,
        .round_done = ab_round_watch_end_round,
        .user = &watch,
    };
    ab_round_watch_begin(&watch, o, &x->store, &x->session);
    if (o->trace != NULL)
        snprintf(watch.line.stage, sizeof watch.line.stage, "program");
    enum ab_status status = ab_program_session_run(&plan, &x->session, &x->summary, err);
    ab_round_watch_end(&watch);
    return status;
}

/* ---- afterwards ---- */

static void print_verdicts(const struct exec *x)
{
    struct ab_table_style style = ab_terminal_style(x->options);
    bool is_taken = ab_outputs_use_stdout(x->options);
    if (x->options->is_quiet) {
        ab_verdicts_tell(&x->session, x->options->fails_inconclusive);
        return;
    }
    style.color = style.color && !is_taken;
    ab_decision_print(&x->decision, is_taken ? stderr : stdout, style);
    ab_sink_gates(is_taken ? stderr : stdout, &x->session, style);
    ab_decision_print_next(&x->decision, &x->session, x->store.name[0] != 0,
                           is_taken ? stderr : stdout, style);
}

static void tell_left(const struct exec *x)
{
    if (x->session.n_results > 0 && x->summary.n_left > 0)
        printf("Up to %u processes of it ran on after its end and were ended.\n",
               x->summary.n_left);
}

static enum ab_status write_outputs(struct exec *x, struct ab_err *err)
{
    struct ab_err more;
    const struct ab_options *o = x->options;
    enum ab_status status = ab_store_write(&x->store, &x->session, err);
    enum ab_status written = ab_outputs_write(&x->outputs, &x->session,
                                              status == AB_OK ? err : &more);
    if (!ab_outputs_use_stdout(o) && !o->is_quiet) {
        ab_sink_table(stdout, &x->session, ab_terminal_style(o));
        tell_left(x);
    }
    print_verdicts(x);
    if (status == AB_OK && written == AB_OK)
        written = ab_outputs_lines(o, &x->session, ab_outputs_use_stdout(o) ? stderr : stdout, err);
    fflush(stdout);
    if (!o->is_quiet)
        ab_store_tell(&x->store, stderr);
    return status == AB_OK ? written : status;
}

/* Frees what a single run needs, the first one or one that confirms it. */
static void release_run(struct exec *x)
{
    ab_session_fini(&x->session);
    free(x->session.gates);
    free(x->session.backends);
    free(x->cases);
    free(x->envs);
}

/* As many rounds again of what failed by a ratio: it fails only if these say so, too. */
static __attribute__((noinline)) enum ab_status confirm(struct exec *x, struct ab_err *err)
{
    struct ab_confirmation c;
    struct exec again = *x;
    if (!ab_confirmation_begin(&c, x->options, &x->decision, &x->session))
        return AB_OK;
    ab_store_save(&x->store, &x->session);
    again.options = &c.options;
    again.session = (struct ab_session){0};
    again.store = (struct ab_store){0};
    again.cases = NULL;
    again.envs = NULL;
    enum ab_status status = prepare_cases(&again, err);
    if (status == AB_OK) {
        describe_session(&again);
        ab_confirmation_describe(&c, &again.session);
        status = run_session(&again, err);
        ab_session_settle(&again.session);
    }
    status = ab_confirmation_end(&x->decision, &x->session, &again.session, status, err);
    release_run(&again);
    return status;
}

/* A failed back end outweighs a gate. */
static int judge(const struct exec *x)
{
    bool is_quiet = x->options->is_quiet;
    int exit_code = ab_failures_tell(&x->session, is_quiet);
    int of_replay = ab_prediction_failures(&x->prediction, &x->session, is_quiet);
    if (exit_code == 0)
        exit_code = of_replay;
    return exit_code != 0 ? exit_code
                          : ab_status_exit_code(ab_decision_status(&x->decision, &x->session));
}

static enum ab_status conclude(struct exec *x, enum ab_status status, int *exit_code,
                               struct ab_err *err)
{
    struct ab_err why;
    struct ab_session *s = &x->session;
    ab_prediction_note(&x->prediction, s);
    note_output(&x->work, &x->summary, x->options->is_output_free);
    ab_session_settle(s);
    ab_decision_make(&x->decision, &x->gates, s);
    if (status == AB_OK)
        status = confirm(x, err);
    enum ab_status written = write_outputs(x, status == AB_OK ? err : &why);
    *exit_code = judge(x);
    return status == AB_OK ? written : status;
}

static enum ab_status open_outputs(struct exec *x, struct ab_err *err)
{
    enum ab_status status = ab_store_open(x->options, &x->store, err);
    if (status == AB_OK)
        status = ab_outputs_open(x->options, &x->outputs, err);
    return status != AB_OK ? status : ab_outputs_spare_inputs(&x->outputs, x->options, err);
}

static void release(struct exec *x)
{
    ab_outputs_abandon(&x->outputs);
    ab_store_close(&x->store);
    ab_decision_close(&x->decision);
    release_run(x);
    ab_selection_list_fini(&x->selection);
    ab_gate_set_fini(&x->gates);
    release_work(&x->work);
    ab_prediction_fini(&x->prediction);
}

/* All that can be refused before anything runs. */
static enum ab_status prepare(struct exec *x, struct ab_err *err)
{
    const struct ab_options *o = x->options;
    AB_TRY(find_program(x, err));
    AB_TRY(describe_work(o, &x->work, err));
    AB_TRY(ab_decision_open(o, &x->decision, err));
    AB_TRY(select_backends(x, err));
    AB_TRY(open_outputs(x, err));
    AB_TRY(prepare_cases(x, err));
    AB_TRY(read_gates(x, err));
    AB_TRY(ab_round_limit_check(o, x->session.n_backends, err));
    describe_session(x);
    ab_noise_warn_gates(o, &x->session, x->gates.gates, x->gates.n_gates);
    if (x->decision.is_within || o->baseline != NULL)
        ab_noise_warn_limit(o, x->session.host.fingerprint, "--limit", "all", "time", o->limit,
                            x->session.n_rounds_planned);
    return ab_decision_check(&x->decision, &x->session, err);
}

/* Complete rounds are kept, also when the run is interrupted. */
static enum ab_status measure(struct exec *x, int *exit_code, struct ab_err *err)
{
    struct ab_interruption it = {x->options, &x->session, &x->store, &x->selection};
    enum ab_status status = run_session(x, err);
    bool is_interrupted = status == AB_INTERRUPTED;
    if (status == AB_OK || (is_interrupted && x->session.n_rounds > 0))
        status = conclude(x, status, exit_code, err);
    if (is_interrupted && status == AB_INTERRUPTED)
        ab_interruption_explain(&it, err);
    return status;
}

enum ab_status ab_cmd_exec(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct exec x = {.options = o};
    ab_supervise_begin();
    enum ab_status status = prepare(&x, err);
    if (status == AB_OK && o->trace != NULL)
        status = ab_prediction_make(o, x.session.n_backends, &x.prediction, err);
    if (o->time_budget_ns > 0)
        x.session.stopping.spent_s = x.prediction.spent_s;
    x.session.start = time(NULL);
    if (status == AB_OK)
        status = measure(&x, exit_code, err);
    release(&x);
    return status;
}
