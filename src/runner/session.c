/* SPDX-License-Identifier: MIT
 *
 * The order of a session: pre-flights first, then rounds with the nulls, the back ends in shuffled
 * order, and every pass. What was interrupted in the middle of a round is dropped.
 */
#include "runner/session.h"

#include "base/units.h"
#include "core/units_show.h"
#include "result/merge/shard.h"
#include "result/session.h"
#include "runner/counts/count_round.h"
#include "runner/estimate.h"
#include "runner/fold/fold.h"
#include "runner/fold/fold_depth.h"
#include "runner/fold/fold_memory.h"
#include "runner/resume.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct conductor {
    const struct ab_session_plan *plan;
    struct ab_session *session;
    struct ab_rng rng;
    uint32_t done, total;
    uint32_t n_rounds; /* that this session has to run: all, or those of its shard */
    struct ab_quiet quiet;
    struct ab_throughput throughput;
    struct ab_run_context context;  /* the plan's, with the above */
    struct ab_memory_marks **marks; /* one a back end; NULL until a run has found the peaks */
};

/* Random streams of the seed: one for the pre-flight, one a round. */
#define PREFLIGHT_STREAM UINT64_C(0x72756e) /* "run" */
#define ROUND_STREAM(round) (PREFLIGHT_STREAM << 32 | (round))
/* … and one a case in a round, so that what it draws does not depend on who ran before it, nor on
 * whether. Rounds have 16 bits, cases those above; the nulls are cases too. */
#define CASE_STREAM(round, number) (ROUND_STREAM(round) | ((uint64_t)(number) + 1) << 16)
#define NULL_NUMBER(boundary) (0xff00u + (unsigned)(boundary))

static bool is_running(const struct conductor *c, uint32_t backend)
{
    return ab_backend_status_has_numbers(c->session->backends[backend].status);
}

/* Runs in this session's rounds: not one that belongs to another shard of a divided round. */
static bool is_ours(const struct conductor *c, uint32_t backend)
{
    return is_running(c, backend) &&
           ab_shard_has_backend(c->session->shard, c->plan->rounds, backend);
}

/* Goes through every op once a round, and nothing else of it is of interest. */
static bool is_decorated(const struct conductor *c, uint32_t backend)
{
    return c->plan->cases[backend].decorator != AB_DECORATOR_NONE;
}

static void say(struct conductor *c, uint32_t round, const char *backend, enum ab_pass pass)
{
    if (c->plan->progress == NULL)
        return;
    struct ab_progress p = {
        round, pass == AB_PASS_VERIFY ? 0 : c->plan->rounds, backend, pass, c->done, c->total};
    c->plan->progress(c->plan->user, &p);
}

static void fail_backend(struct conductor *c, uint32_t backend, const struct ab_outcome *run)
{
    struct ab_backend_info *b = &c->session->backends[backend];
    b->status = run->status;
    memcpy(b->reason, run->reason, sizeof b->reason);
    ab_fold_forget(c->session, backend);
    ab_throughput_drop(&c->throughput, backend, AB_FOLD_ANY);
}

/* What the first successful run says of the back end. */
static void note_identity(struct conductor *c, uint32_t backend, const struct ab_outcome *run)
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
    b->never_frees = (r->traits & AB_TRAIT_NO_FREE) != 0;
    b->has_reset = (r->hooks >> AB_OP_RESET & 1) != 0;
    if (ab_run_missing(c->session->facts.kinds, r->hooks, b->reason, sizeof b->reason))
        b->status = AB_BACKEND_PARTIAL;
}

/* What the pre-flight saw that is more than ok. */
static void note_conduct(struct conductor *c, uint32_t backend, const struct ab_outcome *run)
{
    struct ab_backend_info *b = &c->session->backends[backend];
    const char *caveat = run->page->report.caveat;
    snprintf(b->caveat, sizeof b->caveat, "%.*s", (int)sizeof b->caveat - 1, caveat);
    if (run->status != AB_BACKEND_OK) {
        b->status = AB_BACKEND_NONCONFORMING;
        memcpy(b->reason, run->reason, sizeof b->reason);
    } else if (is_decorated(c, backend)) {
        b->status = AB_BACKEND_DECORATED;
        snprintf(b->reason, sizeof b->reason, "not timed: decorated");
    }
}

static bool fits_memory(struct conductor *c, uint32_t backend)
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

static enum ab_status preflight(struct conductor *c, uint32_t i, struct ab_err *err)
{
    struct ab_outcome run;
    say(c, 0, c->session->backends[i].name, AB_PASS_VERIFY);
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

static void shuffle(struct ab_rng *rng, uint32_t *x, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = (uint32_t)ab_rng_below(rng, i), t = x[i - 1];
        x[i - 1] = x[j];
        x[j] = t;
    }
}

/* Takes note of a throughput run and of what it says about the neighbours. */
static enum ab_status keep_throughput(struct conductor *c, const struct ab_fold *f,
                                      uint32_t case_index, const struct ab_outcome *run,
                                      struct ab_err *err)
{
    enum ab_status status = ab_throughput_add(&c->throughput, f, case_index, run, err);
    if (status != AB_OK)
        return status;
    const struct ab_throughput_run *kept = &c->throughput.runs[c->throughput.n_runs - 1];
    for (uint32_t i = 0; i < kept->n_slices; i++)
        ab_quiet_add(&c->quiet, run->slices[i].after);
    ab_quiet_settle(&c->quiet);
    struct ab_noise *noise = &c->session->noise;
    ab_throughput_add_noise(f, kept, run, ab_canary_limit(c->quiet.level), noise);
    noise->canary_quiet_ns = c->quiet.level * c->context.clock.ns_per_tick;
    return AB_OK;
}

static uint16_t quiet_limit(const struct conductor *c)
{
    return ab_canary_limit(c->quiet.level);
}

static struct ab_fold fold_of(struct conductor *c, uint32_t backend, uint32_t round)
{
    return (struct ab_fold){c->session, c->context.tape, &c->context.clock, backend, round};
}

static enum ab_status check_null(const struct ab_outcome *run, struct ab_err *err)
{
    return run->status == AB_BACKEND_OK
               ? AB_OK
               : ab_fail(err, AB_SYSTEM, "the null back end failed: %s", run->reason);
}

static struct ab_case null_case(enum ab_boundary boundary)
{
    return (struct ab_case){.source = boundary == AB_BOUNDARY_MALLOC ? AB_SOURCE_NULL
                                                                     : AB_SOURCE_BUILTIN,
                            .boundary = boundary,
                            .builtin = "null"};
}

static enum ab_status run_null_throughput(struct conductor *c, enum ab_boundary boundary,
                                          uint32_t round, struct ab_err *err)
{
    struct ab_outcome run = {0};
    struct ab_case null = null_case(boundary);
    struct ab_fold fold = fold_of(c, 0, round);
    say(c, round, "null", AB_PASS_THROUGHPUT);
    enum ab_status status = ab_run(&c->context, &null, AB_PASS_THROUGHPUT, &c->rng, &run, err);
    if (status == AB_OK)
        status = check_null(&run, err);
    if (status == AB_OK)
        status = keep_throughput(c, &fold, ab_fold_null_case(c->session, boundary), &run, err);
    ab_outcome_fini(&run);
    return status;
}

static enum ab_status run_null(struct conductor *c, enum ab_boundary boundary, uint32_t round,
                               struct ab_err *err)
{
    struct ab_outcome latency = {0};
    struct ab_case null = null_case(boundary);
    struct ab_fold fold = fold_of(c, 0, round);
    enum ab_status status = AB_OK;
    ab_rng_init(&c->rng, c->session->seed, CASE_STREAM(round, NULL_NUMBER(boundary)));
    for (uint32_t i = 0; i < c->plan->processes && status == AB_OK; i++)
        status = run_null_throughput(c, boundary, round, err);
    if (status == AB_OK)
        status = ab_run(&c->context, &null,
                        c->context.is_strict ? AB_PASS_THROUGHPUT : AB_PASS_LATENCY, &c->rng,
                        &latency, err);
    if (status == AB_OK)
        status = check_null(&latency, err);
    if (status == AB_OK)
        status = ab_fold_null(&fold, boundary, &c->throughput, quiet_limit(c), &latency, err);
    ab_outcome_fini(&latency);
    return status;
}

static enum ab_status run_nulls(struct conductor *c, uint32_t round, struct ab_err *err)
{
    bool is_used[AB_BOUNDARY_COUNT] = {false};
    enum ab_status status = AB_OK;
    for (uint32_t i = 0; i < c->session->n_backends; i++)
        if (is_ours(c, i))
            is_used[c->plan->cases[i].boundary] = true;
    for (unsigned b = 0; b < AB_BOUNDARY_COUNT && status == AB_OK; b++)
        if (is_used[b])
            status = run_null(c, (enum ab_boundary)b, round, err);
    return status;
}

static enum ab_status run_case(struct conductor *c, uint32_t backend, uint32_t round,
                               enum ab_pass pass, struct ab_err *err)
{
    struct ab_outcome run;
    struct ab_fold fold = fold_of(c, backend, round);
    ab_rng_init(&c->rng, c->session->seed, CASE_STREAM(round, backend));
    say(c, round, c->session->backends[backend].name, pass);
    enum ab_status status = ab_run(&c->context, &c->plan->cases[backend], pass, &c->rng, &run, err);
    if (status != AB_OK)
        return status;
    c->done++;
    if (run.status != AB_BACKEND_OK)
        fail_backend(c, backend, &run);
    else if (pass == AB_PASS_THROUGHPUT)
        status = keep_throughput(c, &fold, backend, &run, err);
    else if (pass == AB_PASS_LATENCY) {
        ab_fold_latency(&fold, &run);
        status = ab_fold_depth(&fold, &run, err);
    } else
        ab_fold_tail(&fold, &run);
    ab_outcome_fini(&run);
    return status;
}

/* One run with the marks as they are; what it sees becomes the marks. */
static enum ab_status run_memory_once(struct conductor *c, uint32_t backend, uint32_t round,
                                      struct ab_err *err)
{
    struct ab_outcome run;
    struct ab_run_context context = c->context;
    struct ab_fold fold = fold_of(c, backend, round);
    bool is_scout = c->marks[backend] == NULL;
    context.marks = c->marks[backend];
    if (is_scout && (c->marks[backend] = calloc(1, sizeof *c->marks[0])) == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    say(c, round, c->session->backends[backend].name, AB_PASS_MEMORY);
    enum ab_status status = ab_run(&context, &c->plan->cases[backend], AB_PASS_MEMORY, &c->rng,
                                   &run, err);
    if (status != AB_OK)
        return status;
    c->done++;
    if (run.status != AB_BACKEND_OK)
        fail_backend(c, backend, &run);
    else if (!is_scout)
        status = ab_fold_memory(&fold, &run, err);
    if (run.status == AB_BACKEND_OK)
        ab_fold_memory_marks(context.tape, &run, c->marks[backend]);
    ab_outcome_fini(&run);
    return status;
}

/* Where the footprint peaks is only known after a run: the first one is run for that alone, every
 * later one uses what the one before it saw. */
static enum ab_status run_memory(struct conductor *c, uint32_t backend, uint32_t round,
                                 struct ab_err *err)
{
    enum ab_status status = AB_OK;
    if (c->marks[backend] == NULL)
        status = run_memory_once(c, backend, round, err);
    if (status == AB_OK && is_running(c, backend))
        status = run_memory_once(c, backend, round, err);
    return status;
}

struct counting_progress {
    struct conductor *c;
    uint32_t round;
};

static void say_counting(void *user, const char *backend, enum ab_pass pass)
{
    struct counting_progress *p = user;
    say(p->c, p->round, backend, pass);
}

static enum ab_status run_counts(struct conductor *c, uint32_t round, struct ab_err *err)
{
    struct counting_progress progress = {c, round};
    struct ab_count_plan plan = {.context = &c->plan->context,
                                 .cases = c->plan->cases,
                                 .session = c->session,
                                 .round = round,
                                 .sample_ops = c->plan->instr_ops,
                                 .say = say_counting,
                                 .user = &progress};
    return ab_count_round(&plan, err);
}

/* One pass of all back ends, in this order. */
static enum ab_status run_pass(struct conductor *c, const struct ab_round *round, enum ab_pass pass,
                               struct ab_err *err)
{
    enum ab_status status = AB_OK;
    for (uint32_t i = 0; i < round->n_order && status == AB_OK; i++) {
        uint32_t backend = round->order[i];
        if (is_running(c, backend) && (pass == AB_PASS_THROUGHPUT || !is_decorated(c, backend)))
            status = pass == AB_PASS_MEMORY ? run_memory(c, backend, round->index, err)
                                            : run_case(c, backend, round->index, pass, err);
    }
    return status;
}

/* Several processes each, one after the other of all: where a process comes to lie in memory decides
 * over some percent of its time. */
static enum ab_status run_throughput(struct conductor *c, const struct ab_round *round,
                                     struct ab_err *err)
{
    enum ab_status status = AB_OK;
    for (uint32_t i = 0; i < c->plan->processes && status == AB_OK; i++)
        status = run_pass(c, round, AB_PASS_THROUGHPUT, err);
    for (uint32_t i = 0; i < round->n_order && status == AB_OK; i++) {
        struct ab_fold fold = fold_of(c, round->order[i], round->index);
        if (is_running(c, round->order[i]))
            status = ab_fold_throughput(&fold, &c->throughput, quiet_limit(c), err);
    }
    return status;
}

static enum ab_status run_round(struct conductor *c, uint32_t index, struct ab_err *err)
{
    struct ab_session *s = c->session;
    ab_rng_init(&c->rng, s->seed, ROUND_STREAM(index));
    uint32_t *order = calloc(s->n_backends, sizeof order[0]), n_all = 0, n = 0;
    if (order == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (is_running(c, i))
            order[n_all++] = i;
    shuffle(&c->rng, order, n_all);
    for (uint32_t i = 0; i < n_all; i++) /* of all, so that a shard keeps the order of the whole */
        if (is_ours(c, order[i]))
            order[n++] = order[i];
    struct ab_round *round = &s->rounds[s->n_rounds];
    *round = (struct ab_round){.index = index, .order = order, .n_order = n};
    enum ab_status status = run_nulls(c, index, err);
    if (status == AB_OK)
        status = run_throughput(c, round, err);
    for (int pass = AB_PASS_LATENCY; pass <= AB_PASS_MEMORY && status == AB_OK; pass++)
        if (!c->context.is_strict || pass == AB_PASS_MEMORY)
            status = run_pass(c, round, (enum ab_pass)pass, err);
    if (status == AB_OK && index == 0 && c->plan->instr_ops > 0)
        status = run_counts(c, index, err);
    s->n_rounds++;
    return status;
}

/* An interrupted round is half a round: what it measured goes, for every back end alike. */
static void drop_round(struct ab_session *s, uint32_t round)
{
    uint32_t kept = 0, kept_nulls = 0;
    for (uint32_t i = 0; i < s->n_results; i++) {
        if (s->results[i].round == round)
            free(s->results[i].hdr);
        else
            s->results[kept++] = s->results[i];
    }
    for (uint32_t i = 0; i < s->n_nulls; i++)
        if (s->nulls[i].round != round)
            s->nulls[kept_nulls++] = s->nulls[i];
    s->n_results = kept;
    s->n_nulls = kept_nulls;
    ab_fold_depth_drop(s, AB_FOLD_ANY, round);
    ab_fold_drop_memory(s, AB_FOLD_ANY, round);
    free((void *)s->rounds[--s->n_rounds].order);
}

static enum ab_status run_preflights(struct conductor *c, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    ab_rng_init(&c->rng, c->session->seed, PREFLIGHT_STREAM);
    for (uint32_t i = 0; i < c->session->n_backends && status == AB_OK; i++)
        if (is_running(c, i))
            status = preflight(c, i, err);
    return status;
}

/* Room for all rounds, with those that were measured before. */
static enum ab_status prepare_blocks(struct conductor *c, struct ab_err *err)
{
    struct ab_session *s = c->session;
    if (c->plan->resumed != NULL)
        ab_resume_adopt(s, c->plan->resumed);
    struct ab_round *rounds = realloc(s->rounds, c->n_rounds * sizeof rounds[0]);
    if (rounds == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    s->rounds = rounds;
    return AB_OK;
}

enum ab_status ab_session_run(const struct ab_session_plan *plan, struct ab_session *session,
                              struct ab_err *err)
{
    struct conductor c = {.plan = plan,
                          .session = session,
                          .n_rounds = ab_shard_n_rounds(session->shard, plan->rounds),
                          .context = plan->context};
    uint32_t n_alive = 0;
    c.marks = calloc(session->n_backends + 1, sizeof c.marks[0]);
    if (c.marks == NULL || !ab_quiet_init(&c.quiet))
        return ab_fail(err, AB_SYSTEM, "out of memory");
    c.context.quiet = &c.quiet;
    if (plan->resumed != NULL)
        ab_resume_keep_failed(session, plan->resumed);
    enum ab_status status = run_preflights(&c, err);
    if (status == AB_OK && plan->resumed != NULL)
        status = ab_resume_check_backends(session, plan->resumed, err);
    if (status == AB_OK)
        status = prepare_blocks(&c, err);
    for (uint32_t i = 0; i < session->n_backends; i++)
        n_alive += is_ours(&c, i);
    c.total = n_alive * ((c.n_rounds - session->n_rounds) *
                             (plan->processes + (plan->context.is_strict ? 1 : 3)) +
                         1);
    for (uint32_t b = session->n_rounds; b < c.n_rounds && status == AB_OK && n_alive > 0; b++) {
        uint32_t round = ab_shard_round(session->shard, plan->rounds, b);
        status = run_round(&c, round, err);
        if (status != AB_OK && session->n_rounds > b)
            drop_round(session, round);
        session->timer.floor_ns = ab_session_floor(session);
        if (status == AB_OK && plan->round_done != NULL)
            plan->round_done(plan->user, session);
    }
    for (uint32_t i = 0; i < session->n_backends; i++)
        free(c.marks[i]);
    free(c.marks);
    struct ab_fold fold = fold_of(&c, 0, 0);
    enum ab_status again = ab_fold_throughput_again(&fold, &c.throughput, quiet_limit(&c), err);
    status = status == AB_OK ? again : status;
    ab_throughput_fini(&c.throughput);
    ab_quiet_fini(&c.quiet);
    session->timer.floor_ns = ab_session_floor(session);
    session->is_complete = status == AB_OK;
    return status;
}
