/* SPDX-License-Identifier: MIT
 *
 * The clock beside the rule by which a session ends.
 */
#include "cli/benchmark/rounds/round_limit.h"

#include "base/clock.h"
#include "stats/stopping.h"

/* The default: the ranking of most allocators is clear long before. */
#define PRECISION_ENOUGH 0.02

static bool has_rule(const struct ab_options *o)
{
    return o->time_budget_ns > 0 || o->precision > 0;
}

uint32_t ab_round_limit_most(const struct ab_options *o)
{
    return has_rule(o) && !o->has_rounds ? AB_STOPPING_MOST_ROUNDS : o->rounds;
}

enum ab_status ab_round_limit_check(const struct ab_options *o, size_t n_backends,
                                    struct ab_err *err)
{
    const char *name = o->precision > 0 ? "precision" : "time-budget";
    if (has_rule(o) && o->shard.count > 0)
        return ab_fail(err, AB_USAGE,
                       "--shard and --%s are mutually exclusive: how many rounds there are must be "
                       "known before a part is run",
                       name);
    if (o->precision > 0 && n_backends < 2)
        return ab_fail(err, AB_USAGE,
                       "--precision is about ratios: it needs two back ends, here is one");
    if (o->precision > 0 && ab_round_limit_most(o) < AB_STOPPING_LEAST_ROUNDS)
        return ab_fail(err, AB_USAGE,
                       "--precision needs at least %d rounds, --rounds allows %u: below that there "
                       "are no intervals",
                       AB_STOPPING_LEAST_ROUNDS, ab_round_limit_most(o));
    return AB_OK;
}

void ab_round_limit_describe(const struct ab_options *o, const struct ab_session *resumed,
                             struct ab_session *session)
{
    session->stopping = (struct ab_stopping){
        .time_budget_s = (double)o->time_budget_ns * 1e-9,
        .precision = o->precision,
        .spent_s = resumed != NULL ? resumed->stopping.spent_s : 0,
        .n_rounds_most = session->n_rounds_planned,
    };
}

void ab_round_limit_by_default(const struct ab_options *o, struct ab_session *session)
{
    if (!has_rule(o) && !o->has_rounds && o->shard.count == 0 && session->n_backends > 1)
        session->stopping.precision = PRECISION_ENOUGH;
}

void ab_round_limit_begin(struct ab_round_limit *limit, struct ab_session *session)
{
    *limit = (struct ab_round_limit){.session = session, .earlier_s = session->stopping.spent_s};
    limit->began_ns = limit->round_ns = ab_clock_now_ns();
}

void ab_round_limit_round(struct ab_round_limit *limit)
{
    limit->round_ns = ab_clock_now_ns();
}

static bool is_ruled(const struct ab_session *s)
{
    return s->stopping.time_budget_s > 0 || s->stopping.precision > 0;
}

bool ab_round_limit_goes_on(struct ab_round_limit *limit)
{
    struct ab_session *s = limit->session;
    uint64_t now = ab_clock_now_ns();
    limit->last_s = (double)(now - limit->round_ns) * 1e-9;
    limit->round_ns = now;
    s->stopping.spent_s = limit->earlier_s + (double)(now - limit->began_ns) * 1e-9;
    if (!is_ruled(s))
        return true;
    s->stopping.ended = ab_stopping_decide(s, limit->last_s);
    if (s->stopping.ended == AB_ENDED_NOT)
        return true;
    s->n_rounds_planned = s->n_rounds;
    return false;
}

uint32_t ab_round_limit_expected(const struct ab_round_limit *limit)
{
    const struct ab_session *s = limit->session;
    return is_ruled(s) ? ab_stopping_expected(s, limit->last_s) : 0;
}
