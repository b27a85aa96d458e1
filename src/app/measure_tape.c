/* SPDX-License-Identifier: MIT
 *
 * Runs a tape under back ends: chooses the suitable ones, adds the rows of mappings, chooses the
 * passes and describes the session.
 */
#include "app/measure_tape.h"

#include "app/backend_choice.h"
#include "app/placement_rows.h"
#include "app/rounds.h"
#include "app/say.h"
#include "backend/aged_rows.h"
#include "core/alloc.h"
#include "core/file_digest.h"
#include "core/text.h"
#include "result/environment.h"
#include "result/merge/shard_part.h"
#include "runner/count_round.h"
#include "runner/estimate.h"
#include "runner/run_session.h"
#include "runner/supervise.h"

#include <limits.h>
#include <math.h>
#include <sched.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>

/* Precision goal if the command line sets none. Most allocators are ranked clearly long before this
 * precision is reached. */
#define PRECISION_ENOUGH 0.02

struct tape_work {
    const struct ab_measure_request *asked;
    /* n_subjects subjects; the first has the data common to all */
    const struct ab_subject *subject;
    uint32_t n_subjects;               /* number of combinations of values */
    struct ab_placement_rows *mapped;  /* mapped rows of each combination */
    struct ab_combination_work *works; /* work of each combination */
    struct ab_case *cases;
    const char **phases; /* names of the measured phases */
    uint32_t n_phases;
    struct ab_pass_plan passes;
    char config_sha256[SHA256_DIGEST_STRING_LENGTH];
    char tapes_sha256[SHA256_DIGEST_STRING_LENGTH]; /* digest of the digests of all combinations */
    char worker_path[PATH_MAX], clock_path[PATH_MAX];
};

/* Creates the mapped rows of each combination. All combinations have the same rows, which are added
 * once. */
static enum ab_status make_mapped(struct ab_measurement *m, struct ab_err *err)
{
    struct tape_work *w = m->work;
    size_t n_before = m->selection.n;
    enum ab_status status = AB_OK;
    for (uint32_t i = 0; i < w->n_subjects && status == AB_OK; i++) {
        m->selection.n = n_before;
        status = ab_placement_rows_read(w->asked, &w->subject[i], &m->selection, &w->mapped[i],
                                        err);
        if (status == AB_OK)
            status = ab_placement_rows_make(w->asked, &w->mapped[i], &w->subject[i], err);
    }
    return status;
}

static enum ab_status select_backends(struct ab_measurement *m, struct ab_err *err)
{
    struct tape_work *w = m->work;
    const struct ab_measure_request *asked = w->asked;
    const struct ab_subject *s = w->subject;
    const struct ab_backend_wish wish = {.asked = &asked->backends,
                                         .listed = s->backends,
                                         .n_listed = s->n_backends,
                                         .tape = s->map};
    struct ab_text choice = {0};
    AB_TRY(ab_backend_choice_make(&wish, &m->selection, err));
    AB_TRY(ab_case_check_strangers(&asked->backends, &m->selection, err));
    ab_backend_choice_say(&wish, &m->selection, &choice);
    if (choice.s != NULL)
        ab_say(&asked->talk, "back ends: %s", choice.s);
    ab_text_fini(&choice);
    if (s->resumed == NULL)
        AB_TRY(ab_decision_add_control(&m->decision, &m->selection, err));
    AB_TRY(ab_aged_rows_add(asked->backends.aged_lists, asked->backends.n_aged_lists, &m->selection,
                            err));
    AB_TRY(make_mapped(m, err));
    size_t n_rows = m->selection.n * w->n_subjects;
    if (w->n_subjects > 1 && n_rows > AB_COMBINATIONS_MAX)
        return ab_fail(err, AB_USAGE,
                       "%s: %u combinations of values x %zu back ends = %zu rows; at most %d can "
                       "be measured: give fewer values or fewer back ends",
                       AB_SHOWN(512, w->subject->path), w->n_subjects, m->selection.n, n_rows,
                       AB_COMBINATIONS_MAX);
    w->cases = ab_alloc_zeroed(n_rows + 1, sizeof w->cases[0]);
    return AB_OK;
}

static void add_case(struct ab_measurement *m, size_t i, struct ab_backend_info *info)
{
    struct tape_work *w = m->work;
    size_t backend = i % m->selection.n, combination = i / m->selection.n;
    ab_case_make(&m->selection.items[backend], &w->cases[i]);
    w->cases[i].aging.seed = info->aging.seed = w->subject[combination].seed;
    ab_placement_rows_fill(&w->mapped[combination], backend, &w->cases[i], info);
    info->combination = (uint32_t)combination;
    ab_backend_set_values(info, w->subject[combination].values);
}

static enum ab_status choose_passes(struct ab_measurement *m, struct ab_err *err)
{
    struct tape_work *w = m->work;
    AB_TRY(ab_outputs_check_phase(w->asked->outputs.phase, w->phases, w->n_phases, err));
    const struct ab_measure_request *asked = w->asked;
    AB_TRY(ab_pass_choice_make(&asked->passes, asked->conditions.is_strict, &m->gates, m->resumed,
                               &w->passes, err));
    if (asked->conditions.has_between &&
        (asked->conditions.is_strict || !ab_pass_is_planned(&w->passes, AB_PASS_LATENCY)))
        return ab_fail(err, AB_USAGE,
                       "--between needs single ops that are timed; %s leaves them out",
                       asked->conditions.is_strict ? "--order strict" : "--passes");
    return AB_OK;
}

static void digest_config(const struct ab_subject *s, char out[SHA256_DIGEST_STRING_LENGTH])
{
    if (s->kind == AB_SESSION_WORKLOAD)
        SHA256Data((const uint8_t *)s->text, strlen(s->text), out);
    else if (!ab_file_digest(s->file != NULL ? s->file : s->path, out))
        out[0] = 0;
}

static void describe_tape(const struct ab_subject *s, struct ab_session *session)
{
    session->kind = s->kind;
    session->name = s->name;
    session->about = s->about;
    session->config_path = s->path;
    session->config_text = s->text;
    session->tape_sha256 = s->tape->sha256;
    session->settings = s->settings;
    session->seed = s->seed;
    session->facts = s->tape->facts;
    session->overview = s->overview;
    session->stacks = s->stacks;
    session->n_slots = s->tape->n_slots;
    session->n_tape_ops = ab_tape_ops(s->tape);
    session->counts_ops = true;
    session->window = s->tape->window;
    session->n_edges = s->tape->n_edges;
    session->n_remote = s->tape->n_remote;
    session->thread_ends_left_out = s->thread_ends_left_out;
    session->program_cpu_ns = s->program_cpu_ns;
    session->program_calls = s->program_calls;
    session->anonymous_bytes = s->anonymous_bytes;
    session->unasked_bytes = s->unasked_bytes;
}

static void take_most(struct ab_session *session, const struct ab_tape *tape)
{
#define TAKE(to, from) to = (from) > (to) ? (from) : (to)
    struct ab_facts *facts = &session->facts;
    facts->kinds |= tape->facts.kinds;
    TAKE(facts->largest_bytes, tape->facts.largest_bytes);
    TAKE(facts->largest_align, tape->facts.largest_align);
    TAKE(facts->live_peak_blocks, tape->facts.live_peak_blocks);
    TAKE(facts->live_peak_bytes, tape->facts.live_peak_bytes);
    TAKE(facts->total_blocks, tape->facts.total_blocks);
    TAKE(facts->total_bytes, tape->facts.total_bytes);
    TAKE(facts->lanes, tape->facts.lanes);
    TAKE(session->n_slots, tape->n_slots);
    TAKE(session->n_tape_ops, ab_tape_ops(tape));
    TAKE(session->window, tape->window);
    TAKE(session->n_edges, tape->n_edges);
    TAKE(session->n_remote, tape->n_remote);
#undef TAKE
}

/* Describes each of several combinations. The numbers of the session are the maxima over all
 * combinations. */
static void describe_combinations(const struct tape_work *w, struct ab_session *session)
{
    session->n_combinations = w->n_subjects;
    session->combinations = ab_alloc_zeroed(w->n_subjects, sizeof session->combinations[0]);
    for (uint32_t i = 0; i < w->n_subjects; i++) {
        const struct ab_tape *tape = w->subject[i].tape;
        struct ab_combination *c = &session->combinations[i];
        *c = (struct ab_combination){.n_ops = ab_tape_ops(tape),
                                     .live_peak_blocks = tape->facts.live_peak_blocks,
                                     .live_peak_bytes = tape->facts.live_peak_bytes,
                                     .lanes = tape->facts.lanes};
        AB_COPY(c->values, w->subject[i].values);
        AB_COPY(c->tape_sha256, tape->sha256);
        take_most(session, tape);
    }
    session->tape_sha256 = w->tapes_sha256;
}

/* True if the default precision ends the session. Sessions with gates, claims or a baseline run all
 * rounds. */
static bool is_ended_by_default(const struct ab_measurement *m)
{
    const struct tape_work *w = m->work;
    const struct ab_measure_request *asked = w->asked;
    bool is_judged = m->gates.n_gates + m->gates.n_claims > 0 || asked->verdicts.baseline != NULL;
    bool has_rule = m->rules.time_budget_ns > 0 || m->rules.precision > 0 || m->rules.has_rounds;
    return !is_judged && asked->take == NULL && !has_rule && m->rules.shard.count == 0 &&
           m->selection.n > 1;
}

static void describe(struct ab_measurement *m)
{
    struct tape_work *w = m->work;
    const struct ab_measure_request *asked = w->asked;
    struct ab_session *session = &m->session;
    describe_tape(w->subject, session);
    if (w->n_subjects > 1)
        describe_combinations(w, session);
    session->config_sha256 = w->config_sha256;
    session->phases = w->phases;
    session->n_phases = w->n_phases;
    session->passes = w->passes;
    if (is_ended_by_default(m))
        session->stopping.precision = PRECISION_ENOUGH;
    session->shard = m->rules.shard;
    session->is_window_given = asked->conditions.has_window;
    session->resumed_from = m->resumed != NULL ? asked->resume.path : NULL;
    session->is_unsealed = m->resumed != NULL && m->resumed->is_unsealed;
    session->timer.floor_ns = NAN;
#if defined(__x86_64__)
    session->timer.source = "rdtsc/rdtscp";
#else
    session->timer.source = "cntvct_el0";
#endif
    if (session->shard.count > 0) /* shards of two similar machines must differ */
        ab_environment_read_name(&session->host);
    /* results show what the workers use, not what the system has */
    if (asked->conditions.is_thp_off)
        AB_FIT(session->host.thp, "never (--thp)");
    session->cpus = asked->conditions.cpus;
    session->n_cpus = (uint32_t)asked->conditions.n_cpus;
    session->is_strict = asked->conditions.is_strict;
    session->cpu = asked->conditions.n_cpus > 0 ? asked->conditions.cpus[0] : -1;
}

static enum ab_status check_cpus(const struct ab_run_conditions *conditions, struct ab_err *err)
{
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (size_t i = 0; i < conditions->n_cpus; i++)
        if (conditions->cpus[i] >= CPU_SETSIZE ||
            !CPU_ISSET((unsigned)conditions->cpus[i], &allowed))
            return ab_fail(err, AB_USAGE, "--cpus: CPU %d is not available to this process",
                           conditions->cpus[i]);
    return AB_OK;
}

/* Puts the name of the partial result in front of the error text. */
static enum ab_status name_resumed(const struct tape_work *w, struct ab_err *err)
{
    return ab_err_context(err, "%s: ", AB_SHOWN(512, w->asked->resume.path));
}

static void plan_runs(const struct ab_measurement *m, struct ab_session_plan *plan)
{
    const struct tape_work *w = m->work;
    const struct ab_measure_request *asked = w->asked;
    *plan = (struct ab_session_plan){
        .cases = w->cases,
        .rounds = m->session.n_rounds_planned,
        .works = w->works,
        .resumed = m->resumed,
        .allows_broken = asked->backends.allows_broken,
        .instr_ops = asked->passes.instr_ops > 0 ? asked->passes.instr_ops
                     : asked->passes.wants_instr ? AB_INSTR_OPS
                                                 : 0,
        .context = {.tape = w->subject->map,
                    .worker_path = w->worker_path,
                    .clock_path = w->clock_path,
                    .pace = asked->conditions.pace,
                    .between = asked->conditions.has_between ? AB_BETWEEN(asked->conditions.between)
                                                             : 0,
                    .timeout_ns = asked->conditions.timeout_ns,
                    .drain_ns = asked->conditions.drain_ns,
                    .is_thp_off = asked->conditions.is_thp_off,
                    .memory_limit_bytes = asked->conditions.mem_limit_bytes != 0
                                              ? asked->conditions.mem_limit_bytes
                                              : ab_default_memory_limit(),
                    .cpus = asked->conditions.cpus,
                    .n_cpus = (uint32_t)asked->conditions.n_cpus,
                    .is_strict = asked->conditions.is_strict},
    };
}

/* Refuses periodic purges if the work has no times. */
static enum ab_status check_times(const struct ab_measurement *m, struct ab_err *err)
{
    const struct tape_work *w = m->work;
    for (uint32_t i = 0; i < m->session.n_backends; i++)
        if (w->cases[i].purge_ns > 0 &&
            w->works[m->session.backends[i].combination].tape->image->n_steps == 0)
            return ab_fail(
                err, AB_USAGE,
                "%s: the work has no times, so there is none to call it at; a workload has "
                "them by 'settle', 'every' or 'over', a trace by record --time",
                m->session.backends[i].name);
    return AB_OK;
}

static enum ab_status run(struct ab_measurement *m, struct ab_err *err)
{
    const struct tape_work *w = m->work;
    struct ab_round_watch watch;
    struct ab_session_plan plan;
    plan_runs(m, &plan);
    AB_TRY(check_times(m, err));
    AB_TRY(check_cpus(&w->asked->conditions, err));
    AB_TRY(ab_shard_check(m->rules.shard, plan.rounds, m->session.n_backends, err));
    if (m->resumed != NULL && ab_resume_check(&m->session, m->resumed, err) != AB_OK)
        return name_resumed(w, err);
    if (w->asked->is_trial)
        return AB_OK;
    ab_clock_calibrate(&plan.context.clock);
    AB_TRY(ab_gate_set_check_floor(&m->gates, &plan.context.clock, err));
    m->session.timer.ns_per_tick = plan.context.clock.ns_per_tick;
    m->session.timer.quantum_ns = plan.context.clock.quantum_ns;
    plan.progress = ab_round_watch_progress;
    plan.round_done = ab_round_watch_end_round;
    plan.user = &watch;
    ab_round_watch_begin(&watch, &w->asked->talk, &m->store, &m->session);
    enum ab_status status = ab_session_run(&plan, &m->session, err);
    ab_round_watch_end(&watch);
    return status == AB_USAGE && m->resumed != NULL ? name_resumed(w, err) : status;
}

static void digest_tapes(const struct ab_subject *subjects, uint32_t n,
                         char out[SHA256_DIGEST_STRING_LENGTH])
{
    struct ab_text digests = {0};
    for (uint32_t i = 0; i < n; i++)
        ab_text_addf(&digests, "%s\n", subjects[i].tape->sha256);
    SHA256Data((const uint8_t *)digests.s, digests.n, out);
    ab_text_fini(&digests);
}

/* Checks that all combinations have the same phases, because they are compared phase by phase. */
static enum ab_status check_phases(const struct ab_subject *subjects, uint32_t n,
                                   struct ab_err *err)
{
    const struct ab_tape_map *first = subjects->map;
    for (uint32_t i = 1; i < n; i++) {
        const struct ab_tape_map *map = subjects[i].map;
        bool is_same = map->image->n_phases == first->image->n_phases;
        for (uint32_t p = 0; is_same && p < first->image->n_phases; p++)
            is_same = map->phases[p].is_measured == first->phases[p].is_measured &&
                      strcmp(map->phases[p].name, first->phases[p].name) == 0;
        if (!is_same)
            return ab_fail(err, AB_CONFIG,
                           "%s: %s and %s measure different phases; values of params must not "
                           "decide which phases are measured",
                           AB_SHOWN(512, subjects->path), subjects[i].values, subjects->values);
    }
    return AB_OK;
}

enum ab_status ab_measure_tape(const struct ab_measure_request *asked,
                               const struct ab_subject *subjects, uint32_t n, int *exit_code,
                               struct ab_err *err)
{
    static const struct ab_engine engine = {.select = select_backends,
                                            .add_case = add_case,
                                            .choose = choose_passes,
                                            .describe = describe,
                                            .run = run};
    const struct ab_tape_map *map = subjects->map;
    struct tape_work w = {.asked = asked, .subject = subjects, .n_subjects = n};
    const struct ab_measure_task task = {
        .asked = asked,
        .engine = &engine,
        .work = &w,
        .workload = subjects->workload,
        .phases = map->phases,
        .n_phases = map->image->n_phases,
        .n_combinations = n,
        .resumed = subjects->resumed,
    };
    AB_TRY(ab_companion_path(AB_WORKER_NAME, w.worker_path, sizeof w.worker_path, err));
    for (uint32_t i = 0; i < n; i++) /* work without times needs no library with a virtual clock */
        if (subjects[i].map->image->n_steps > 0)
            AB_TRY(ab_companion_path(AB_CLOCK_NAME, w.clock_path, sizeof w.clock_path, err));
    AB_TRY(check_phases(subjects, n, err));
    digest_config(subjects, w.config_sha256);
    digest_tapes(subjects, n, w.tapes_sha256);
    w.mapped = ab_alloc_zeroed(n, sizeof w.mapped[0]);
    w.works = ab_alloc_zeroed(n, sizeof w.works[0]);
    for (uint32_t i = 0; i < n; i++)
        w.works[i] = (struct ab_combination_work){subjects[i].map, subjects[i].owners,
                                                  asked->passes.processes != 0
                                                      ? asked->passes.processes
                                                      : ab_estimate_processes(subjects[i].map)};
    w.phases = ab_alloc_zeroed(map->image->n_phases + 1, sizeof w.phases[0]);
    for (uint32_t i = 0; i < map->image->n_phases; i++)
        if (map->phases[i].is_measured)
            w.phases[w.n_phases++] = map->phases[i].name;
    enum ab_status status = ab_measure(&task, exit_code, err);
    for (uint32_t i = 0; i < n; i++)
        ab_placement_rows_fini(&w.mapped[i]);
    free(w.mapped);
    free(w.works);
    free(w.cases);
    free(w.phases);
    return status;
}
