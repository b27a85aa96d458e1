/* SPDX-License-Identifier: MIT
 *
 * Implements the rule and the names of verdicts, and the confirmation of failures.
 */
#include "stats/check.h"

#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const ab_gate_verdicts[AB_VERDICT_COUNT] = {
    [AB_VERDICT_PASS] = "pass",
    [AB_VERDICT_FAIL] = "fail",
    [AB_VERDICT_NOT_EVALUATED] = "not_evaluated",
    [AB_VERDICT_SKIPPED] = "skipped",
    [AB_VERDICT_INCONCLUSIVE] = "inconclusive",
};

const char *const ab_comparison_verdicts[AB_VERDICT_COUNT] = {
    [AB_VERDICT_PASS] = "ok",
    [AB_VERDICT_FAIL] = "regressed",
    [AB_VERDICT_NOT_EVALUATED] = "failed",
    [AB_VERDICT_INCONCLUSIVE] = "inconclusive",
    [AB_VERDICT_IMPROVED] = "improved",
    [AB_VERDICT_MOVED] = "machine moved",
};

bool ab_check_is_judged(const struct ab_checked *check)
{
    return check->text != NULL || !isnan(check->bound) ||
           check->verdict == AB_VERDICT_NOT_EVALUATED;
}

const struct ab_effect *ab_check_judged_effect(const struct ab_checked *check)
{
    return check->relative.ratio > 0 ? &check->relative : &check->effect;
}

int ab_check_direction(const struct ab_checked *check)
{
    const struct ab_effect *e = &check->effect;
    if (ab_check_is_judged(check) || check->reason[0] != 0 || isnan(e->low) || isnan(e->high))
        return 0;
    return (e->low > 1) - (e->high < 1);
}

const char *ab_check_word(const struct ab_checked *check)
{
    static const char *const directions[] = {"better", "~", "worse"};
    if (ab_check_is_judged(check))
        return (check->text != NULL ? ab_gate_verdicts : ab_comparison_verdicts)[check->verdict];
    if (isnan(check->effect.low) || isnan(check->effect.high))
        return "n/a";
    return directions[1 + ab_check_direction(check)];
}

const char *ab_check_unit(const struct ab_checked *check, char *buf, size_t cap)
{
    bool is_factor = check->against != AB_AGAINST_NOTHING;
    snprintf(buf, cap, "%s%s", is_factor ? "x " : "",
             check->against == AB_AGAINST_BACKEND    ? check->base_backend
             : check->against == AB_AGAINST_LIVE     ? "live"
             : check->against == AB_AGAINST_BASELINE ? "baseline"
                                                     : check->unit);
    return buf;
}

bool ab_check_holds(enum ab_check_compare compare, double value, double bound)
{
    switch (compare) {
    case AB_CHECK_LESS:
        return value < bound;
    case AB_CHECK_AT_MOST:
        return value <= bound;
    case AB_CHECK_MORE:
        return value > bound;
    case AB_CHECK_AT_LEAST:
        return value >= bound;
    case AB_CHECK_IS:
        return value == bound;
    }
    return false;
}

enum ab_verdict ab_check_decide(const struct ab_effect *e, enum ab_check_compare compare,
                                double bound)
{
    bool is_most = compare == AB_CHECK_LESS || compare == AB_CHECK_AT_MOST;
    double worst = is_most ? e->high : e->low, best = is_most ? e->low : e->high;
    bool is_worse = is_most ? best > fmin(1, bound) : best < fmax(1, bound);
    if (ab_check_holds(compare, worst, bound))
        return AB_VERDICT_PASS;
    return !ab_check_holds(compare, e->ratio, bound) && is_worse ? AB_VERDICT_FAIL
                                                                 : AB_VERDICT_INCONCLUSIVE;
}

/* ---- confirmation of failures ----
 *
 * A ratio that fails is judged again on new rounds. If chance fails one check in twenty, it fails
 * the same check twice in a row only once in four hundred. */

/* True for a failure that may not occur again in new rounds. Only ratios are measured again, no
 * absolute numbers. */
static bool is_suspicious(const struct ab_checked *c)
{
    return c->verdict == AB_VERDICT_FAIL && ab_check_is_judged(c) &&
           (c->against == AB_AGAINST_BACKEND || c->against == AB_AGAINST_BASELINE);
}

static bool is_same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Marks row `b` and the row that it is compared with. c->base_backend is the name of that row, or
 * in a gate the back end's own name without the values of its combination. */
static void mark_concerned(const struct ab_session *s, uint32_t b, const struct ab_checked *c,
                           bool *is_concerned)
{
    is_concerned[b] = true;
    for (uint32_t i = 0; i < s->n_backends && c->against == AB_AGAINST_BACKEND; i++) {
        const struct ab_backend_info *other = &s->backends[i];
        if (other->combination == s->backends[b].combination &&
            (strcmp(other->name, c->base_backend) == 0 ||
             ab_backend_is_named(other, c->base_backend)))
            is_concerned[i] = true;
    }
}

uint32_t ab_checks_suspicious(const struct ab_checked *list, uint32_t n,
                              const struct ab_session *session, bool *is_concerned)
{
    uint32_t n_suspicious = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct ab_checked *c = &list[i];
        if (!is_suspicious(c) || c->backend == NULL)
            continue;
        for (uint32_t b = 0; b < session->n_backends; b++)
            if (strcmp(session->backends[b].name, c->backend) == 0)
                mark_concerned(session, b, c, is_concerned);
        n_suspicious++;
    }
    return n_suspicious;
}

static const struct ab_checked *find_same(const struct ab_checked *list, uint32_t n,
                                          const struct ab_checked *like)
{
    for (uint32_t i = 0; i < n; i++)
        if (ab_check_is_judged(&list[i]) && is_same_text(list[i].text, like->text) &&
            is_same_text(list[i].metric, like->metric) &&
            is_same_text(list[i].backend, like->backend) &&
            is_same_text(list[i].base_backend, like->base_backend))
            return &list[i];
    return NULL;
}

void ab_checks_confirm(struct ab_checked *list, uint32_t n, const struct ab_checked *again,
                       uint32_t n_again, uint32_t n_rounds)
{
    for (uint32_t i = 0; i < n; i++) {
        struct ab_checked *c = &list[i];
        const struct ab_checked *other = is_suspicious(c) ? find_same(again, n_again, c) : NULL;
        bool is_gate = c->text != NULL;
        if (other == NULL || other->verdict == AB_VERDICT_NOT_EVALUATED)
            continue; /* the check was not measured again, so its failure stands */
        double first = ab_check_judged_effect(c)->ratio;
        c->n_confirm = is_gate ? n_rounds : other->effect.n_new;
        c->confirm = ab_check_judged_effect(other)->ratio;
        if (other->verdict == AB_VERDICT_FAIL)
            continue;
        c->verdict = AB_VERDICT_INCONCLUSIVE;
        c->status = c->status == AB_OK ? AB_OK : AB_INCONCLUSIVE;
        AB_FIT(c->reason,
               is_gate ? "%.3gx at first, %.3gx in %u more rounds: not confirmed"
                       : "%+.1f %% at first, %+.1f %% in %u more rounds: not confirmed",
               is_gate ? first : 100 * (first - 1), is_gate ? c->confirm : 100 * (c->confirm - 1),
               c->n_confirm);
    }
}

uint32_t ab_checks_rounds_needed(const struct ab_checked *list, uint32_t n)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < n; i++)
        if (ab_check_is_judged(&list[i]) && list[i].verdict == AB_VERDICT_INCONCLUSIVE &&
            list[i].rounds_needed != UINT32_MAX && list[i].rounds_needed > most)
            most = list[i].rounds_needed;
    return most;
}
