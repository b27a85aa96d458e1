/* SPDX-License-Identifier: MIT
 *
 * Applies the rule that ends a session, measures its time, and chooses the passes of its rounds.
 */
#include "app/rounds.h"

#include "app/say.h"
#include "base/clock.h"
#include "result/merge/shard_part.h"
#include "result/passes.h"
#include "stats/effect.h"
#include "stats/stopping.h"

/* Latency runs in every round, because its percentiles vary between rounds as times do. The tail
 * and memory passes look at all ops, and their numbers are nearly the same in each process. By
 * default they run in only as many rounds as an interval needs, unless a gate judges them. */

/* Returns the number of rounds that a pass gets by default. */
static uint32_t rounds_needed(enum ab_pass pass)
{
    return pass == AB_PASS_TAIL || pass == AB_PASS_MEMORY ? AB_EFFECT_MIN_ROUNDS : AB_EVERY_ROUND;
}

/* True if a gate judges a metric of the pass. The pass then runs in every round. */
static bool is_gated(const struct ab_gate_set *gates, enum ab_pass pass)
{
    for (size_t i = 0; i < gates->n_gates; i++)
        if (ab_metric_pass(&gates->gates[i].metric) == pass)
            return true;
    return false;
}

static bool is_untimed(bool is_strict, enum ab_pass pass)
{
    return is_strict && (pass == AB_PASS_LATENCY || pass == AB_PASS_TAIL);
}

static enum ab_status choose(const struct ab_passes_wanted *wanted, bool is_strict,
                             const struct ab_gate_set *gates, enum ab_pass pass, uint32_t *rounds,
                             struct ab_err *err)
{
    uint32_t asked = wanted->is_given ? wanted->plan.rounds[pass] : AB_PASS_AS_NEEDED;
    *rounds = asked;
    if (is_untimed(is_strict, pass)) {
        *rounds = 0;
        if (wanted->is_given && asked > 0)
            return ab_fail(err, AB_USAGE,
                           "--passes: %s cannot be measured with --order strict: no op is timed",
                           ab_pass_names[pass]);
    } else if (asked == AB_PASS_AS_NEEDED) {
        *rounds = is_gated(gates, pass) ? AB_EVERY_ROUND : rounds_needed(pass);
    }
    return AB_OK;
}

enum ab_status ab_pass_choice_make(const struct ab_passes_wanted *wanted, bool is_strict,
                                   const struct ab_gate_set *gates,
                                   const struct ab_session *resumed, struct ab_pass_plan *out,
                                   struct ab_err *err)
{
    enum ab_status status = AB_OK;
    struct ab_pass_plan plan = {.is_known = true};
#define CHOOSE(pass) \
    if (status == AB_OK) \
        status = choose(wanted, is_strict, gates, pass, &plan.rounds[pass], err);
    AB_ROUND_PASSES(CHOOSE)
#undef CHOOSE
    plan.rounds[AB_PASS_THROUGHPUT] = AB_EVERY_ROUND;
    if (status != AB_OK)
        return status;
    if (resumed != NULL && !wanted->is_given)
        plan = resumed->passes;
    if (is_strict && resumed != NULL &&
        (!plan.is_known || plan.rounds[AB_PASS_LATENCY] > 0 || plan.rounds[AB_PASS_TAIL] > 0))
        return ab_fail(err, AB_INPUT, "--resume: has latencies of a run in strict order");
    *out = plan;
    return is_strict ? AB_OK : ab_gate_set_check_passes(gates, &plan, err);
}

/* ---- watching a running session ---- */

void ab_round_watch_begin(struct ab_round_watch *watch, const struct ab_talk *talk,
                          struct ab_store *store, struct ab_session *session)
{
    if (talk->listener != NULL)
        talk->listener->begin(talk, session);
    *watch = (struct ab_round_watch){.talk = talk,
                                     .store = store,
                                     .session = session,
                                     .earlier_s = session->stopping.spent_s,
                                     .began_ns = ab_clock_now_ns()};
    watch->round_ns = watch->began_ns;
}

void ab_round_watch_progress(void *user, const struct ab_progress *p)
{
    struct ab_round_watch *watch = user;
    if (!watch->has_round && p->n_rounds > 0)
        /* the first round does not include the time before it */
        watch->round_ns = ab_clock_now_ns();
    watch->has_round = watch->has_round || p->n_rounds > 0;
    if (watch->talk->listener != NULL)
        watch->talk->listener->progress(p);
}

/* Ends a round. Stores the result, except after the last round, because the final result is stored
 * with the verdicts. */
bool ab_round_watch_end_round(void *user, const struct ab_session *session)
{
    struct ab_round_watch *watch = user;
    struct ab_stopping *rule = &watch->session->stopping;
    bool is_ruled = rule->time_budget_s > 0 || rule->precision > 0;
    uint64_t now = ab_clock_now_ns();
    double round_s = (double)(now - watch->round_ns) * 1e-9;
    watch->round_ns = now;
    rule->spent_s = watch->earlier_s + (double)(now - watch->began_ns) * 1e-9;
    if (is_ruled)
        rule->ended = ab_stopping_decide(session, round_s);
    bool goes_on = !is_ruled || rule->ended == AB_ENDED_NOT;
    if (!goes_on)
        watch->session->n_rounds_planned = session->n_rounds;
    if (watch->talk->listener != NULL)
        watch->talk->listener->round(session,
                                     is_ruled ? ab_stopping_expected(session, round_s) : 0);
    if (session->n_rounds < ab_shard_n_rounds(session->shard, session->n_rounds_planned))
        ab_store_save(watch->store, session);
    return goes_on;
}

void ab_round_watch_end(struct ab_round_watch *watch)
{
    if (watch->talk->listener != NULL)
        watch->talk->listener->end();
}
