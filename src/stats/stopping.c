/* SPDX-License-Identifier: MIT
 *
 * Implements the rules by which a session ends.
 */
#include "stats/stopping.h"

#include "stats/metric.h"

#include <math.h>

_Static_assert((int)AB_STOPPING_LEAST_ROUNDS == (int)AB_EFFECT_MIN_ROUNDS,
               "a session ends no earlier than there are intervals");

/* If no ratio exists, a session ends after this number of rounds, which is the default number. */
enum { ROUNDS_WITHOUT_RATIO = 10 };

double ab_session_precision(const struct ab_session *s)
{
    double widest = NAN;
    for (uint32_t i = 0; i < s->n_backends; i++) {
        uint32_t base = ab_session_base_of(s, i);
        if (base == UINT32_MAX || i == base || !ab_backend_is_comparable(&s->backends[i]))
            continue;
        struct ab_effect e = ab_session_lead(s, i, base);
        /* the same for a / b and for b / a, because the distance is relative */
        double half = fmax(e.high / e.ratio, e.ratio / e.low) - 1;
        widest = fmax(widest, isnan(half) ? (double)INFINITY : half);
    }
    return widest;
}

static uint32_t least_rounds(const struct ab_stopping *rule)
{
    return rule->n_rounds_most < AB_STOPPING_LEAST_ROUNDS ? rule->n_rounds_most
                                                          : AB_STOPPING_LEAST_ROUNDS;
}

static bool is_narrow(const struct ab_session *s)
{
    return s->stopping.precision > 0 && ab_session_precision(s) <= s->stopping.precision;
}

/* True if more rounds have no aim: there is no ratio whose interval could become narrow, and no
 * time budget. */
static bool is_aimless(const struct ab_session *s)
{
    return s->stopping.precision > 0 && !(s->stopping.time_budget_s > 0) &&
           s->n_rounds >= ROUNDS_WITHOUT_RATIO && isnan(ab_session_precision(s));
}

enum ab_ended ab_stopping_decide(const struct ab_session *s, double round_s)
{
    const struct ab_stopping *rule = &s->stopping;
    if (s->n_rounds >= rule->n_rounds_most)
        return AB_ENDED_ROUNDS;
    if (s->n_rounds < least_rounds(rule))
        return AB_ENDED_NOT;
    if (is_narrow(s))
        return AB_ENDED_PRECISION;
    if (is_aimless(s))
        return AB_ENDED_ROUNDS;
    if (rule->time_budget_s > 0 && rule->spent_s + round_s > rule->time_budget_s)
        return AB_ENDED_TIME;
    return AB_ENDED_NOT;
}

static double clamp(double x, double least, double most)
{
    return fmax(least, fmin(x, most));
}

uint32_t ab_stopping_expected(const struct ab_session *s, double round_s)
{
    const struct ab_stopping *rule = &s->stopping;
    double n = rule->n_rounds_most, least = fmax(s->n_rounds, least_rounds(rule));
    double width = rule->precision > 0 ? ab_session_precision(s) : (double)NAN;
    if (rule->precision > 0 && !isfinite(width) && !(rule->time_budget_s > 0))
        return 0;
    /* an interval becomes narrower with the square root of the number of rounds */
    if (isfinite(width))
        n = fmin(n, ceil(s->n_rounds * (width / rule->precision) * (width / rule->precision)));
    if (rule->time_budget_s > 0 && round_s > 0)
        n = fmin(n, s->n_rounds + floor((rule->time_budget_s - rule->spent_s) / round_s));
    return (uint32_t)clamp(n, least, rule->n_rounds_most);
}
