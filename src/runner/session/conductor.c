/* SPDX-License-Identifier: MIT
 *
 * Single runs of a session: each starts a worker, judges how it ended, and folds its report in.
 */
#include "runner/session/conductor.h"

#include "base/units.h"
#include "core/memory.h"
#include "core/units_show.h"
#include "result/merge/shard.h"
#include "result/passes.h"
#include "runner/estimate.h"
#include "runner/fold/fold_depth.h"
#include "runner/fold/fold_heaps.h"
#include "runner/fold/fold_iterations.h"
#include "runner/fold/fold_memory.h"
#include "runner/route_walk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* … and one a case in a round, so that what it draws does not depend on who ran before it, nor on
 * whether. Rounds have 16 bits, cases those above; the nulls are cases too. */
#define CASE_STREAM(round, number) (AB_ROUND_STREAM(round) | ((uint64_t)(number) + 1) << 16)
#define FIRST_NULL 0xff00u
#define SCOUT_ROUND 0xffffu

/* A placement has the null of its row, other back ends that of their boundary. */
static unsigned null_number(const struct ab_conductor *c, uint32_t backend)
{
    enum ab_boundary boundary = ab_run_null_case(&c->plan->cases[backend]).boundary;
    return FIRST_NULL +
           (boundary == AB_BOUNDARY_ROUTED ? AB_BOUNDARY_COUNT + backend : (unsigned)boundary);
}

bool ab_conductor_is_running(const struct ab_conductor *c, uint32_t backend)
{
    return ab_backend_status_has_numbers(c->session->backends[backend].status);
}

bool ab_conductor_is_decorated(const struct ab_conductor *c, uint32_t backend)
{
    return c->plan->cases[backend].decorator != AB_DECORATOR_NONE;
}

void ab_conductor_say(struct ab_conductor *c, const char *backend, enum ab_pass pass)
{
    if (c->plan->progress == NULL)
        return;
    struct ab_progress p = {c->session->n_rounds,
                            pass == AB_PASS_VERIFY ? 0 : c->n_rounds,
                            backend,
                            pass,
                            c->done,
                            c->total};
    c->plan->progress(c->plan->user, &p);
}

static void fail_backend(struct ab_conductor *c, uint32_t backend, const struct ab_outcome *run)
{
    struct ab_backend_info *b = &c->session->backends[backend];
    b->status = run->status;
    memcpy(b->reason, run->reason, sizeof b->reason);
    ab_fold_forget(c->session, backend);
    ab_throughput_drop(&c->throughput, backend, AB_FOLD_ANY);
}

static void note_libraries(const struct ab_route *route, const struct ab_run_report *r,
                           struct ab_backend_info *b)
{
    for (uint32_t h = 0; route != NULL && h < route->image->n_heaps; h++) {
        uint32_t shown = ab_route_shown(ab_route_heap_at(route->image, 0), h);
        struct ab_mapped_heap *heap = &b->heaps[shown];
        const struct ab_library_report *said = &r->libraries[h];
        if (said->version[0] != 0)
            snprintf(heap->version, sizeof heap->version, "%.63s", said->version);
        if (said->build_id[0] != 0)
            snprintf(heap->build_id, sizeof heap->build_id, "%.40s", said->build_id);
    }
}

/* Notes what the first successful run reports about the back end. */
static void note_identity(struct ab_conductor *c, uint32_t backend, const struct ab_outcome *run)
{
    struct ab_backend_info *b = &c->session->backends[backend];
    const struct ab_run_report *r = &run->page->report;
    if (r->version[0] != 0)
        snprintf(b->version, sizeof b->version, "%.*s", (int)sizeof r->version - 1, r->version);
    if (r->identity.build_id[0] != 0)
        snprintf(b->build_id, sizeof b->build_id, "%.40s", r->identity.build_id);
    if (b->path[0] == 0 && r->identity.path[0] == '/')
        snprintf(b->path, sizeof b->path, "%.*s", (int)sizeof r->identity.path - 1,
                 r->identity.path);
    note_libraries(c->plan->cases[backend].route, r, b);
    b->never_frees = (r->traits & AB_TRAIT_NO_FREE) != 0;
    b->has_reset = (r->hooks >> AB_OP_RESET & 1) != 0;
    if (ab_run_missing(c->session->facts.kinds, r->hooks, b->reason, sizeof b->reason))
        b->status = AB_BACKEND_PARTIAL;
}

/* Notes what the pre-flight found beyond ok. */
static void note_conduct(struct ab_conductor *c, uint32_t backend, const struct ab_outcome *run)
{
    struct ab_backend_info *b = &c->session->backends[backend];
    const char *caveat = run->page->report.caveat;
    snprintf(b->caveat, sizeof b->caveat, "%.*s", (int)sizeof b->caveat - 1, caveat);
    if (run->status != AB_BACKEND_OK) {
        b->status = AB_BACKEND_NONCONFORMING;
        memcpy(b->reason, run->reason, sizeof b->reason);
    } else if (ab_conductor_is_decorated(c, backend)) {
        b->status = AB_BACKEND_DECORATED;
        snprintf(b->reason, sizeof b->reason, "not timed: decorated");
    }
}

static bool fits_memory(struct ab_conductor *c, uint32_t backend)
{
    struct ab_backend_info *b = &c->session->backends[backend];
    char need[32], limit[32];
    uint64_t bytes = ab_estimate_heap_bytes(&c->session->facts, b->never_frees);
    if (bytes <= c->context.memory_limit_bytes)
        return true;
    b->status = AB_BACKEND_OOM;
    snprintf(b->reason, sizeof b->reason,
             "would need about %s%s, more than --mem-limit %s; not "
             "run",
             ab_units_bytes(need, sizeof need, (double)bytes),
             b->never_frees ? " (it never frees)" : "",
             ab_units_bytes(limit, sizeof limit, (double)c->context.memory_limit_bytes));
    return false;
}

enum ab_status ab_conduct_preflight(struct ab_conductor *c, uint32_t i, struct ab_err *err)
{
    struct ab_outcome run;
    ab_conductor_say(c, c->session->backends[i].name, AB_PASS_VERIFY);
    if (!fits_memory(c, i))
        return AB_OK;
    enum ab_status status = ab_run(&c->context, &c->plan->cases[i], AB_PASS_VERIFY, &c->rng, &run,
                                   err);
    if (status != AB_OK)
        return status;
    bool is_allowed = c->plan->allows_broken && run.status == AB_BACKEND_FAILED_CHECK &&
                      run.page->report.failure == AB_FAILURE_CHECK;
    if (run.status != AB_BACKEND_OK && !is_allowed) {
        fail_backend(c, i, &run);
    } else {
        note_identity(c, i, &run);
        note_conduct(c, i, &run);
        fits_memory(c, i);
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

/* A throughput run that is not recorded and tells how long slices should be: *ns_per_op of the
 * measured phases, NaN where it is not known. */
static enum ab_status conduct_scout(struct ab_conductor *c, uint32_t backend, double *ns_per_op,
                                    struct ab_err *err)
{
    struct ab_outcome run;
    struct ab_fold fold = ab_conductor_fold(c, backend, 0);
    *ns_per_op = NAN;
    ab_rng_init(&c->rng, c->session->seed, CASE_STREAM(SCOUT_ROUND, backend));
    ab_conductor_say(c, c->session->backends[backend].name, AB_PASS_THROUGHPUT);
    enum ab_status status = ab_run(&c->context, &c->plan->cases[backend], AB_PASS_THROUGHPUT,
                                   &c->rng, &run, err);
    if (status != AB_OK)
        return status;
    if (run.status == AB_BACKEND_OK)
        *ns_per_op = measured_ns_per_op(&fold, &run);
    else
        fail_backend(c, backend, &run);
    ab_outcome_fini(&run);
    return AB_OK;
}

/* Takes note of a throughput run and of what it says about the neighbours. */
static void keep_throughput(struct ab_conductor *c, const struct ab_fold *f, uint32_t case_index,
                            const struct ab_outcome *run)
{
    ab_throughput_add(&c->throughput, f, case_index, run);
    const struct ab_throughput_run *kept = &c->throughput.runs[c->throughput.n_runs - 1];
    for (uint32_t i = 0; i < kept->n_slices; i++)
        ab_quiet_add(&c->quiet, run->slices[i].after);
    ab_quiet_settle(&c->quiet);
    struct ab_noise *noise = &c->session->noise;
    ab_throughput_add_noise(f, kept, run, ab_canary_limit(c->quiet.level), noise);
    noise->canary_quiet_ns = c->quiet.level * c->context.clock.ns_per_tick;
}

uint16_t ab_conductor_quiet_limit(const struct ab_conductor *c)
{
    return ab_canary_limit(c->quiet.level);
}

struct ab_fold ab_conductor_fold(struct ab_conductor *c, uint32_t backend, uint32_t round)
{
    return (struct ab_fold){c->session, c->context.tape, &c->context.clock, backend, round};
}

static enum ab_status check_null(const struct ab_outcome *run, struct ab_err *err)
{
    return run->status == AB_BACKEND_OK
               ? AB_OK
               : ab_fail(err, AB_SYSTEM, "the null back end failed: %s", run->reason);
}

static enum ab_status run_null(struct ab_conductor *c, uint32_t backend, enum ab_pass pass,
                               struct ab_outcome *run, struct ab_err *err)
{
    struct ab_case null = ab_run_null_case(&c->plan->cases[backend]);
    ab_conductor_say(c, "null", pass);
    enum ab_status status = ab_run(&c->context, &null, pass, &c->rng, run, err);
    c->done++;
    return status == AB_OK ? check_null(run, err) : status;
}

static enum ab_status run_null_throughput(struct ab_conductor *c, const struct ab_fold *fold,
                                          struct ab_err *err)
{
    struct ab_outcome run = {0};
    enum ab_status status = run_null(c, fold->backend, AB_PASS_THROUGHPUT, &run, err);
    if (status == AB_OK)
        keep_throughput(c, fold, ab_fold_null_case(c->session, fold->backend), &run);
    ab_outcome_fini(&run);
    return status;
}

/* True where the time of an empty op is measured. In strict order no op is timed, and without the
 * latency pass none needs it. */
static bool has_null_latency(const struct ab_conductor *c, uint32_t round)
{
    return ab_pass_is_in(&c->session->passes, AB_PASS_LATENCY, round);
}

/* True where the cost of timing each call of an iteration is measured. */
static bool has_null_iterations(const struct ab_conductor *c, uint32_t round)
{
    return c->context.tape->image->n_iterations > 0 &&
           ab_pass_is_in(&c->session->passes, AB_PASS_TAIL, round);
}

uint32_t ab_conduct_null_runs(const struct ab_conductor *c, uint32_t round)
{
    return c->plan->processes + has_null_latency(c, round) + has_null_iterations(c, round);
}

static enum ab_status run_null_iterations(struct ab_conductor *c, const struct ab_fold *fold,
                                          struct ab_err *err)
{
    struct ab_outcome run = {0};
    enum ab_status status = run_null(c, fold->backend, AB_PASS_TAIL, &run, err);
    if (status == AB_OK)
        ab_fold_iteration_cost(fold, &run);
    ab_outcome_fini(&run);
    return status;
}

enum ab_status ab_conduct_null(struct ab_conductor *c, uint32_t backend, uint32_t round,
                               struct ab_err *err)
{
    struct ab_outcome latency = {0};
    struct ab_fold fold = ab_conductor_fold(c, backend, round);
    enum ab_status status = AB_OK;
    ab_rng_init(&c->rng, c->session->seed, CASE_STREAM(round, null_number(c, backend)));
    for (uint32_t i = 0; i < c->plan->processes && status == AB_OK; i++)
        status = run_null_throughput(c, &fold, err);
    if (status == AB_OK && has_null_latency(c, round))
        status = run_null(c, backend, AB_PASS_LATENCY, &latency, err);
    if (status == AB_OK)
        ab_fold_null(&fold, &c->throughput, ab_conductor_quiet_limit(c),
                     latency.page != NULL ? &latency : NULL);
    if (status == AB_OK && has_null_iterations(c, round))
        status = run_null_iterations(c, &fold, err);
    ab_outcome_fini(&latency);
    return status;
}

static enum ab_status run_case(struct ab_conductor *c, uint32_t backend, uint32_t round,
                               enum ab_pass pass, struct ab_err *err)
{
    struct ab_outcome run;
    struct ab_fold fold = ab_conductor_fold(c, backend, round);
    ab_rng_init(&c->rng, c->session->seed, CASE_STREAM(round, backend));
    ab_conductor_say(c, c->session->backends[backend].name, pass);
    enum ab_status status = ab_run(&c->context, &c->plan->cases[backend], pass, &c->rng, &run, err);
    if (status != AB_OK)
        return status;
    c->done++;
    if (run.status != AB_BACKEND_OK)
        fail_backend(c, backend, &run);
    else if (pass == AB_PASS_THROUGHPUT)
        keep_throughput(c, &fold, backend, &run);
    else if (pass == AB_PASS_LATENCY) {
        ab_fold_latency(&fold, &run);
        ab_fold_depth(&fold, &run);
        if (status == AB_OK)
            ab_fold_heaps(&fold, c->plan->cases[backend].route, &run);
    } else {
        ab_fold_tail(&fold, &run);
        ab_fold_iterations(&fold, &run);
    }
    ab_outcome_fini(&run);
    return status;
}

/* One run with the marks as they are; what it sees becomes the marks. */
static enum ab_status run_memory_once(struct ab_conductor *c, uint32_t backend, uint32_t round,
                                      struct ab_err *err)
{
    struct ab_outcome run;
    struct ab_run_context context = c->context;
    struct ab_fold fold = ab_conductor_fold(c, backend, round);
    bool is_scout = c->marks[backend] == NULL;
    context.marks = c->marks[backend];
    if (is_scout)
        c->marks[backend] = ab_alloc_zeroed(1, sizeof *c->marks[0]);
    ab_conductor_say(c, c->session->backends[backend].name, AB_PASS_MEMORY);
    enum ab_status status = ab_run(&context, &c->plan->cases[backend], AB_PASS_MEMORY, &c->rng,
                                   &run, err);
    if (status != AB_OK)
        return status;
    c->done++;
    if (run.status != AB_BACKEND_OK)
        fail_backend(c, backend, &run);
    else if (!is_scout)
        ab_fold_memory(&fold, &run);
    if (run.status == AB_BACKEND_OK && !is_scout && status == AB_OK)
        ab_fold_heap_memory(&fold, c->plan->cases[backend].route, &run);
    if (run.status == AB_BACKEND_OK)
        ab_fold_memory_marks(context.tape, &run, c->marks[backend]);
    ab_outcome_fini(&run);
    return status;
}

/* The place of the footprint's peak is only known after a run: the first one is run for that alone,
 * every later one uses what the one before it saw. */
static enum ab_status run_memory(struct ab_conductor *c, uint32_t backend, uint32_t round,
                                 struct ab_err *err)
{
    enum ab_status status = AB_OK;
    if (c->marks[backend] == NULL)
        status = run_memory_once(c, backend, round, err);
    if (status == AB_OK && ab_conductor_is_running(c, backend))
        status = run_memory_once(c, backend, round, err);
    return status;
}

enum ab_status ab_conduct_pass(struct ab_conductor *c, uint32_t backend, uint32_t round,
                               enum ab_pass pass, struct ab_err *err)
{
    return pass == AB_PASS_MEMORY ? run_memory(c, backend, round, err)
                                  : run_case(c, backend, round, pass, err);
}

/* Finds the length of slices, by one run of each back end. */

/* In longer work slow ops would make the run before the measurement long as well; they are rare
 * there, and it has slices enough. */
#define OPS_MAX (1u << 20)

uint32_t ab_slice_grid(double ns_per_op)
{
    uint32_t ops = AB_SLICE_OPS;
    while (ops > AB_SLICE_OPS_MIN && ops * ns_per_op > AB_SLICE_NS_MAX)
        ops /= 2;
    return ops;
}

static bool is_needed(const struct ab_conductor *c)
{
    const struct ab_run_context *context = &c->context;
    return context->tape->image->n_lanes == 1 && !context->is_strict &&
           context->tape->image->n_ops <= OPS_MAX && c->session->n_rounds < c->n_rounds;
}

enum ab_status ab_slice_grid_settle(struct ab_conductor *c, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    double least = NAN;
    if (!is_needed(c))
        return AB_OK;
    for (uint32_t i = 0; i < c->session->n_backends && status == AB_OK; i++) {
        double ns_per_op = NAN;
        if (ab_conductor_is_running(c, i) && !ab_conductor_is_decorated(c, i) &&
            ab_shard_has_backend(c->session->shard, c->plan->rounds, i))
            status = conduct_scout(c, i, &ns_per_op, err);
        least = fmin(least, ns_per_op); /* of a number and NaN: the number */
    }
    c->context.slice_ops = ab_slice_grid(least);
    return status;
}
