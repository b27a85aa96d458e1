/* SPDX-License-Identifier: MIT
 *
 * Keeps a baseline from before the run to its end. Turns gates and comparison into one status.
 */
#include "app/decision.h"

#include "app/say.h"
#include "base/nearest.h"
#include "core/alloc.h"
#include "core/text.h"
#include "stats/compare_drift.h"
#include "stats/metric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- --base ----
 *
 * Names are the names of rows in the tables, settings included. If the base is absent or fails,
 * nothing is compared. This is not an error: the report shows the reason. */

static enum ab_status refuse_base(const char *name, const char *const *known, size_t n,
                                  struct ab_err *err)
{
    struct ab_text why = {0};
    const char *nearest = ab_text_nearest(name, known, n);
    if (nearest != NULL)
        ab_text_addf(&why, "did you mean '%s'? ", AB_SHOWN(200, nearest));
    ab_text_add(&why, n > 0 ? "there are: " : "there is none");
    for (size_t i = 0; i < n; i++)
        ab_text_addf(&why, "%s%s", i > 0 ? ", " : "", AB_SHOWN(200, known[i]));
    ab_fail(err, AB_USAGE, "--base: no back end '%s' to compare with; %s", AB_SHOWN(200, name),
            why.s);
    ab_text_fini(&why);
    return AB_USAGE;
}

enum ab_status ab_base_name_set(const char *name, struct ab_session *session, struct ab_err *err)
{
    const char **known = ab_alloc_zeroed(session->n_backends + 1, sizeof *known);
    char(*own)[AB_BACKEND_NAME_BYTES] = ab_alloc_zeroed(session->n_backends + 1, sizeof own[0]);
    size_t n = 0;
    bool is_found = false;
    for (uint32_t i = 0; name != NULL && i < session->n_backends; i++)
        if (!ab_backend_is_null(&session->backends[i])) {
            if (session->backends[i].combination == 0)
                known[n++] = ab_backend_own_name(&session->backends[i], own[i]);
            is_found = is_found || ab_backend_is_named(&session->backends[i], name);
        }
    if (is_found)
        session->base = name;
    enum ab_status status = name == NULL || is_found ? AB_OK : refuse_base(name, known, n, err);
    free(known);
    free(own);
    return status;
}

/* ---- the status ---- */

enum ab_status ab_verdict_status(const struct ab_verdicts_wanted *wanted,
                                 const struct ab_session *session)
{
    const struct ab_comparison *c = session->comparison;
    enum ab_status status = ab_gates_status(session);
    if (c != NULL)
        status = ab_status_worse(status, ab_comparison_status(c));
    if (status == AB_INCONCLUSIVE && !wanted->fails_inconclusive)
        status = AB_OK;
    if (c != NULL && c->is_advisory && wanted->is_strict)
        status = ab_status_worse(status, AB_GATE);
    return status;
}

/* ---- the baseline, from before the run to its end ---- */

static const struct ab_session *baseline_of(const struct ab_decision *d)
{
    return d->base.label != NULL ? &d->base.stored.session : NULL;
}

static enum ab_status find_baseline(const struct ab_measure_request *asked, struct ab_base *out,
                                    struct ab_err *err)
{
    const struct ab_verdicts_wanted *wanted = &asked->verdicts;
    if (wanted->baseline_item == NULL)
        return ab_base_find(&asked->store, &asked->talk, wanted->baseline, out, err);
    *out = ab_base_of_item(wanted->baseline_item, wanted->baseline);
    return AB_OK;
}

enum ab_status ab_decision_open(const struct ab_measure_request *asked, struct ab_decision *out,
                                struct ab_err *err)
{
    const struct ab_verdicts_wanted *wanted = &asked->verdicts;
    struct ab_decision d = {.wanted = wanted, .talk = &asked->talk};
    d.is_within = wanted->has_limit && wanted->baseline == NULL;
    enum ab_status status = wanted->baseline != NULL ? find_baseline(asked, &d.base, err) : AB_OK;
    if (status == AB_OK && wanted->baseline != NULL)
        status = ab_base_check(&d.base, err);
    if (status == AB_OK)
        *out = d;
    else
        ab_base_fini(&d.base);
    return status;
}

enum ab_status ab_decision_add_control(const struct ab_decision *d, struct ab_selection_list *list,
                                       struct ab_err *err)
{
    static const char name[] = "glibc";
    const struct ab_session *base = baseline_of(d);
    uint32_t i = 0;
    while (base != NULL && i < base->n_backends &&
           !(ab_backend_is_named(&base->backends[i], name) &&
             ab_backend_is_comparable(&base->backends[i])))
        i++;
    size_t n = list->n;
    if (base == NULL || i == base->n_backends || base->backends[i].build_id[0] == 0 ||
        n >= AB_SELECTION_MAX)
        return AB_OK;
    AB_TRY(ab_selection_add(list, name, err));
    if (list->n == n)
        return AB_OK;
    list->items[n].is_control = true;
    ab_say(d->talk,
           "allocbench: note: %s is measured too, as in the baseline, as a control for changes "
           "of the machine",
           name);
    return AB_OK;
}

enum ab_status ab_decision_check(const struct ab_decision *d, const struct ab_session *session,
                                 struct ab_err *err)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < session->n_backends; i++)
        n += session->backends[i].combination == 0 && !ab_backend_is_null(&session->backends[i]);
    if (d->is_within && n < 2)
        return ab_fail(err, AB_USAGE,
                       "--limit is about ratios: it needs two back ends, or a --baseline");
    if (baseline_of(d) == NULL)
        return AB_OK;
    return ab_compare_check_work(baseline_of(d), d->base.label, session, "this run", err);
}

/* Compares the session with its baseline, else with its base. Leaves *out empty if it has
 * neither. */
static void compare(const struct ab_decision *d, const struct ab_session *session,
                    struct ab_comparison *out)
{
    const struct ab_session *base = baseline_of(d);
    uint32_t backend = ab_session_base(session);
    if (base != NULL)
        ab_compare_results(base, session, d->wanted->limit, out);
    else if (d->is_within && backend != UINT32_MAX)
        ab_compare_backends(session, backend, d->wanted->limit, out);
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
        if (d->wanted->is_joint)
            ab_comparisons_join(&d->comparison, 1);
    }
    d->comparison.base_label = d->base.label;
    d->comparison.now_label = base != NULL ? "this run" : NULL;
    d->comparison.is_strict = d->wanted->is_strict;
    session->comparison = d->comparison.now != NULL ? &d->comparison : NULL;
}

/* True if the back end is a library that did not change since the baseline. The rounds that confirm
 * a verdict are judged relative to such libraries, as the first rounds were. */
static bool is_control(const struct ab_decision *d, const struct ab_backend_info *b)
{
    uint32_t base = ab_session_backend(baseline_of(d), b->name);
    return base != UINT32_MAX && ab_drift_is_unchanged(&baseline_of(d)->backends[base], b);
}

uint32_t ab_decision_suspicious(const struct ab_decision *d, const struct ab_session *session,
                                bool *is_concerned)
{
    const struct ab_comparison *c = &d->comparison;
    uint32_t n = ab_checks_suspicious(session->gates, session->n_gates, session, is_concerned) +
                 ab_checks_suspicious(c->cells, c->n_cells, session, is_concerned);
    for (uint32_t i = 0; baseline_of(d) != NULL && n > 0 && i < session->n_backends; i++)
        if (is_control(d, &session->backends[i]))
            is_concerned[i] = true;
    return n;
}

void ab_decision_confirm(struct ab_decision *d, struct ab_session *session,
                         struct ab_session *again)
{
    struct ab_comparison c = {0}, *of = &d->comparison;
    ab_gates_judge(d->gates->gates, d->gates->n_gates, again, baseline_of(d));
    compare(d, again, &c);
    ab_checks_confirm(session->gates, session->n_gates, again->gates, again->n_gates,
                      again->n_rounds);
    ab_checks_confirm(of->cells, of->n_cells, c.cells, c.n_cells, again->n_rounds);
    ab_comparison_fini(&c);
}

void ab_decision_close(struct ab_decision *d)
{
    ab_comparison_fini(&d->comparison);
    ab_base_fini(&d->base);
}
