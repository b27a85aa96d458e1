/* SPDX-License-Identifier: MIT
 *
 * Writes the plan of passes and the rule by which a session ended.
 */
#include "report/sinks/json_rounds.h"

#include "result/passes.h"

#include <math.h>

json_t *ab_json_passes(const struct ab_pass_plan *plan)
{
    if (!plan->is_known)
        return json_null();
    json_t *o = json_object();
#define PUT(pass) \
    if (pass != AB_PASS_THROUGHPUT) \
        ab_json_put(o, ab_pass_names[pass], \
                    plan->rounds[pass] == AB_EVERY_ROUND ? ab_json_string("all") \
                                                         : ab_json_integer(plan->rounds[pass]));
    AB_ROUND_PASSES(PUT)
#undef PUT
    return o;
}

json_t *ab_json_stopping(const struct ab_stopping *stopping)
{
    if (!(stopping->time_budget_s > 0) && !(stopping->precision > 0))
        return json_null();
    json_t *o = json_object();
    double budget = stopping->time_budget_s, precision = stopping->precision;
    ab_json_put(o, "time_budget_s", ab_json_real(budget > 0 ? budget : (double)NAN));
    ab_json_put(o, "precision", ab_json_real(precision > 0 ? precision : (double)NAN));
    ab_json_put(o, "rounds_most", ab_json_integer(stopping->n_rounds_most));
    ab_json_put(o, "spent_s", ab_json_real(stopping->spent_s));
    ab_json_put(o, "ended", ab_json_string(ab_ended_names[stopping->ended]));
    return o;
}
