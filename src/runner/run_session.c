/* SPDX-License-Identifier: MIT
 *
 * Runs a session: pre-flights first, then rounds with the null back ends, the back ends in shuffled
 * order, and every pass. An interrupted round is dropped.
 */
#include "runner/run_session.h"

#include "base/bits.h"
#include "core/alloc.h"
#include "core/text.h"
#include "core/units_show.h"
#include "placement/placement.h"
#include "result/merge/merge.h"
#include "result/merge/shard_part.h"
#include "result/numbers.h"
#include "result/passes.h"
#include "result/session.h"
#include "runner/count_round.h"
#include "runner/estimate.h"
#include "runner/fold.h"
#include "runner/quiet.h"
#include "runner/setting_proof.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* State of a running session. */
struct state {
    const struct ab_session_plan *plan;
    struct ab_session *session;
    struct ab_rng rng;
    uint32_t done, total;
    /* number of rounds that this session has to run: all rounds, or those of its shard */
    uint32_t n_rounds;
    struct ab_quiet quiet;
    struct ab_throughput throughput;
    /* plan->context, completed with the members of this struct and with the current tape */
    struct ab_run_context context;
    uint32_t *slice_ops; /* ops in a slice, one number for each combination */
    /* positions of the peaks, one struct for each back end; NULL until a run has found them */
    struct ab_memory_marks **marks;
    /* memory when the process of the pre-flight started, one struct for each back end; 0 = not
     * known */
    struct start {
        uint64_t file_bytes, private_bytes;
    } * starts;
};

/* Random streams derived from the seed: one for the pre-flights, one for each round, and one for
 * each case in a round. The draws of a case therefore do not depend on which cases ran before it.
 * The round takes the low 16 bits, the case the bits above. Null back ends are cases too. */
#define PREFLIGHT_STREAM UINT64_C(0x72756e) /* "run" */
#define ROUND_STREAM(round) (PREFLIGHT_STREAM << 32 | (round))
#define CASE_STREAM(round, number) (ROUND_STREAM(round) | ((uint64_t)(number) + 1) << 16)
#define FIRST_NULL 0xff00u
#define SCOUT_ROUND 0xffffu

/* ---- single runs: each starts a worker, judges its end, and stores the results of its report
 * ---- */

/* Returns the case number of a null back end. Each placement has a null back end of its own; other
 * back ends share the one of their boundary. */
static unsigned null_number(const struct state *st, uint32_t backend)
{
    enum ab_boundary boundary = ab_run_null_case(&st->plan->cases[backend]).boundary;
    return FIRST_NULL +
           (boundary == AB_BOUNDARY_PLACED ? AB_BOUNDARY_COUNT + backend : (unsigned)boundary);
}

/* True if the back end is still in the session, neither failed nor absent. */
static bool is_running(const struct state *st, uint32_t backend)
{
    return ab_backend_status_has_numbers(st->session->backends[backend].status);
}

/* True if the back end is decorated. It then only runs through every op once a round, and nothing
 * else is measured. */
static bool is_decorated(const struct state *st, uint32_t backend)
{
    return st->plan->cases[backend].decorator != AB_DECORATOR_NONE;
}

/* True if the back end is still running, and its rounds are not divided or this session's shard has
 * the back end. */
static bool is_ours(const struct state *st, uint32_t backend)
{
    return is_running(st, backend) &&
           ab_shard_has_backend(st->session->shard, st->plan->rounds, backend);
}

/* Tells the plan's progress callback which run comes next. */
static void show_progress(void *user, const char *backend, enum ab_pass pass)
{
    struct state *st = user;
    if (st->plan->progress == NULL)
        return;
    struct ab_progress p = {st->session->n_rounds,
                            pass == AB_PASS_VERIFY ? 0 : st->n_rounds,
                            backend,
                            pass,
                            st->done,
                            st->total};
    st->plan->progress(st->plan->user, &p);
}

/* Returns the work of the back end's combination of parameter values. */
static const struct ab_combination_work *work_of(const struct state *st, uint32_t backend)
{
    return &st->plan->works[st->session->backends[backend].combination];
}

static void enter_work(struct state *st, uint32_t backend)
{
    st->context.tape = work_of(st, backend)->tape;
    st->context.owners = work_of(st, backend)->owners;
    st->context.slice_ops = st->slice_ops[st->session->backends[backend].combination];
}

static struct ab_fold fold_of(struct state *st, uint32_t backend, uint32_t round)
{
    return (struct ab_fold){st->session, work_of(st, backend)->tape, &st->context.clock, backend,
                            round};
}

static enum ab_status run_backend(struct state *st, uint32_t backend, enum ab_pass pass,
                                  struct ab_outcome *run, struct ab_err *err)
{
    enter_work(st, backend);
    show_progress(st, st->session->backends[backend].name, pass);
    AB_TRY(ab_run(&st->context, &st->plan->cases[backend], pass, &st->rng, run, err));
    if (run->status == AB_BACKEND_OK && run->page->report.aging.made_blocks > 0)
        st->session->backends[backend].aged = run->page->report.aging;
    return AB_OK;
}

static void fail_backend(struct state *st, uint32_t backend, const struct ab_outcome *run)
{
    struct ab_backend_info *b = &st->session->backends[backend];
    b->status = run->status;
    memcpy(b->reason, run->reason, sizeof b->reason);
    ab_fold_drop(st->session, backend, AB_FOLD_ANY);
    ab_throughput_drop(&st->throughput, backend, AB_FOLD_ANY);
}

static void note_libraries(const struct ab_placement *placement, const struct ab_run_report *r,
                           struct ab_backend_info *b)
{
    for (uint32_t h = 0; placement != NULL && h < placement->image->n_heaps; h++) {
        uint32_t shown = ab_placement_shown(ab_placement_heap_at(placement->image, 0), h);
        struct ab_mapped_heap *heap = &b->heaps[shown];
        const struct ab_library_report *said = &r->libraries[h];
        if (said->version[0] != 0)
            AB_COPY(heap->version, said->version);
        if (said->build_id[0] != 0)
            AB_COPY(heap->build_id, said->build_id);
    }
}

static double beyond(uint64_t bytes, uint64_t without)
{
    return bytes > without ? (double)(bytes - without) : 0;
}

/* Sets for each back end the memory that preloading its library costs. This is the memory of its
 * process when the pre-flight started, minus that of a process without a library (`null`). Mapped
 * file pages vary by chance, so a negative difference counts as 0. */
static void note_library_bytes(struct state *st, const struct ab_outcome *null)
{
    const struct ab_run_report *without = &null->page->report;
    for (uint32_t i = 0; without->start_file_bytes > 0 && i < st->session->n_backends; i++) {
        struct ab_backend_info *b = &st->session->backends[i];
        const struct start *start = &st->starts[i];
        if (st->plan->cases[i].source != AB_SOURCE_PRELOAD || start->file_bytes == 0)
            continue;
        b->library_private_bytes = beyond(start->private_bytes, without->start_private_bytes);
        b->library_bytes = b->library_private_bytes +
                           beyond(start->file_bytes, without->start_file_bytes);
    }
}

/* Stores what a successful pre-flight reports about the back end: version, file, libraries and
 * missing operations. */
static void note_identity(struct state *st, uint32_t backend, const struct ab_outcome *run)
{
    struct ab_backend_info *b = &st->session->backends[backend];
    const struct ab_run_report *r = &run->page->report;
    st->starts[backend] = (struct start){r->start_file_bytes, r->start_private_bytes};
    if (r->version[0] != 0)
        AB_FIT(b->version, "%.*s", (int)sizeof r->version - 1, r->version);
    if (r->identity.build_id[0] != 0)
        AB_COPY(b->build_id, r->identity.build_id);
    if (b->path[0] == 0 && r->identity.path[0] == '/')
        AB_FIT(b->path, "%.*s", (int)sizeof r->identity.path - 1, r->identity.path);
    if (b->sized_free[0] == 0)
        AB_FIT(b->sized_free, "%.*s", (int)sizeof r->sized_free - 1, r->sized_free);
    note_libraries(st->plan->cases[backend].placement, r, b);
    b->never_frees = (r->traits & AB_TRAIT_NO_FREE) != 0;
    b->has_reset = (r->hooks >> AB_OP_RESET & 1) != 0;
    if (ab_run_missing(work_of(st, backend)->tape->image->facts.kinds, r->hooks, b->reason,
                       sizeof b->reason))
        b->status = AB_BACKEND_PARTIAL;
}

/* Stores the caveat of the pre-flight, and the status if the back end does not conform or is
 * decorated. */
static void note_conduct(struct state *st, uint32_t backend, const struct ab_outcome *run)
{
    struct ab_backend_info *b = &st->session->backends[backend];
    const char *caveat = run->page->report.caveat;
    AB_FIT(b->caveat, "%.*s", (int)sizeof b->caveat - 1, caveat);
    if (run->status != AB_BACKEND_OK) {
        b->status = AB_BACKEND_NONCONFORMING;
        memcpy(b->reason, run->reason, sizeof b->reason);
    } else if (is_decorated(st, backend)) {
        b->status = AB_BACKEND_DECORATED;
        AB_FIT(b->reason, "not timed: decorated");
    }
}

static bool fits_memory(struct state *st, uint32_t backend)
{
    struct ab_backend_info *b = &st->session->backends[backend];
    const struct ab_facts *facts = &work_of(st, backend)->tape->image->facts;
    uint64_t bytes = ab_estimate_heap_bytes(facts, b->never_frees) +
                     (uint64_t)(b->aging.multiple * (double)facts->live_peak_bytes);
    if (bytes <= st->context.memory_limit_bytes)
        return true;
    b->status = AB_BACKEND_OOM;
    AB_FIT(b->reason, "would need about %s%s, more than --mem-limit %s; not run", AB_BYTES(bytes),
           b->never_frees ? " (it never frees)" : "", AB_BYTES(st->context.memory_limit_bytes));
    return false;
}

/* Runs the pre-flight of a back end. This and the following functions return AB_OK even if the back
 * end failed: it is then marked, and has no numbers. */
static enum ab_status run_preflight(struct state *st, uint32_t i, struct ab_err *err)
{
    struct ab_outcome run;
    struct ab_backend_info *b = &st->session->backends[i];
    ab_setting_prove(st->context.worker_path, &st->plan->cases[i], b);
    if (!is_running(st, i) || !fits_memory(st, i)) {
        show_progress(st, b->name, AB_PASS_VERIFY);
        return AB_OK;
    }
    enum ab_status status = run_backend(st, i, AB_PASS_VERIFY, &run, err);
    if (status != AB_OK)
        return status;
    bool is_allowed = st->plan->allows_broken && run.status == AB_BACKEND_FAILED_CHECK &&
                      run.page->report.failure == AB_FAILURE_CHECK;
    if (run.status != AB_BACKEND_OK && !is_allowed) {
        fail_backend(st, i, &run);
    } else {
        note_identity(st, i, &run);
        note_conduct(st, i, &run);
        fits_memory(st, i);
    }
    ab_outcome_fini(&run);
    return AB_OK;
}

static double measured_ns_per_op(const struct ab_fold *f, const struct ab_outcome *run)
{
    double ns = 0, n_ops = 0;
    for (uint32_t i = 0; i < f->tape->image->n_phases; i++) {
        if (!f->tape->phases[i].is_measured)
            continue;
        ns += ab_fold_busy_ns(f, &run->page->report.phases[i]);
        n_ops += (double)(f->tape->phases[i].end - f->tape->phases[i].begin);
    }
    return n_ops > 0 && ns > 0 ? ns / n_ops : NAN;
}

/* Performs a throughput run that is not recorded, by which the length of slices is chosen.
 * *ns_per_op receives the time per op in the measured phases; NaN = not known. */
static enum ab_status run_scout(struct state *st, uint32_t backend, double *ns_per_op,
                                struct ab_err *err)
{
    struct ab_outcome run;
    struct ab_fold fold = fold_of(st, backend, 0);
    *ns_per_op = NAN;
    ab_rng_init(&st->rng, st->session->seed, CASE_STREAM(SCOUT_ROUND, backend));
    enum ab_status status = run_backend(st, backend, AB_PASS_THROUGHPUT, &run, err);
    if (status != AB_OK)
        return status;
    if (run.status == AB_BACKEND_OK)
        *ns_per_op = measured_ns_per_op(&fold, &run);
    else
        fail_backend(st, backend, &run);
    ab_outcome_fini(&run);
    return AB_OK;
}

/* Stores a throughput run, and the readings of the canary that it took. */
static void keep_throughput(struct state *st, const struct ab_fold *f, uint32_t case_index,
                            const struct ab_outcome *run)
{
    ab_throughput_add(&st->throughput, f, case_index, run);
    const struct ab_throughput_run *kept = &st->throughput.runs[st->throughput.n_runs - 1];
    for (uint32_t i = 0; i < kept->n_slices; i++)
        ab_quiet_add(&st->quiet, run->slices[i].after);
    ab_quiet_settle(&st->quiet);
    struct ab_noise *noise = &st->session->noise;
    ab_throughput_add_noise(f, kept, run, ab_canary_limit(st->quiet.level), noise);
    noise->canary_quiet_ns = st->quiet.level * st->context.clock.ns_per_tick;
}

/* Returns the highest reading of the canary that counts as quiet, by the readings so far. */
static uint16_t quiet_limit(const struct state *st)
{
    return ab_canary_limit(st->quiet.level);
}

static enum ab_status run_null(struct state *st, uint32_t backend, enum ab_pass pass,
                               struct ab_outcome *run, struct ab_err *err)
{
    struct ab_case null = ab_run_null_case(&st->plan->cases[backend]);
    enter_work(st, backend);
    show_progress(st, "null", pass);
    enum ab_status status = ab_run(&st->context, &null, pass, &st->rng, run, err);
    st->done++;
    return status != AB_OK || run->status == AB_BACKEND_OK
               ? status
               : ab_fail(err, AB_SYSTEM, "the null back end failed: %s", run->reason);
}

/* Runs the null back end in the throughput pass or in the tail pass, and stores its times. In the
 * tail pass these are the costs of timing a call of an iteration. */
static enum ab_status run_folded_null(struct state *st, const struct ab_fold *fold,
                                      enum ab_pass pass, struct ab_err *err)
{
    struct ab_outcome run = {0};
    enum ab_status status = run_null(st, fold->backend, pass, &run, err);
    if (status == AB_OK)
        note_library_bytes(st, &run);
    if (status == AB_OK && pass == AB_PASS_THROUGHPUT)
        keep_throughput(st, fold, ab_fold_null_case(st->session, fold->backend), &run);
    else if (status == AB_OK)
        ab_fold_iteration_cost(fold, &run);
    ab_outcome_fini(&run);
    return status;
}

/* True if the latency pass runs in this round. The null back end then runs in it too, to measure
 * the time of an empty op. */
static bool has_null_latency(const struct state *st, uint32_t round)
{
    return ab_pass_is_in(&st->session->passes, AB_PASS_LATENCY, round);
}

/* True if the null back end runs in the tail pass of this round, to measure the cost of timing each
 * call of an iteration. */
static bool has_null_iterations(const struct state *st, uint32_t backend, uint32_t round)
{
    const struct ab_tape_map *tape = work_of(st, backend)->tape;
    bool has_any = false;
    for (uint32_t p = 0; p < tape->image->n_phases; p++)
        has_any = has_any || tape->phases[p].iteration[0] != 0;
    return has_any && ab_pass_is_in(&st->session->passes, AB_PASS_TAIL, round);
}

/* Returns the number of runs of one null back end in a round. */
static uint32_t count_null_runs(const struct state *st, uint32_t backend, uint32_t round)
{
    return work_of(st, backend)->processes + has_null_latency(st, round) +
           has_null_iterations(st, backend, round);
}

/* Runs all passes of a round on the null back end that has the harness of `backend`. A failure of
 * the null back end ends the session. */
static enum ab_status run_all_nulls(struct state *st, uint32_t backend, uint32_t round,
                                    struct ab_err *err)
{
    struct ab_outcome latency = {0};
    struct ab_fold fold = fold_of(st, backend, round);
    enum ab_status status = AB_OK;
    ab_rng_init(&st->rng, st->session->seed, CASE_STREAM(round, null_number(st, backend)));
    for (uint32_t i = 0; i < work_of(st, backend)->processes && status == AB_OK; i++)
        status = run_folded_null(st, &fold, AB_PASS_THROUGHPUT, err);
    if (status == AB_OK && has_null_latency(st, round))
        status = run_null(st, backend, AB_PASS_LATENCY, &latency, err);
    if (status == AB_OK)
        ab_fold_null(&fold, &st->throughput, quiet_limit(st),
                     latency.page != NULL ? &latency : NULL);
    if (status == AB_OK && has_null_iterations(st, backend, round))
        status = run_folded_null(st, &fold, AB_PASS_TAIL, err);
    ab_outcome_fini(&latency);
    return status;
}

static enum ab_status run_case(struct state *st, uint32_t backend, uint32_t round,
                               enum ab_pass pass, struct ab_err *err)
{
    struct ab_outcome run;
    struct ab_fold fold = fold_of(st, backend, round);
    ab_rng_init(&st->rng, st->session->seed, CASE_STREAM(round, backend));
    enum ab_status status = run_backend(st, backend, pass, &run, err);
    if (status != AB_OK)
        return status;
    st->done++;
    if (run.status != AB_BACKEND_OK)
        fail_backend(st, backend, &run);
    else if (pass == AB_PASS_THROUGHPUT)
        keep_throughput(st, &fold, backend, &run);
    else if (pass == AB_PASS_LATENCY) {
        ab_fold_latency(&fold, &run);
        ab_fold_depth(&fold, &run);
        ab_fold_heaps(&fold, st->plan->cases[backend].placement, &run);
    } else {
        ab_fold_tail(&fold, &run);
        ab_fold_iterations(&fold, &run);
    }
    ab_outcome_fini(&run);
    return status;
}

/* Stores which clock the work read in the run, and the reason. Once there is a reason, later rounds
 * do not change it. */
static void note_clock(struct state *st, uint32_t backend, const struct ab_memory_report *r)
{
    static const char *const names[] = {"", "virtual", "none", "real"};
    struct ab_backend_info *b = &st->session->backends[backend];
    if (r->clock >= AB_ARRAY_LEN(names) || b->clock_reason[0] != 0)
        return;
    AB_COPY(b->clock, names[r->clock]);
    if (r->clock == AB_CLOCK_REAL && st->context.pace != 0)
        AB_FIT(b->clock_reason, "--pace %ux", st->context.pace);
    else
        AB_FIT(b->clock_reason, "%.*s", (int)sizeof r->clock_reason - 1, r->clock_reason);
}

/* Runs the memory pass once, looking at the peaks at the positions in st->marks. Then stores the
 * positions of this run's peaks there for the next run. The first run finds only these. */
static enum ab_status run_memory_once(struct state *st, uint32_t backend, uint32_t round,
                                      struct ab_err *err)
{
    struct ab_outcome run;
    struct ab_fold fold = fold_of(st, backend, round);
    bool is_scout = st->marks[backend] == NULL;
    st->context.marks = st->marks[backend];
    if (is_scout)
        st->marks[backend] = ab_alloc_zeroed(1, sizeof *st->marks[0]);
    enum ab_status status = run_backend(st, backend, AB_PASS_MEMORY, &run, err);
    if (status != AB_OK)
        return status;
    st->done++;
    if (run.status != AB_BACKEND_OK)
        fail_backend(st, backend, &run);
    else if (!is_scout) {
        ab_fold_memory(&fold, &run);
        ab_fold_pins(&fold, work_of(st, backend)->owners, &run);
        note_clock(st, backend, run.memory);
    }
    if (run.status == AB_BACKEND_OK && !is_scout)
        ab_fold_heap_memory(&fold, st->plan->cases[backend].placement, &run);
    if (run.status == AB_BACKEND_OK)
        ab_fold_memory_marks(fold.tape, &run, st->marks[backend]);
    ab_outcome_fini(&run);
    return status;
}

/* Runs the memory pass. The place of the footprint's peak is known only after a run, so the first
 * run only finds it. Every later run uses the peaks of the run before. */
static enum ab_status run_memory(struct state *st, uint32_t backend, uint32_t round,
                                 struct ab_err *err)
{
    enum ab_status status = AB_OK;
    if (st->marks[backend] == NULL)
        status = run_memory_once(st, backend, round, err);
    if (status == AB_OK && is_running(st, backend))
        status = run_memory_once(st, backend, round, err);
    return status;
}

static enum ab_status run_one(struct state *st, uint32_t backend, uint32_t round, enum ab_pass pass,
                              struct ab_err *err)
{
    return pass == AB_PASS_MEMORY ? run_memory(st, backend, round, err)
                                  : run_case(st, backend, round, pass, err);
}

/* ---- length of slices, found by one run of each back end ---- */

/* Limit on the ops of work for which those runs are made. Longer work has enough slices even if ops
 * are slow, and the runs would take long. */
#define OPS_MAX (1u << 20)

uint32_t ab_slice_grid(double ns_per_op)
{
    uint32_t ops = AB_SLICE_OPS;
    while (ops > AB_SLICE_OPS_MIN && ops * ns_per_op > AB_SLICE_NS_MAX)
        ops /= 2;
    return ops;
}

static bool is_needed(const struct state *st, const struct ab_tape_map *tape)
{
    return tape->image->n_lanes == 1 && !st->context.is_strict && tape->image->n_ops <= OPS_MAX &&
           st->session->n_rounds < st->n_rounds;
}

/* Chooses the slice length for one combination. Runs each back end once and takes the fastest,
 * because a slice much shorter than a canary reading would measure mostly the canary. */
static enum ab_status slice_grid_settle(struct state *st, uint32_t combination, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    double least = NAN;
    if (!is_needed(st, st->plan->works[combination].tape))
        return AB_OK;
    for (uint32_t i = 0; i < st->session->n_backends && status == AB_OK; i++) {
        double ns_per_op = NAN;
        if (st->session->backends[i].combination == combination && is_ours(st, i) &&
            !is_decorated(st, i))
            status = run_scout(st, i, &ns_per_op, err);
        least = fmin(least, ns_per_op); /* fmin of a number and NaN is the number */
    }
    st->slice_ops[combination] = ab_slice_grid(least);
    return status;
}

static enum ab_status slice_grids_settle(struct state *st, struct ab_err *err)
{
    enum ab_status status = slice_grid_settle(st, 0, err);
    for (uint32_t i = 1; i < st->session->n_combinations && status == AB_OK; i++)
        status = slice_grid_settle(st, i, err);
    return status;
}

/* True if a back end that runs in this session has the harness of `backend`. The null back end then
 * runs for all that have this harness, so it is run once. */
static bool is_null_of_ours(const struct state *st, uint32_t backend)
{
    for (uint32_t i = backend; i < st->session->n_backends; i++)
        if (is_ours(st, i) && ab_session_harness(st->session, i) == backend)
            return true;
    return false;
}

static enum ab_status run_nulls(struct state *st, uint32_t round, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    for (uint32_t i = 0; i < st->session->n_backends && status == AB_OK; i++)
        if (is_null_of_ours(st, i))
            status = run_all_nulls(st, i, round, err);
    return status;
}

/* Counts instructions for one combination. If the session has several combinations, the reason why
 * counts are missing is stored in the back ends. */
static enum ab_status run_counts_of(struct state *st, uint32_t combination, uint32_t round,
                                    struct ab_err *err)
{
    struct ab_session *s = st->session;
    struct ab_counting before = s->counting;
    struct ab_run_context context = st->plan->context;
    struct ab_count_plan plan = {.context = &context,
                                 .cases = st->plan->cases,
                                 .session = s,
                                 .combination = combination,
                                 .round = round,
                                 .sample_ops = st->plan->instr_ops,
                                 .progress = show_progress,
                                 .user = st};
    context.tape = st->plan->works[combination].tape;
    enum ab_status status = ab_count_round(&plan, err);
    for (uint32_t i = 0; i < s->n_backends && s->n_combinations > 0; i++)
        if (s->backends[i].combination == combination && s->counting.method[0] == 0)
            memcpy(s->backends[i].uncounted, s->counting.reason, sizeof s->counting.reason);
    if (before.method[0] != 0 && (s->counting.method[0] == 0 || before.n_ops > s->counting.n_ops))
        s->counting = before;
    return status;
}

static enum ab_status run_counts(struct state *st, uint32_t round, struct ab_err *err)
{
    enum ab_status status = run_counts_of(st, 0, round, err);
    for (uint32_t i = 1; i < st->session->n_combinations && status == AB_OK; i++)
        status = run_counts_of(st, i, round, err);
    return status;
}

/* Runs one pass of all back ends in the order of the round. `process` is the number of the process
 * in the throughput pass; back ends that have fewer processes are not run. */
static enum ab_status run_pass(struct state *st, const struct ab_round *round, enum ab_pass pass,
                               uint32_t process, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    for (uint32_t i = 0; i < round->n_order && status == AB_OK; i++) {
        uint32_t backend = round->order[i];
        bool is_due = process == 0 || process < work_of(st, backend)->processes;
        if (is_due && is_running(st, backend) &&
            (pass == AB_PASS_THROUGHPUT || !is_decorated(st, backend)))
            status = run_one(st, backend, round->index, pass, err);
    }
    return status;
}

/* Runs several processes of each back end, alternating between back ends. Several are needed
 * because the addresses that a process gets affect its time by some percent. */
static enum ab_status run_throughput(struct state *st, const struct ab_round *round,
                                     struct ab_err *err)
{
    enum ab_status status = AB_OK;
    uint32_t most = 0;
    for (uint32_t i = 0; i < round->n_order; i++) {
        uint32_t n = work_of(st, round->order[i])->processes;
        most = n > most ? n : most;
    }
    for (uint32_t i = 0; i < most && status == AB_OK; i++)
        status = run_pass(st, round, AB_PASS_THROUGHPUT, i, err);
    for (uint32_t i = 0; i < round->n_order && status == AB_OK; i++) {
        struct ab_fold fold = fold_of(st, round->order[i], round->index);
        if (is_running(st, round->order[i]))
            ab_fold_throughput(&fold, &st->throughput, quiet_limit(st));
    }
    return status;
}

static enum ab_status run_round(struct state *st, uint32_t index, struct ab_err *err)
{
    struct ab_session *s = st->session;
    ab_rng_init(&st->rng, s->seed, ROUND_STREAM(index));
    uint32_t *order = ab_alloc_zeroed(s->n_backends, sizeof order[0]), n_all = 0, n = 0;
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (is_running(st, i))
            order[n_all++] = i;
    AB_RNG_SHUFFLE(&st->rng, order, n_all);
    /* shuffles all before choosing ours, so that a shard keeps the order of the whole session */
    for (uint32_t i = 0; i < n_all; i++)
        if (is_ours(st, order[i]))
            order[n++] = order[i];
    struct ab_round *round = &s->rounds[s->n_rounds];
    *round = (struct ab_round){.index = index, .order = order, .n_order = n};
    enum ab_status status = run_nulls(st, index, err);
    if (status == AB_OK)
        status = run_throughput(st, round, err);
    for (int pass = AB_PASS_LATENCY; pass <= AB_PASS_MEMORY && status == AB_OK; pass++)
        if (ab_pass_is_in(&s->passes, (enum ab_pass)pass, index))
            status = run_pass(st, round, (enum ab_pass)pass, 0, err);
    if (status == AB_OK && index == 0 && st->plan->instr_ops > 0)
        status = run_counts(st, index, err);
    s->n_rounds++;
    return status;
}

/* Drops the results of all back ends in an interrupted round, because it is incomplete. */
static void drop_round(struct ab_session *s, uint32_t round)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->n_nulls; i++)
        if (s->nulls[i].round != round)
            s->nulls[kept++] = s->nulls[i];
    s->n_nulls = kept;
    ab_fold_drop(s, AB_FOLD_ANY, round);
    free((void *)s->rounds[--s->n_rounds].order);
}

static enum ab_status run_preflights(struct state *st, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    ab_rng_init(&st->rng, st->session->seed, PREFLIGHT_STREAM);
    for (uint32_t i = 0; i < st->session->n_backends && status == AB_OK; i++)
        if (is_running(st, i))
            status = run_preflight(st, i, err);
    return status;
}

/* Makes room for the rounds, and takes over those that a resumed session has measured. */
static void prepare_blocks(struct state *st)
{
    struct ab_session *s = st->session;
    if (st->plan->resumed != NULL)
        ab_resume_adopt(s, st->plan->resumed);
    s->rounds = ab_realloc(s->rounds, st->n_rounds + (size_t)1, sizeof s->rounds[0]);
}

/* Returns the number of runs of a back end in all rounds from `first` on. Includes those of the
 * null back end if this back end is the first with its harness. The first memory pass of a back end
 * has one more run. */
static uint32_t count_runs(const struct state *st, uint32_t first, uint32_t backend)
{
    uint32_t n = 0, n_of_null = 0;
    bool has_memory = false;
    for (uint32_t b = first; b < st->n_rounds; b++) {
        uint32_t round = ab_shard_round(st->session->shard, st->plan->rounds, b);
        n += work_of(st, backend)->processes;
        for (int pass = AB_PASS_LATENCY; pass <= AB_PASS_MEMORY; pass++)
            n += ab_pass_is_in(&st->session->passes, (enum ab_pass)pass, round);
        has_memory = has_memory || ab_pass_is_in(&st->session->passes, AB_PASS_MEMORY, round);
        n_of_null += count_null_runs(st, backend, round);
    }
    return is_ours(st, backend) * (n + has_memory) + is_null_of_ours(st, backend) * n_of_null;
}

/* Runs all rounds that are missing, until the callback round_done returns false. */
static enum ab_status run_rounds(struct state *st, struct ab_err *err)
{
    struct ab_session *s = st->session;
    enum ab_status status = AB_OK;
    bool goes_on = true;
    uint32_t n_alive = 0;
    for (uint32_t i = 0; i < s->n_backends; i++) {
        n_alive += is_ours(st, i);
        st->total += count_runs(st, s->n_rounds, i);
    }
    for (uint32_t b = s->n_rounds; b < st->n_rounds && status == AB_OK && n_alive > 0 && goes_on;
         b++) {
        uint32_t round = ab_shard_round(s->shard, st->plan->rounds, b);
        status = run_round(st, round, err);
        if (status != AB_OK && s->n_rounds > b)
            drop_round(s, round);
        s->timer.floor_ns = ab_session_floor(s);
        if (status == AB_OK && st->plan->round_done != NULL)
            goes_on = st->plan->round_done(st->plan->user, s);
    }
    return status;
}

static enum ab_status run_all(struct state *st, struct ab_err *err)
{
    const struct ab_session_plan *plan = st->plan;
    if (plan->resumed != NULL)
        ab_resume_keep_failed(st->session, plan->resumed);
    enum ab_status status = run_preflights(st, err);
    if (status == AB_OK && plan->resumed != NULL)
        status = ab_resume_check_backends(st->session, plan->resumed, err);
    if (status == AB_OK)
        prepare_blocks(st);
    if (status == AB_OK)
        status = slice_grids_settle(st, err);
    if (status == AB_OK)
        status = run_rounds(st, err);
    struct ab_fold fold = {st->session, plan->works[0].tape, &st->context.clock, 0, 0};
    ab_fold_throughput_again(&fold, &st->throughput, quiet_limit(st));
    return status;
}

enum ab_status ab_session_run(const struct ab_session_plan *plan, struct ab_session *session,
                              struct ab_err *err)
{
    struct state st = {.plan = plan,
                       .session = session,
                       .n_rounds = ab_shard_n_rounds(session->shard, plan->rounds),
                       .context = plan->context};
    st.marks = ab_alloc_zeroed(session->n_backends + 1, sizeof st.marks[0]);
    st.starts = ab_alloc_zeroed(session->n_backends + 1, sizeof st.starts[0]);
    st.slice_ops = ab_alloc_zeroed(session->n_combinations + 1, sizeof st.slice_ops[0]);
    ab_quiet_init(&st.quiet);
    st.context.quiet = &st.quiet;
    enum ab_status status = run_all(&st, err);
    for (uint32_t i = 0; i < session->n_backends; i++)
        free(st.marks[i]);
    free(st.marks);
    free(st.starts);
    free(st.slice_ops);
    ab_throughput_fini(&st.throughput);
    ab_quiet_fini(&st.quiet);
    session->timer.floor_ns = ab_session_floor(session);
    session->is_complete = status == AB_OK;
    return status;
}

/* ---- resuming: comparing the two sessions, and moving the rounds ---- */

/* Returns AB_USAGE with the list of differences, or AB_OK if there are none. Frees the list. */
static enum ab_status judge(struct ab_differences *d, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    if (d->text.n > 0)
        status = ab_fail(err, AB_USAGE,
                         "cannot be resumed, the conditions differ: "
                         "%s",
                         d->text.s);
    ab_text_fini(&d->text);
    return status;
}

static enum ab_status check_blocks(const struct ab_session *old, struct ab_err *err)
{
    uint32_t rounds = old->n_rounds_planned, own = ab_shard_n_rounds(old->shard, rounds);
    if (old->tape_sha256 == NULL || old->tape_sha256[0] == 0)
        return ab_fail(err, AB_INPUT, "cannot be resumed: it has no digest of its tape");
    if (old->n_rounds > own)
        return ab_fail(err, AB_INPUT, "cannot be resumed: it has %u rounds of %u", old->n_rounds,
                       own);
    for (uint32_t i = 0; i < old->n_rounds; i++)
        if (old->rounds[i].index != ab_shard_round(old->shard, rounds, i))
            return ab_fail(err, AB_INPUT, "cannot be resumed: round %u is missing",
                           ab_shard_round(old->shard, rounds, i));
    return AB_OK;
}

/* Writes the shard as "2/4", or "none". */
static const char *shard_text(char buf[32], struct ab_run_shard shard)
{
    snprintf(buf, 32, "none");
    if (shard.count > 0)
        snprintf(buf, 32, "%u/%u", shard.index, shard.count);
    return buf;
}

enum ab_status ab_resume_check(const struct ab_session *session, const struct ab_session *old,
                               struct ab_err *err)
{
    struct ab_differences d = {.word = "was"};
    char now[32], was[32];
    if (old->n_parts > 0)
        return ab_fail(err, AB_USAGE,
                       "cannot be resumed: it was merged from %u results; run the shards that it "
                       "lacks, and merge all of them",
                       old->n_parts);
    if (old->is_histogram_merged)
        return ab_fail(err, AB_USAGE,
                       "cannot be resumed: its histograms are merged over the rounds, as an HTML "
                       "report has them; give the JSON, or a report with --embed=full");
    ab_conditions_compare(&d, session, old);
    ab_differences_add(&d, "--shard", shard_text(now, session->shard), shard_text(was, old->shard));
    ab_differences_add(&d, "the machine's fingerprint", session->host.fingerprint,
                       old->host.fingerprint);
    ab_differences_add(&d, "the node", session->host.name, old->host.name);
    ab_differences_add(&d, "THP", session->host.thp, old->host.thp);
    enum ab_status status = judge(&d, err);
    return status == AB_OK ? check_blocks(old, err) : status;
}

/* ---- resuming: the back ends ---- */

void ab_resume_keep_failed(struct ab_session *session, const struct ab_session *old)
{
    for (uint32_t i = 0; i < session->n_backends; i++) {
        struct ab_backend_info *b = &session->backends[i];
        const struct ab_backend_info *was = &old->backends[i];
        b->was_named = was->was_named;
        if (ab_backend_status_has_numbers(was->status))
            continue;
        b->status = was->status;
        b->never_frees = was->never_frees;
        b->has_reset = was->has_reset;
        memcpy(b->reason, was->reason, sizeof b->reason);
        memcpy(b->proofs, was->proofs, sizeof b->proofs);
        b->n_proofs = was->n_proofs;
        memcpy(b->version, was->version, sizeof b->version);
        memcpy(b->path, was->path, sizeof b->path);
        memcpy(b->build_id, was->build_id, sizeof b->build_id);
        b->library_bytes = was->library_bytes;
        b->library_private_bytes = was->library_private_bytes;
    }
}

enum ab_status ab_resume_check_backends(const struct ab_session *session,
                                        const struct ab_session *old, struct ab_err *err)
{
    struct ab_differences d = {.word = "was"};
    char label[sizeof session->backends->name + 32];
    for (uint32_t i = 0; i < session->n_backends; i++) {
        const struct ab_backend_info *b = &session->backends[i], *was = &old->backends[i];
        AB_FIT(label, "the status of %s", b->name);
        ab_differences_add(&d, label, ab_backend_status_name(b->status),
                           ab_backend_status_name(was->status));
        if (ab_backend_status_has_numbers(was->status))
            ab_conditions_compare_build(&d, b, was, true);
    }
    return judge(&d, err);
}

/* ---- resuming: moving the measurements ---- */

#define TAKE(list) \
    session->list = old->list; \
    session->n_##list = old->n_##list; \
    session->cap_##list = old->n_##list; \
    old->list = NULL; \
    old->n_##list = 0;
#define OWN_PHASES(list) \
    for (uint32_t i = 0; i < session->n_##list; i++) \
        session->list[i].phase = ab_session_own_phase(session, session->list[i].phase);

void ab_resume_adopt(struct ab_session *session, struct ab_session *old)
{
    TAKE(rounds)
    AB_SESSION_LISTS(TAKE)
    AB_SESSION_PHASE_LISTS(OWN_PHASES)
    session->noise = old->noise;
    session->n_rounds_resumed = session->n_rounds;
    session->counting = old->counting;
    for (uint32_t i = 0; i < session->n_backends && i < old->n_backends; i++)
        memcpy(session->backends[i].uncounted, old->backends[i].uncounted,
               sizeof session->backends[i].uncounted);
}
