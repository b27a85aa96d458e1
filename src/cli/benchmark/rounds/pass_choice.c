/* SPDX-License-Identifier: MIT
 *
 * As often as a pass needs: latencies in every round, for their percentiles differ from round to
 * round as times do. What all ops are looked at for, the tail and the memory, is nearly the same in
 * each process: it runs in as many rounds as an interval takes, unless a gate judges it.
 */
#include "cli/benchmark/rounds/pass_choice.h"

#include "result/passes.h"
#include "stats/effect.h"

/* By default. */
static uint32_t rounds_needed(enum ab_pass pass)
{
    return pass == AB_PASS_TAIL || pass == AB_PASS_MEMORY ? AB_EFFECT_MIN_ROUNDS : AB_EVERY_ROUND;
}

/* A gate has all the rounds that the session has. */
static bool is_gated(const struct ab_gate_set *gates, enum ab_pass pass)
{
    for (size_t i = 0; i < gates->n_gates; i++)
        if (ab_metric_pass(&gates->gates[i].metric) == pass)
            return true;
    return false;
}

static bool is_untimed(const struct ab_options *o, enum ab_pass pass)
{
    return o->is_strict && (pass == AB_PASS_LATENCY || pass == AB_PASS_TAIL);
}

static enum ab_status choose(const struct ab_options *o, const struct ab_gate_set *gates,
                             enum ab_pass pass, uint32_t *rounds, struct ab_err *err)
{
    uint32_t asked = o->has_passes ? o->passes.rounds[pass] : AB_PASS_AS_NEEDED;
    *rounds = asked;
    if (is_untimed(o, pass)) {
        *rounds = 0;
        if (o->has_passes && asked > 0)
            return ab_fail(err, AB_USAGE,
                           "--passes: %s cannot be measured with --order strict: no op is timed",
                           ab_pass_names[pass]);
    } else if (asked == AB_PASS_AS_NEEDED) {
        *rounds = is_gated(gates, pass) ? AB_EVERY_ROUND : rounds_needed(pass);
    }
    return AB_OK;
}

enum ab_status ab_pass_choice_make(const struct ab_options *o, const struct ab_gate_set *gates,
                                   const struct ab_session *resumed, struct ab_pass_plan *out,
                                   struct ab_err *err)
{
    enum ab_status status = AB_OK;
    struct ab_pass_plan plan = {.is_known = true};
#define CHOOSE(pass) \
    if (status == AB_OK) \
        status = choose(o, gates, pass, &plan.rounds[pass], err);
    AB_ROUND_PASSES(CHOOSE)
#undef CHOOSE
    plan.rounds[AB_PASS_THROUGHPUT] = AB_EVERY_ROUND;
    if (status != AB_OK)
        return status;
    if (resumed != NULL && !o->has_passes)
        plan = resumed->passes;
    if (o->is_strict && resumed != NULL &&
        (!plan.is_known || plan.rounds[AB_PASS_LATENCY] > 0 || plan.rounds[AB_PASS_TAIL] > 0))
        return ab_fail(err, AB_INPUT, "--resume: has latencies of a run in strict order");
    *out = plan;
    return o->is_strict ? AB_OK : ab_gate_set_check_passes(gates, &plan, err);
}
