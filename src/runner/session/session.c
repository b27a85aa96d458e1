/* SPDX-License-Identifier: MIT
 *
 * The order of a session: pre-flights first, then rounds with the nulls, the back ends in shuffled
 * order, and every pass. What was interrupted in the middle of a round is dropped.
 */
#include "runner/session/session.h"

#include "core/memory.h"
#include "result/merge/shard.h"
#include "result/passes.h"
#include "result/session.h"
#include "runner/count_round.h"
#include "runner/fold/fold_depth.h"
#include "runner/fold/fold_heaps.h"
#include "runner/fold/fold_iterations.h"
#include "runner/fold/fold_memory.h"
#include "runner/session/conductor.h"
#include "runner/session/resume.h"

#include <stdlib.h>

/* Runs in this session's rounds: not one that belongs to another shard of a divided round. */
static bool is_ours(const struct ab_conductor *c, uint32_t backend)
{
    return ab_conductor_is_running(c, backend) &&
           ab_shard_has_backend(c->session->shard, c->plan->rounds, backend);
}

/* Does a null run for it, because one of ours has its harness and none before it has? */
static bool is_null_of_ours(const struct ab_conductor *c, uint32_t backend)
{
    for (uint32_t i = backend; i < c->session->n_backends; i++)
        if (is_ours(c, i) && ab_session_harness(c->session, i) == backend)
            return true;
    return false;
}

static enum ab_status run_nulls(struct ab_conductor *c, uint32_t round, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    for (uint32_t i = 0; i < c->session->n_backends && status == AB_OK; i++)
        if (is_null_of_ours(c, i))
            status = ab_conduct_null(c, i, round, err);
    return status;
}

static void say_counting(void *user, const char *backend, enum ab_pass pass)
{
    ab_conductor_say(user, backend, pass);
}

static enum ab_status run_counts(struct ab_conductor *c, uint32_t round, struct ab_err *err)
{
    struct ab_count_plan plan = {.context = &c->plan->context,
                                 .cases = c->plan->cases,
                                 .session = c->session,
                                 .round = round,
                                 .sample_ops = c->plan->instr_ops,
                                 .say = say_counting,
                                 .user = c};
    return ab_count_round(&plan, err);
}

/* One pass of all back ends, in this order. */
static enum ab_status run_pass(struct ab_conductor *c, const struct ab_round *round,
                               enum ab_pass pass, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    for (uint32_t i = 0; i < round->n_order && status == AB_OK; i++) {
        uint32_t backend = round->order[i];
        if (ab_conductor_is_running(c, backend) &&
            (pass == AB_PASS_THROUGHPUT || !ab_conductor_is_decorated(c, backend)))
            status = ab_conduct_pass(c, backend, round->index, pass, err);
    }
    return status;
}

/* Several processes each, one after the other of all: where a process comes to lie in memory decides
 * over some percent of its time. */
static enum ab_status run_throughput(struct ab_conductor *c, const struct ab_round *round,
                                     struct ab_err *err)
{
    enum ab_status status = AB_OK;
    for (uint32_t i = 0; i < c->plan->processes && status == AB_OK; i++)
        status = run_pass(c, round, AB_PASS_THROUGHPUT, err);
    for (uint32_t i = 0; i < round->n_order && status == AB_OK; i++) {
        struct ab_fold fold = ab_conductor_fold(c, round->order[i], round->index);
        if (ab_conductor_is_running(c, round->order[i]))
            ab_fold_throughput(&fold, &c->throughput, ab_conductor_quiet_limit(c));
    }
    return status;
}

static enum ab_status run_round(struct ab_conductor *c, uint32_t index, struct ab_err *err)
{
    struct ab_session *s = c->session;
    ab_rng_init(&c->rng, s->seed, AB_ROUND_STREAM(index));
    uint32_t *order = ab_alloc_zeroed(s->n_backends, sizeof order[0]), n_all = 0, n = 0;
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (ab_conductor_is_running(c, i))
            order[n_all++] = i;
    ab_rng_shuffle(&c->rng, order, n_all);
    for (uint32_t i = 0; i < n_all; i++) /* of all, so that a shard keeps the order of the whole */
        if (is_ours(c, order[i]))
            order[n++] = order[i];
    struct ab_round *round = &s->rounds[s->n_rounds];
    *round = (struct ab_round){.index = index, .order = order, .n_order = n};
    enum ab_status status = run_nulls(c, index, err);
    if (status == AB_OK)
        status = run_throughput(c, round, err);
    for (int pass = AB_PASS_LATENCY; pass <= AB_PASS_MEMORY && status == AB_OK; pass++)
        if (ab_pass_is_in(&s->passes, (enum ab_pass)pass, index))
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
    ab_fold_heaps_drop(s, AB_FOLD_ANY, round);
    ab_fold_drop_memory(s, AB_FOLD_ANY, round);
    ab_fold_drop_iterations(s, AB_FOLD_ANY, round);
    free((void *)s->rounds[--s->n_rounds].order);
}

static enum ab_status run_preflights(struct ab_conductor *c, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    ab_rng_init(&c->rng, c->session->seed, AB_PREFLIGHT_STREAM);
    for (uint32_t i = 0; i < c->session->n_backends && status == AB_OK; i++)
        if (ab_conductor_is_running(c, i))
            status = ab_conduct_preflight(c, i, err);
    return status;
}

/* Room for all rounds, with those that were measured before. */
static void prepare_blocks(struct ab_conductor *c)
{
    struct ab_session *s = c->session;
    if (c->plan->resumed != NULL)
        ab_resume_adopt(s, c->plan->resumed);
    s->rounds = ab_realloc(s->rounds, c->n_rounds + (size_t)1, sizeof s->rounds[0]);
}

/* Runs of n_alive back ends and n_nulls nulls in all rounds from `first` on. The first memory pass of
 * a back end has one more. */
static uint32_t count_runs(const struct ab_conductor *c, uint32_t first, uint32_t n_alive,
                           uint32_t n_nulls)
{
    uint32_t n = 0, n_of_null = 0;
    bool has_memory = false;
    for (uint32_t b = first; b < c->n_rounds; b++) {
        uint32_t round = ab_shard_round(c->session->shard, c->plan->rounds, b);
        n += c->plan->processes;
        for (int pass = AB_PASS_LATENCY; pass <= AB_PASS_MEMORY; pass++)
            n += ab_pass_is_in(&c->session->passes, (enum ab_pass)pass, round);
        has_memory = has_memory || ab_pass_is_in(&c->session->passes, AB_PASS_MEMORY, round);
        n_of_null += ab_conduct_null_runs(c, round);
    }
    return n_alive * (n + has_memory) + n_nulls * n_of_null;
}

/* All rounds that are missing, until the plan has had enough. */
static enum ab_status run_rounds(struct ab_conductor *c, struct ab_err *err)
{
    struct ab_session *s = c->session;
    enum ab_status status = AB_OK;
    bool goes_on = true;
    uint32_t n_alive = 0, n_nulls = 0;
    for (uint32_t i = 0; i < s->n_backends; i++) {
        n_alive += is_ours(c, i);
        n_nulls += is_null_of_ours(c, i);
    }
    c->total = count_runs(c, s->n_rounds, n_alive, n_nulls);
    for (uint32_t b = s->n_rounds; b < c->n_rounds && status == AB_OK && n_alive > 0 && goes_on;
         b++) {
        uint32_t round = ab_shard_round(s->shard, c->plan->rounds, b);
        status = run_round(c, round, err);
        if (status != AB_OK && s->n_rounds > b)
            drop_round(s, round);
        s->timer.floor_ns = ab_session_floor(s);
        if (status == AB_OK && c->plan->round_done != NULL)
            goes_on = c->plan->round_done(c->plan->user, s);
    }
    return status;
}

static enum ab_status run_all(struct ab_conductor *c, struct ab_err *err)
{
    const struct ab_session_plan *plan = c->plan;
    if (plan->resumed != NULL)
        ab_resume_keep_failed(c->session, plan->resumed);
    enum ab_status status = run_preflights(c, err);
    if (status == AB_OK && plan->resumed != NULL)
        status = ab_resume_check_backends(c->session, plan->resumed, err);
    if (status == AB_OK)
        prepare_blocks(c);
    if (status == AB_OK)
        status = ab_slice_grid_settle(c, err);
    if (status == AB_OK)
        status = run_rounds(c, err);
    struct ab_fold fold = ab_conductor_fold(c, 0, 0);
    ab_fold_throughput_again(&fold, &c->throughput, ab_conductor_quiet_limit(c));
    return status;
}

enum ab_status ab_session_run(const struct ab_session_plan *plan, struct ab_session *session,
                              struct ab_err *err)
{
    struct ab_conductor c = {.plan = plan,
                             .session = session,
                             .n_rounds = ab_shard_n_rounds(session->shard, plan->rounds),
                             .context = plan->context};
    c.marks = ab_alloc_zeroed(session->n_backends + 1, sizeof c.marks[0]);
    ab_quiet_init(&c.quiet);
    c.context.quiet = &c.quiet;
    enum ab_status status = run_all(&c, err);
    for (uint32_t i = 0; i < session->n_backends; i++)
        free(c.marks[i]);
    free(c.marks);
    ab_throughput_fini(&c.throughput);
    ab_quiet_fini(&c.quiet);
    session->timer.floor_ns = ab_session_floor(session);
    session->is_complete = status == AB_OK;
    return status;
}
