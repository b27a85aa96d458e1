/* SPDX-License-Identifier: MIT
 *
 * Holds a baseline from before the run to its end, and turns gates and comparison into one status.
 */
#include "cli/compare/decision.h"

#include "cli/compare/verdict.h"
#include "report/table/sink_compare.h"

#include <stdlib.h>

static const struct ab_session *baseline_of(const struct ab_decision *d)
{
    return d->base.label != NULL ? &d->base.stored.session : NULL;
}

static const struct ab_comparison *comparison_of(const struct ab_decision *d)
{
    return d->comparison.now != NULL ? &d->comparison : NULL;
}

enum ab_status ab_decision_open(const struct ab_options *o, struct ab_decision *out,
                                struct ab_err *err)
{
    struct ab_decision d = {.options = o};
    if (o->baseline == NULL && (o->has_limit || o->is_strict_compare || o->is_joint))
        return ab_fail(err, AB_USAGE,
                       "--%s is about a comparison: give --baseline NAME|FILE as well",
                       o->has_limit           ? "limit"
                       : o->is_strict_compare ? "strict"
                                              : "jointly");
    enum ab_status status = AB_OK;
    if (o->baseline != NULL && (status = ab_base_find(o, o->baseline, &d.base, err)) == AB_OK)
        status = ab_base_check(&d.base, err);
    if (status == AB_OK)
        *out = d;
    else
        ab_base_fini(&d.base);
    return status;
}

enum ab_status ab_decision_check(const struct ab_decision *d, const struct ab_session *session,
                                 struct ab_err *err)
{
    if (baseline_of(d) == NULL)
        return AB_OK;
    return ab_compare_check_work(baseline_of(d), d->base.label, session, "this run", err);
}

enum ab_status ab_decision_make(struct ab_decision *d, const struct ab_gate_set *gates,
                                struct ab_session *session, struct ab_err *err)
{
    const struct ab_session *base = baseline_of(d);
    d->gates = gates;
    bool ok = ab_gates_judge(gates->gates, gates->n_gates, session, base) &&
              ab_claims_measure(gates->claims, gates->n_claims, session);
    if (ok && base != NULL && session->is_complete)
        ok = ab_compare_results(base, session, d->options->limit, true, &d->comparison) &&
             (!d->options->is_joint || ab_comparisons_join(&d->comparison, 1));
    if (!ok)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    d->comparison.base_label = d->base.label;
    d->comparison.now_label = base != NULL ? "this run" : NULL;
    d->comparison.is_strict = d->options->is_strict_compare;
    session->comparison = comparison_of(d);
    return AB_OK;
}

uint32_t ab_decision_suspicious(const struct ab_decision *d, const struct ab_session *session,
                                bool *is_concerned)
{
    uint32_t n = ab_gates_suspicious(session, is_concerned);
    return comparison_of(d) == NULL ? n
                                    : n + ab_comparison_suspicious(&d->comparison, is_concerned);
}

enum ab_status ab_decision_confirm(struct ab_decision *d, struct ab_session *session,
                                   struct ab_session *again, struct ab_err *err)
{
    struct ab_comparison c = {0};
    const struct ab_session *base = baseline_of(d);
    bool ok = ab_gates_judge(d->gates->gates, d->gates->n_gates, again, base);
    if (ok && base != NULL)
        ok = ab_compare_results(base, again, d->options->limit, true, &c);
    if (!ok)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    ab_gates_confirm(session, again);
    if (base != NULL)
        ab_comparison_confirm(&d->comparison, &c);
    ab_comparison_fini(&c);
    return AB_OK;
}

enum ab_status ab_decision_status(const struct ab_decision *d, const struct ab_session *session)
{
    return ab_verdict_status(d->options, comparison_of(d), session);
}

void ab_decision_print(const struct ab_decision *d, FILE *to, struct ab_table_style style)
{
    if (comparison_of(d) == NULL)
        return;
    fputc('\n', to);
    ab_sink_compare(to, &d->comparison, style);
}

void ab_decision_print_next(const struct ab_decision *d, const struct ab_session *session, FILE *to,
                            struct ab_table_style style)
{
    ab_verdict_print_next(to, comparison_of(d), session, style);
}

void ab_decision_close(struct ab_decision *d)
{
    ab_comparison_fini(&d->comparison);
    ab_base_fini(&d->base);
}
