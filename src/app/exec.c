/* SPDX-License-Identifier: MIT
 *
 * Runs a real program under each allocator. The result has the form of those of `run`, with the
 * kind "exec" and one phase.
 */
#include "app/exec.h"

#include "app/backend_choice.h"
#include "app/exec_aging.h"
#include "app/exec_programs.h"
#include "app/exec_server.h"
#include "app/exec_trace.h"
#include "app/measure.h"
#include "app/rounds.h"
#include "app/say.h"
#include "backend/aged_rows.h"
#include "core/alloc.h"
#include "core/elf.h"
#include "core/file_digest.h"
#include "core/text.h"
#include "core/units_show.h"
#include "inside/asked.h"
#include "inside/inside.h"
#include "program/program.h"
#include "program/server.h"
#include "result/result.h"
#include "runner/setting_proof.h"
#include "runner/supervise.h"
#include "symbols/symbols.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names of call sites ----
 *
 * The measured program chooses the paths of modules, so only regular files are opened. */

static bool needs_name(const struct ab_call_site *site)
{
    return site->function[0] == 0 && site->object[0] != 0;
}

/* Sets the file of a call site. Cuts a long path at its beginning, because its end says more. */
static void set_file(struct ab_call_site *site, const char *file)
{
    size_t n = strlen(file), cap = sizeof site->file - 1;
    AB_COPY(site->file, n > cap ? file + n - cap : file);
}

static void name_site(struct ab_symbols *symbols, struct ab_call_site *site)
{
    struct ab_symbol found[AB_SYMBOLS_MAX];
    if (symbols != NULL && ab_symbols_find(symbols, site->offset, found) > 0) {
        AB_COPY(site->function, found[0].function);
        set_file(site, found[0].file);
        site->line = found[0].line > 0 ? (uint32_t)found[0].line : 0;
    }
    if (site->function[0] == 0)
        AB_FIT(site->function, "%s+0x%llx", basename(site->object),
               (unsigned long long)site->offset);
}

/* Sets function and line of call sites that have none yet, from the symbols of their modules. */
static void call_sites_name(struct ab_session *s)
{
    for (uint32_t i = 0; i < s->n_call_sites; i++) {
        struct ab_symbols *symbols = NULL;
        struct stat st;
        if (!needs_name(&s->call_sites[i]))
            continue;
        if (stat(s->call_sites[i].object, &st) == 0 && S_ISREG(st.st_mode))
            ab_symbols_open(s->call_sites[i].object, NULL, 0, &symbols);
        for (uint32_t k = s->n_call_sites; k-- > i;)
            if (needs_name(&s->call_sites[k]) &&
                strcmp(s->call_sites[k].object, s->call_sites[i].object) == 0)
                name_site(symbols, &s->call_sites[k]);
        if (symbols != NULL)
            ab_symbols_close(symbols);
    }
}

/* ---- identity of the work: command, arguments and input ---- */

enum { SETTINGS_MAX = 16 + AB_NAMED_MAX + 2 * AB_PROGRAMS_MAX };

/* State of `exec`. The program's digest is reported, but is not part of the identity of the work,
 * because the user may want to measure a changed program. */
struct work {
    const struct ab_exec_request *asked;
    /* True to time the calls; also for --trace, because a replay predicts their times */
    bool wants_inside;
    struct ab_exec_programs programs;
    struct ab_program_build *builds; /* one description for each --program, for results */
    /* name of the work: the names of its programs, ", " between them */
    char name[AB_PROGRAMS_MAX * (AB_PROGRAM_NAME_BYTES + 2)];
    char work_sha256[65];
    const char *settings[SETTINGS_MAX + 1]; /* malloc'ed, ends with NULL */
    size_t n_settings;
    struct ab_program_case *cases;
    char inside_path[PATH_MAX]; /* path of the interposer */
    struct ab_proof_wanted interposer;
    char noter_path[PATH_MAX]; /* path of liballocbench-asked.so */
    struct ab_proof_wanted noter;
    const char *(*envs)[AB_SELECTION_ENV_MAX + 1];
    struct ab_server server;
    bool has_said_waits;
    struct ab_exec_aging aging;
    struct ab_aging_plan *aged_lists;
    struct ab_program_summary summary;
    struct ab_prediction prediction; /* prediction from the replay of --trace */
};

static void add_setting(struct work *w, const char *name, const char *value)
{
    struct ab_text t = {0};
    ab_text_addf(&t, "%s=%s", name, value);
    w->settings[w->n_settings++] = t.s;
}

/* Returns the form in which results keep a command or path: `text`, or "(left out)" if the command
 * line is hidden. */
static const char *shown_of(const struct ab_exec_request *asked, const char *text)
{
    return asked->measure.command.is_hidden ? "(left out)" : text;
}

/* True if the output of the programs is not compared. The output of a server is never compared. */
static bool is_output_free(const struct ab_exec_request *asked)
{
    return asked->program.is_output_free || asked->server.is_server;
}

static const char *base_name(const struct ab_exec_program *p)
{
    const char *slash = strrchr(p->path, '/');
    return slash != NULL ? slash + 1 : p->path;
}

static void digest_text(SHA2_CTX *sha, const char *text)
{
    SHA256Update(sha, (const uint8_t *)text, strlen(text) + 1);
}

/* Digests the identity of the work. A program counts by the name in --program, else by its base
 * name, because its folder may change. */
static void digest_work(const struct work *w, const char *stdin_sha256, char hex[65])
{
    const struct ab_exec_request *asked = w->asked;
    SHA2_CTX sha;
    SHA256Init(&sha);
    for (uint32_t i = 0; i < w->programs.n; i++) {
        const struct ab_exec_program *p = &w->programs.items[i];
        digest_text(&sha, p->name[0] != 0 ? p->name : base_name(p));
        for (const char *const *arg = p->command.argv + 1; *arg != NULL; arg++)
            digest_text(&sha, *arg);
    }
    SHA256Update(&sha, (const uint8_t *)stdin_sha256, strlen(stdin_sha256));
    if (asked->server.is_server)
        digest_text(&sha, asked->server.load);
    SHA256End(&sha, hex);
}

static void add_prepare(struct work *w, const struct ab_exec_program *p)
{
    char name[AB_PROGRAM_NAME_BYTES + 16];
    if (p->command.prepare == NULL)
        return;
    AB_FIT(name, "prepare%s%s", p->name[0] != 0 ? " " : "", p->name);
    add_setting(w, name, shown_of(w->asked, p->command.prepare));
}

static void describe_server(struct work *w)
{
    const struct ab_exec_request *asked = w->asked;
    const struct ab_server_wanted *server = &asked->server;
    add_setting(w, "server", "true");
    add_setting(w, "ready", shown_of(asked, server->ready));
    add_setting(w, "load", shown_of(asked, server->load));
    for (size_t i = 0; i < server->n_metrics; i++)
        add_setting(w, "metric", server->metrics[i]);
    add_setting(w, "rest", AB_TIME((double)w->server.rest_ns));
    add_setting(w, "end_signal", ab_end_signals[server->end_signal]);
}

/* Describes the programs of --program, for results. The work gets the names of all programs as its
 * name. */
static void describe_programs(struct work *w)
{
    w->builds = ab_alloc_zeroed(w->programs.n, sizeof w->builds[0]);
    for (uint32_t i = 0; i < w->programs.n; i++) {
        const struct ab_exec_program *p = &w->programs.items[i];
        ab_text_join(w->name, sizeof w->name, ", ", p->name[0] != 0 ? p->name : base_name(p));
        w->builds[i].name = p->name;
        w->builds[i].command = p->text != NULL ? shown_of(w->asked, p->text) : NULL;
        AB_COPY(w->builds[i].sha256, p->sha256);
    }
}

/* Describes the work. The programs must be known before. Fails with AB_INPUT if --stdin cannot be
 * read. */
static enum ab_status describe_work(struct work *w, struct ab_err *err)
{
    const struct ab_exec_request *asked = w->asked;
    char stdin_sha256[65] = "";
    describe_programs(w);
    if (asked->program.stdin_path != NULL &&
        !ab_file_digest(asked->program.stdin_path, stdin_sha256))
        return ab_fail_errno(err, AB_INPUT, "--stdin: cannot read %s",
                             AB_SHOWN(512, asked->program.stdin_path));
    digest_work(w, stdin_sha256, w->work_sha256);
    if (asked->program.stdin_path != NULL)
        add_setting(w, "stdin", shown_of(asked, asked->program.stdin_path));
    for (uint32_t i = 0; i < w->programs.n; i++)
        add_prepare(w, &w->programs.items[i]);
    add_setting(w, "check_output", is_output_free(asked) ? "false" : "true");
    if (w->wants_inside)
        add_setting(w, "inside", "true");
    if (asked->server.is_server)
        describe_server(w);
    if (asked->measure.passes.wants_instr)
        add_setting(w, "instr", "I1=" AB_INSTR_I1 " D1=" AB_INSTR_D1 " LL=" AB_INSTR_LL);
    return AB_OK;
}

/* Adds size and digest of the program's output to the settings. */
static void note_output(struct work *w, const struct ab_program_summary *s, bool is_output_free)
{
    char text[40];
    if (is_output_free)
        return;
    AB_FIT(text, "%" PRIu64, s->output.bytes);
    add_setting(w, "output_bytes", text);
    AB_FIT(text, "%016" PRIx64 "%016" PRIx64, s->output.high, s->output.low);
    add_setting(w, "output_xxh128", text);
}

/* ---- the replay of the program's trace ---- */

static void note_part(struct work *w)
{
    char text[80];
    if (w->prediction.n_replayed == 0)
        return;
    AB_FIT(text, "the first %" PRIu64 " of %" PRIu64 " calls", w->prediction.n_replayed,
           w->prediction.n_calls);
    add_setting(w, "replayed", text);
}

/* ---- before anything runs ---- */

static enum ab_status find_programs(struct work *w, struct ab_err *err)
{
    if (access("/proc/self/maps", R_OK) != 0)
        return ab_fail(err, AB_SYSTEM,
                       "exec needs /proc, which shows what allocator serves a program; it is not "
                       "mounted: mount -t proc proc /proc");
    return ab_exec_programs_read(w->asked, &w->programs, err);
}

/* Refuses back ends that cannot serve a real program: only preloaded mallocs and the C library's
 * can. */
static enum ab_status check_kind(const struct ab_selection *s, struct ab_err *err)
{
    char shown[300];
    ab_text_printable(shown, sizeof shown, s->name);
    bool is_malloc = s->source == AB_SOURCE_LIBC || s->source == AB_SOURCE_PRELOAD;
    if (s->purge_ns > 0)
        return ab_fail(
            err, AB_USAGE,
            "%s: giving memory back is not asked of a real program, but with run and replay",
            shown);
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

/* Sets the names of the metrics in the session, because gates may use them. Call it before gates
 * are read, and again in the rounds that confirm a verdict. */
static void name_metrics(const struct work *w, struct ab_session *s)
{
    s->n_named = (uint32_t)w->server.n_metrics;
    for (size_t i = 0; i < w->server.n_metrics; i++)
        s->named[i] = w->server.metrics[i].field;
}

static enum ab_status select_backends(struct ab_measurement *m, struct ab_err *err)
{
    struct work *w = m->work;
    const struct ab_measure_request *asked = &w->asked->measure;
    name_metrics(w, &m->session);
    /* Without -b, several programs are compared under glibc's malloc alone, because most programs
     * use it. */
    const char *const usual[] = {"glibc"};
    bool is_usual = w->asked->program.n_programs > 0 && asked->backends.n == 0;
    AB_TRY(ab_selection_parse(is_usual ? usual : asked->backends.names,
                              is_usual ? 1 : asked->backends.n, asked->backends.path, &m->selection,
                              err));
    if (!asked->backends.are_stored)
        AB_TRY(ab_case_check_files(&m->selection, err));
    AB_TRY(ab_decision_add_control(&m->decision, &m->selection, err));
    AB_TRY(ab_aged_rows_add(asked->backends.aged_lists, asked->backends.n_aged_lists, &m->selection,
                            err));
    AB_TRY(ab_exec_programs_make_rows(&w->programs, w->asked->program.wants_own_malloc,
                                      &m->selection, err));
    for (size_t i = 0; i < m->selection.n; i++) {
        AB_TRY(check_kind(&m->selection.items[i], err));
        if (w->programs.rows[i].is_own)
            add_setting(w, "own_malloc", m->selection.items[i].name);
    }
    w->cases = ab_alloc_zeroed(m->selection.n + 1, sizeof w->cases[0]);
    w->envs = ab_alloc_zeroed(m->selection.n + 1, sizeof w->envs[0]);
    w->aged_lists = ab_alloc_zeroed(m->selection.n + 1, sizeof w->aged_lists[0]);
    return AB_OK;
}

/* Checks, in a worker with the program's environment, that settings take effect. */
static enum ab_status prove_settings(struct ab_measurement *m, struct ab_err *err)
{
    char worker_path[PATH_MAX];
    for (size_t i = 0; i < m->selection.n; i++) {
        const struct ab_selection *s = &m->selection.items[i];
        struct ab_backend_info *b = &m->session.backends[i];
        struct ab_case c = {.boundary = AB_BOUNDARY_MALLOC};
        if (s->n_env == 0 || !ab_backend_status_has_numbers(b->status))
            continue;
        AB_TRY(ab_companion_path(AB_WORKER_NAME, worker_path, sizeof worker_path, err));
        ab_case_make(s, &c);
        ab_setting_prove(worker_path, &c, b);
    }
    return AB_OK;
}

static void add_case(struct ab_measurement *m, size_t i, struct ab_backend_info *info)
{
    struct work *w = m->work;
    const struct ab_selection *s = &m->selection.items[i];
    const struct ab_exec_row *row = &w->programs.rows[i];
    const struct ab_exec_program *p = &w->programs.items[row->program];
    w->aged_lists[i].request = s->aging;
    w->aged_lists[i].request.seed = info->aging.seed = w->asked->measure.settings.seed;
    AB_COPY(info->program, p->name);
    AB_COPY(info->program_sha256, p->sha256);
    w->cases[i].command = &p->command;
    if (row->is_own) {
        w->cases[i].wanted = p->own.served;
        w->cases[i].wanted.is_own = true;
    } else if (s->source == AB_SOURCE_LIBC && p->own.served.path != NULL && !p->own.is_program) {
        /* must be loaded before the malloc that the program brings along */
        w->cases[i].wanted = p->own.libc;
    } else if (s->source == AB_SOURCE_PRELOAD) {
        w->cases[i].wanted = (struct ab_proof_wanted){
            .path = s->path, .dev = s->dev, .ino = s->ino};
    }
    if (p->own.served.path != NULL && p->own.libcxx_path[0] != 0)
        w->cases[i].wanted.after = p->own.libcxx_path;
    for (uint32_t k = 0; k < s->n_env; k++)
        w->envs[i][k] = s->env[k];
    w->cases[i].env = w->envs[i];
}

static void describe(struct ab_measurement *m)
{
    static const char *const phases[] = {AB_PROGRAM_PHASE};
    const struct work *w = m->work;
    struct ab_session *s = &m->session;
    s->kind = AB_SESSION_EXEC;
    s->name = w->name;
    s->about = "";
    s->config_path = w->programs.items[0].path;
    s->config_text = "";
    s->config_sha256 = w->programs.items[0].sha256;
    if (w->asked->program.n_programs > 0) {
        s->n_programs = w->programs.n;
        s->programs = ab_alloc_zeroed(s->n_programs, sizeof s->programs[0]);
        memcpy(s->programs, w->builds, s->n_programs * sizeof s->programs[0]);
        s->base = s->base != NULL ? s->base : s->backends[0].name;
    }
    s->tape_sha256 = w->work_sha256;
    s->settings = w->settings;
    name_metrics(w, s);
    s->seed = w->asked->measure.settings.seed;
    s->n_tape_ops = UINT64_MAX;
    s->phases = phases;
    s->n_phases = 1;
    s->cpu = -1;
    s->timer.source = "CLOCK_MONOTONIC";
    s->timer.ns_per_tick = s->timer.quantum_ns = s->timer.floor_ns = NAN;
}

/* ---- running ---- */

/* Finds the interposer, the only additional object that may be loaded. */
static enum ab_status find_interposer(struct work *w, struct ab_err *err)
{
    struct ab_elf elf;
    AB_TRY(ab_companion_path(AB_INSIDE_NAME, w->inside_path, sizeof w->inside_path, err));
    AB_TRY(ab_elf_read(w->inside_path, NULL, 0, &elf, err));
    if (ab_spawn_needs_alias(w->inside_path))
        return ab_fail(
            err, AB_USAGE,
            "--inside: LD_PRELOAD cannot hold a path with a space, a colon or a quote: %s",
            AB_SHOWN(512, w->inside_path));
    w->interposer = (struct ab_proof_wanted){w->inside_path, elf.dev, elf.ino, NULL};
    return AB_OK;
}

/* Finds liballocbench-asked.so. Returns false if it is missing. Then only the note about memory
 * that was not requested from malloc is lacking. */
static bool find_noter(struct work *w)
{
    struct ab_elf elf;
    struct ab_err ignored;
    if (ab_companion_path(AB_ASKED_NAME, w->noter_path, sizeof w->noter_path, &ignored) != AB_OK ||
        ab_elf_read(w->noter_path, NULL, 0, &elf, &ignored) != AB_OK ||
        ab_spawn_needs_alias(w->noter_path))
        return false;
    w->noter = (struct ab_proof_wanted){.path = w->noter_path, .dev = elf.dev, .ino = elf.ino};
    return true;
}

/* Prints, once for all allocators, that the program waits and uses no CPU time. */
static void say_that_it_waits(void *user)
{
    struct work *w = user;
    if (!w->has_said_waits)
        ab_say(&w->asked->measure.talk,
               "allocbench: %s runs without using CPU time; to measure a program that does not "
               "end by itself use --server (docs/exec.md)",
               w->name);
    w->has_said_waits = true;
}

static enum ab_status find_aging(struct ab_measurement *m, struct ab_err *err)
{
    struct work *w = m->work;
    bool is_wanted = false;
    for (size_t i = 0; i < m->selection.n; i++)
        is_wanted = is_wanted || m->selection.items[i].aging.occupancy > 0;
    if (is_wanted && w->aging.sizes == NULL)
        AB_TRY(ab_exec_aging_find(w->asked, &w->programs.items[0].command, &w->aging, err));
    for (size_t i = 0; i < m->selection.n; i++) {
        w->aged_lists[i].sizes = w->aging.sizes;
        w->aged_lists[i].n_sizes = w->aging.n_sizes;
        w->aged_lists[i].live_peak_bytes = w->aging.live_peak_bytes;
        w->cases[i].aging_library = w->aging.library;
        w->cases[i].aging = m->selection.items[i].aging.occupancy > 0 ? &w->aged_lists[i] : NULL;
    }
    return AB_OK;
}

/* Announces, before the runs under callgrind, how long they will take. `plain_ns` is the time of
 * the plain runs. */
static void announce_counting(void *user, double plain_ns)
{
    const struct ab_round_watch *watch = user;
    ab_say(
        watch->talk,
        "allocbench: --instr: each allocator once under callgrind, some 50 to 100 times the %s of "
        "the plain runs: %s to %s",
        AB_TIME(plain_ns), AB_TIME(50 * plain_ns), AB_TIME(100 * plain_ns));
}

static enum ab_status run(struct ab_measurement *m, struct ab_err *err)
{
    struct work *w = m->work;
    const struct ab_exec_request *asked = w->asked;
    struct ab_round_watch watch;
    struct ab_program_plan plan = {
        .program = {.stdin_path = asked->program.stdin_path,
                    .timeout_ns = asked->measure.conditions.timeout_ns,
                    .server = asked->server.is_server ? &w->server : NULL,
                    .waits = say_that_it_waits,
                    .user = w},
        .cases = w->cases,
        .base = ab_session_base(&m->session),
        .rounds = m->session.n_rounds_planned,
        .prepare_fd = STDERR_FILENO,
        .is_output_free = is_output_free(asked),
        .wants_instr = asked->measure.passes.wants_instr,
        .counting = announce_counting,
        .progress = ab_round_watch_progress,
        .round_done = ab_round_watch_end_round,
        .user = &watch,
    };
    if (asked->program.trace != NULL && !m->is_again) {
        AB_TRY(ab_exec_predict(&asked->measure, m, asked->program.trace, &w->prediction, err));
        note_part(w);
    }
    AB_TRY(prove_settings(m, err));
    AB_TRY(find_aging(m, err));
    if (w->wants_inside) {
        AB_TRY(find_interposer(w, err));
        plan.interposer = &w->interposer;
        plan.wants_sites = asked->program.wants_sites;
    }
    plan.noter = find_noter(w) ? &w->noter : NULL;
    ab_round_watch_begin(&watch, &asked->measure.talk, &m->store, &m->session);
    enum ab_status status = ab_program_session_run(&plan, &m->session, &w->summary, err);
    ab_round_watch_end(&watch);
    return status;
}

static void conclude(struct ab_measurement *m)
{
    struct work *w = m->work;
    if (m->replay != NULL)
        ab_prediction_note(&w->prediction, &m->session);
    note_output(w, &w->summary, is_output_free(w->asked));
    m->n_left = w->summary.n_left;
    call_sites_name(&m->session);
}

enum ab_status ab_exec(const struct ab_exec_request *asked, int *exit_code, struct ab_err *err)
{
    static const struct ab_engine engine = {.select = select_backends,
                                            .add_case = add_case,
                                            .describe = describe,
                                            .run = run,
                                            .conclude = conclude};
    const struct ab_program_wanted *program = &asked->program;
    struct ab_phase phase = {.name = AB_PROGRAM_PHASE, .is_measured = true};
    struct work w = {.asked = asked,
                     .wants_inside = program->wants_inside || program->trace != NULL};
    const struct ab_measure_task task = {.asked = &asked->measure,
                                         .engine = &engine,
                                         .work = &w,
                                         .phases = &phase,
                                         .n_phases = 1,
                                         .is_exec = true,
                                         .others = {program->trace, program->stdin_path}};
    enum ab_status status = find_programs(&w, err);
    ab_guardian_begin();
    if (status == AB_OK)
        status = ab_exec_server_read(asked, &w.server, err);
    w.server.ready.text = shown_of(asked, asked->server.ready);
    if (status == AB_OK)
        status = describe_work(&w, err);
    for (unsigned k = 0; w.wants_inside && k <= AB_OP_FREE; k++)
        phase.n_ops[k] = 1; /* placeholder; the interposer reports the real counts */
    if (status == AB_OK)
        status = ab_measure(&task, exit_code, err);
    free(w.server.metrics);
    ab_prediction_fini(&w.prediction);
    ab_exec_programs_fini(&w.programs);
    free(w.builds);
    free(w.cases);
    free(w.envs);
    free(w.aged_lists);
    ab_exec_aging_fini(&w.aging);
    for (size_t i = 0; i < w.n_settings; i++)
        free((void *)w.settings[i]);
    return status;
}
