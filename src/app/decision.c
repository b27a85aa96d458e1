/* SPDX-License-Identifier: MIT
 *
 * Holds a baseline from before the run to its end, and turns gates and comparison into one status.
 */
#include "app/decision.h"

#include "app/say.h"
#include "app/verdict.h"
#include "report/table/sink_compare.h"
#include "stats/aggregate.h"
#include "stats/compare_drift.h"
#include "stats/compare_notes.h"

#include <stdlib.h>

static const struct ab_session *baseline_of(const struct ab_decision *d)
{
    return d->base.label != NULL ? &d->base.stored.session : NULL;
}

static const struct ab_comparison *comparison_of(const struct ab_decision *d)
{
    return d->comparison.now != NULL ? &d->comparison : NULL;
}

/* Which option asks for a comparison that there will not be; NULL = none does. */
static const char *find_idle(const struct ab_decision *d)
{
    const struct ab_options *o = d->options;
    if (o->baseline != NULL)
        return NULL;
    return o->is_strict_compare ? "strict" : o->is_joint && !d->is_within ? "jointly" : NULL;
}

enum ab_status ab_decision_open(const struct ab_options *o, struct ab_decision *out,
                                struct ab_err *err)
{
    struct ab_decision d = {.options = o};
    d.is_within = o->has_limit && o->baseline == NULL;
    const char *idle = find_idle(&d);
    if (idle != NULL)
        return ab_fail(err, AB_USAGE, "--%s requires %s--baseline NAME|FILE", idle,
                       o->is_joint && !o->is_strict_compare ? "--limit or " : "");
    enum ab_status status = AB_OK;
    if (o->baseline != NULL && (status = ab_base_find(o, o->baseline, &d.base, err)) == AB_OK)
        status = ab_base_check(&d.base, err);
    if (status == AB_OK)
        *out = d;
    else
        ab_base_fini(&d.base);
    return status;
}

enum ab_status ab_decision_add_witness(const struct ab_decision *d, struct ab_selection_list *list,
                                       struct ab_err *err)
{
    static const char name[] = "glibc";
    const struct ab_session *base = baseline_of(d);
    uint32_t i = base != NULL ? ab_compare_find(base, name) : UINT32_MAX;
    size_t n = list->n;
    if (i == UINT32_MAX || !ab_backend_is_comparable(&base->backends[i]) ||
        base->backends[i].build_id[0] == 0 || n >= AB_SELECTION_MAX)
        return AB_OK;
    AB_TRY(ab_selection_add(list, name, err));
    if (list->n == n)
        return AB_OK;
    list->items[n].is_along = true;
    ab_say(d->options,
           "allocbench: note: %s is measured along, as in the baseline: it shows what the "
           "machine did",
           name);
    return AB_OK;
}

enum ab_status ab_decision_check(const struct ab_decision *d, const struct ab_session *session,
                                 struct ab_err *err)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < session->n_backends; i++)
        n += !ab_backend_is_null(&session->backends[i]);
    if (d->is_within && n < 2)
        return ab_fail(err, AB_USAGE,
                       "--limit is about ratios: it needs two back ends, or a --baseline");
    if (baseline_of(d) == NULL)
        return AB_OK;
    return ab_compare_check_work(baseline_of(d), d->base.label, session, "this run", err);
}

/* *out stays empty where there is nothing to compare with. */
static void compare(const struct ab_decision *d, const struct ab_session *session,
                    struct ab_comparison *out)
{
    const struct ab_session *base = baseline_of(d);
    uint32_t backend = ab_session_base(session);
    if (base != NULL)
        ab_compare_results(base, session, d->options->limit, out);
    else if (d->is_within && backend != UINT32_MAX)
        ab_compare_backends(session, backend, d->options->limit, out);
}

void ab_decision_make(struct ab_decision *d, const struct ab_gate_set *gates,
                      struct ab_session *session)
{
    const struct ab_session *base = baseline_of(d);
    d->gates = gates;
    ab_gates_judge(gates->gates, gates->n_gates, session, base);
    ab_claims_measure(gates->claims, gates->n_claims, session);
    if (session->is_complete) {
        compare(d, session, &d->comparison);
        if (d->options->is_joint)
            ab_comparisons_join(&d->comparison, 1);
    }
    d->comparison.base_label = d->base.label;
    d->comparison.now_label = base != NULL ? "this run" : NULL;
    d->comparison.is_strict = d->options->is_strict_compare;
    session->comparison = comparison_of(d);
}

/* New rounds are judged relative to the libraries that did not change, as the first were. */
static bool is_witness(const struct ab_decision *d, const struct ab_backend_info *b)
{
    uint32_t base = ab_compare_find(baseline_of(d), b->name);
    return base != UINT32_MAX && ab_drift_is_unchanged(&baseline_of(d)->backends[base], b);
}

uint32_t ab_decision_suspicious(const struct ab_decision *d, const struct ab_session *session,
                                bool *is_concerned)
{
    uint32_t n = ab_gates_suspicious(session, is_concerned);
    if (comparison_of(d) != NULL)
        n += ab_comparison_suspicious(&d->comparison, is_concerned);
    for (uint32_t i = 0; baseline_of(d) != NULL && n > 0 && i < session->n_backends; i++)
        if (is_witness(d, &session->backends[i]))
            is_concerned[i] = true;
    return n;
}

void ab_decision_confirm(struct ab_decision *d, struct ab_session *session,
                         struct ab_session *again)
{
    struct ab_comparison c = {0};
    const struct ab_session *base = baseline_of(d);
    ab_gates_judge(d->gates->gates, d->gates->n_gates, again, base);
    compare(d, again, &c);
    ab_gates_confirm(session, again);
    ab_comparison_confirm(&d->comparison, &c);
    ab_comparison_fini(&c);
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

void ab_decision_print_next(const struct ab_decision *d, const struct ab_session *session,
                            bool is_stored, FILE *to, struct ab_table_style style)
{
    ab_verdict_print_next(to, d->options, comparison_of(d), session, is_stored ? "" : NULL, style);
}

void ab_decision_close(struct ab_decision *d)
{
    ab_comparison_fini(&d->comparison);
    ab_base_fini(&d->base);
}
