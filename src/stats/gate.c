/* SPDX-License-Identifier: MIT
 *
 * Judging. What the clock cannot tell is carried as an interval: a verdict is given only where
 * both of its ends agree.
 */
#include "stats/gate.h"

#include "base/bits.h"
#include "core/memory.h"
#include "stats/compare.h"
#include "stats/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ab_gate_is_below(const struct ab_gate *gate, double floor_ns)
{
    return gate->against == AB_GATE_ABSOLUTE && ab_metric_is_latency(&gate->metric) &&
           gate->bound < floor_ns;
}

void ab_gate_explain_floor(const struct ab_gate *gate, double floor_ns, char *buf, size_t cap)
{
    snprintf(buf, cap,
             "the bound, %.4g ns, is below the timer floor of %.4g ns, which no latency can be "
             "under; gate %s/all/ns_per_op instead",
             gate->bound, floor_ns, gate->metric.phase);
}

static bool passes(const struct ab_gate *g, double value)
{
    switch (g->compare) {
    case AB_GATE_LESS:
        return value < g->bound;
    case AB_GATE_AT_MOST:
        return value <= g->bound;
    case AB_GATE_MORE:
        return value > g->bound;
    case AB_GATE_AT_LEAST:
        return value >= g->bound;
    case AB_GATE_IS:
        return value == g->bound;
    }
    return false;
}

static void decide(const struct ab_gate *g, struct ab_interval value, struct ab_gate_result *r)
{
    bool low = passes(g, value.low), high = passes(g, value.high);
    if (isnan(value.low) || isnan(value.high))
        return;
    r->verdict = low != high ? AB_GATE_NOT_EVALUATED : low ? AB_GATE_PASS : AB_GATE_FAIL;
    if (low != high)
        snprintf(r->reason, sizeof r->reason,
                 "inconclusive: below the timer floor; gate "
                 "%s/all/ns_per_op instead",
                 g->metric.phase);
}

/* "jemalloc is absent: not installed"; true when it can be judged. */
static bool is_judgeable(const struct ab_session *s, uint32_t backend, const char *name,
                         struct ab_gate_result *r)
{
    if (backend >= s->n_backends) {
        snprintf(r->reason, sizeof r->reason, "this run has no %s", name);
        return false;
    }
    const struct ab_backend_info *b = &s->backends[backend];
    if (ab_backend_is_comparable(b))
        return true;
    snprintf(r->reason, sizeof r->reason, "%.100s is %s%s%.100s", b->name,
             ab_backend_status_name(b->status), b->reason[0] != 0 ? ": " : "", b->reason);
    return false;
}

/* A time of iterations that cannot be told from that of the null back end is no more than timing the
 * calls takes: shown as that. */
static void judge_untold(const struct ab_session *s, const struct ab_gate *g, uint32_t backend,
                         struct ab_gate_result *r)
{
    double most = ab_metric_iterations_most(s, backend, &g->metric);
    if (isnan(most))
        return;
    decide(g, (struct ab_interval){0, most}, r);
    r->value = most;
    snprintf(r->reason, sizeof r->reason,
             "%sno more than the same calls take in the null back end; shown: the most that timing "
             "them takes",
             r->verdict == AB_GATE_NOT_EVALUATED ? "inconclusive: " : "");
}

static void judge_absolute(const struct ab_session *s, const struct ab_gate *g, uint32_t backend,
                           struct ab_gate_result *r)
{
    r->value = ab_metric_value(s, backend, &g->metric);
    if (isnan(r->value) && g->metric.iteration != NULL)
        judge_untold(s, g, backend, r);
    else
        decide(g, ab_metric_interval(s, &g->metric, r->value), r);
}

/* The floor of a ratio: numbers that lie closer together than this are as good as equal. */
static void forgive(double floor, struct ab_interval a, struct ab_interval b,
                    struct ab_gate_result *r)
{
    double apart = fmax(fabs(a.high - b.low), fabs(b.high - a.low));
    if (r->verdict == AB_GATE_PASS || !(apart < floor))
        return;
    r->verdict = AB_GATE_PASS;
    snprintf(r->reason, sizeof r->reason, "the difference is below the floor");
}

/* With an interval, a ratio fails only where it is sure that there is a change for the worse, and
 * passes only where all of the interval does. */
static void decide_effect(const struct ab_gate *g, const struct ab_effect *e,
                          struct ab_gate_result *r)
{
    bool is_most = g->compare == AB_GATE_LESS || g->compare == AB_GATE_AT_MOST;
    double worst = is_most ? e->high : e->low, best = is_most ? e->low : e->high;
    double sure = is_most ? fmin(1, g->bound) : fmax(1, g->bound);
    struct ab_effect turned = *e;
    r->low = e->low;
    r->high = e->high;
    bool is_worse = is_most ? best > sure : best < sure;
    r->verdict = passes(g, worst)                   ? AB_GATE_PASS
                 : !passes(g, e->ratio) && is_worse ? AB_GATE_FAIL
                                                    : AB_GATE_INCONCLUSIVE;
    if (!is_most)
        turned = (struct ab_effect){.ratio = 1 / e->ratio,
                                    .low = 1 / e->high,
                                    .high = 1 / e->low,
                                    .sd = e->sd,
                                    .n_base = e->n_base,
                                    .n_new = e->n_new,
                                    .method = e->method};
    if (r->verdict == AB_GATE_INCONCLUSIVE)
        r->rounds_needed = ab_effect_rounds_needed(&turned,
                                                   (is_most ? g->bound : 1 / g->bound) - 1);
}

/* With enough rounds, the verdict follows the interval around the number shown. */
static void decide_ratio(const struct ab_session *s, const struct ab_gate *g, uint32_t backend,
                         struct ab_interval median, struct ab_gate_result *r)
{
    struct ab_effect e;
    decide(g, median, r);
    if (r->verdict == AB_GATE_NOT_EVALUATED)
        return;
    ab_compare_metric(s, g->other, s, backend, &g->metric, &e);
    if (isnan(e.low))
        return;
    e = ab_effect_shown(&e, r->value);
    decide_effect(g, &e, r);
}

static const char untold_rounds[] =
    "no ratio: in some rounds it is no more than the same calls take in the null back end";

static void judge_beside(const struct ab_session *s, const struct ab_gate *g, uint32_t backend,
                         struct ab_gate_result *r)
{
    const struct ab_metric *m = &g->metric;
    if (!is_judgeable(s, g->other, g->other_name, r))
        return;
    if (!ab_metric_iterations_have_ratio(s, g->other, m, s, backend)) {
        snprintf(r->reason, sizeof r->reason, "%s", untold_rounds);
        return;
    }
    struct ab_ratio ratio = ab_metric_ratio(s, backend, g->other, m);
    r->value = ratio.range.median;
    decide_ratio(s, g, backend, ratio.median, r);
    double a = ab_metric_value(s, backend, m), b = ab_metric_value(s, g->other, m);
    if (ratio.range.n > 0)
        forgive(g->floor, ab_metric_interval(s, m, a), ab_metric_interval(s, m, b), r);
    else if (a < 0 || b < 0)
        snprintf(r->reason, sizeof r->reason, "no ratio of negative values");
    else
        ab_metric_why_missing(s, isnan(a) ? backend : g->other, m, true, r->reason,
                              sizeof r->reason);
}

/* The back end in the baseline that this one is to be compared with; UINT32_MAX, and why. */
static uint32_t find_in_baseline(const struct ab_session *base, const char *name,
                                 struct ab_gate_result *r)
{
    for (uint32_t i = 0; base != NULL && i < base->n_backends; i++) {
        const struct ab_backend_info *b = &base->backends[i];
        if (strcmp(b->name, name) != 0)
            continue;
        if (ab_backend_is_comparable(b))
            return i;
        snprintf(r->reason, sizeof r->reason, "in the baseline %.100s is %s", b->name,
                 ab_backend_status_name(b->status));
        return UINT32_MAX;
    }
    if (base == NULL)
        snprintf(r->reason, sizeof r->reason, "there is no baseline: --baseline NAME|FILE");
    else
        snprintf(r->reason, sizeof r->reason, "the baseline has no %.100s", name);
    return UINT32_MAX;
}

/* Why there is no ratio, or no interval. */
static void explain_change(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                           const struct ab_effect *e, struct ab_gate_result *r)
{
    uint32_t n = e->n_base < e->n_new ? e->n_base : e->n_new;
    if (n > 0)
        snprintf(r->reason, sizeof r->reason,
                 "too few rounds: the baseline has %u, this run %u, at least %d are needed",
                 e->n_base, e->n_new, AB_EFFECT_MIN_ROUNDS);
    else
        ab_metric_why_missing(s, backend, m, true, r->reason, sizeof r->reason);
    if (r->reason[0] == 0)
        snprintf(r->reason, sizeof r->reason, "no ratio: a value is 0 or missing on one side");
}

/* Asks the witnesses for the metric of a gate, and doubts what they may explain. */

static bool is_rate(const struct ab_metric *m)
{
    return strcmp(ab_metric_unit(m), "1/s") == 0;
}

/* From a rate to a time, and back. */
static struct ab_effect turned(const struct ab_metric *m, const struct ab_effect *e)
{
    struct ab_effect t = *e;
    if (is_rate(m)) {
        t.ratio = 1 / e->ratio;
        t.low = 1 / e->high;
        t.high = 1 / e->low;
        t.p_larger = e->p_smaller;
        t.p_smaller = e->p_larger;
    }
    return t;
}

/* Measures how the metric of the gate moved for unchanged libraries. */
static void gate_drift_measure(const struct ab_gate *gate, const struct ab_drift_question *q,
                               struct ab_gate_drift *out)
{
    const struct ab_metric *m = &gate->metric;
    *out = (struct ab_gate_drift){.question = *q,
                                  .is_time = is_rate(m) || strcmp(ab_metric_unit(m), "ns") == 0};
    if (out->is_time)
        ab_drift_measure(q, &out->drift);
}

static bool is_relative(const struct ab_gate_drift *d)
{
    return d->is_time && !d->drift.is_unchanged && d->drift.n_witnesses > 0 &&
           !ab_metric_is_latency(d->question.metric);
}

/* Makes *effect, new by base, the one by which the gate is decided: relative to the witnesses, but
 * not of percentiles, which move in steps of the clock. */
static void gate_drift_apply(const struct ab_gate_drift *d, struct ab_effect *effect)
{
    if (is_relative(d))
        *effect = turned(d->question.metric, &d->drift.relative);
}

/* True where the change of a percentile relative to the witnesses is within the limit. */
static bool is_of_machine(const struct ab_drift *d, double limit, double sign, char *reason,
                          size_t cap)
{
    if (d->n_witnesses == 0 || sign * log(d->relative.ratio) > log1p(limit))
        return false;
    snprintf(reason, cap, "relative to %s, the same build in both, it is %+.1f %%", d->witnesses,
             100 * (d->relative.ratio - 1));
    return true;
}

static bool is_failure_doubtful(const struct ab_gate_drift *d, const struct ab_effect *time,
                                double limit, double sign, struct ab_gate_result *r)
{
    char *reason = r->reason;
    const size_t cap = sizeof r->reason;
    if (d->drift.is_unchanged) {
        snprintf(reason, cap,
                 "machine drift: it is the same build in both; measure both in one run");
        return true;
    }
    if (ab_metric_is_latency(d->question.metric) &&
        is_of_machine(&d->drift, limit, sign, reason, cap))
        return true;
    return (d->drift.n_witnesses == 0 &&
            ab_drift_is_of_cpu(&d->question, time, limit, reason, cap)) ||
           ab_drift_is_doubtful(&d->question, time, limit, reason, cap);
}

/* Says what the value is relative to. */
static void explain(const struct ab_gate_drift *d, struct ab_gate_result *r)
{
    if (r->verdict == AB_GATE_PASS || r->reason[0] != 0)
        return;
    if (is_relative(d))
        snprintf(r->reason, sizeof r->reason,
                 "relative to %s, the same build in both, which took %+.1f %% time",
                 d->drift.witnesses, 100 * (d->drift.machine.ratio - 1));
    else if (!d->drift.is_unchanged && d->drift.n_witnesses == 0 && r->verdict == AB_GATE_FAIL)
        snprintf(r->reason, sizeof r->reason,
                 "no witness: no other library is the same build in both");
}

/* A verdict that the machine may have made becomes inconclusive, with its reason. Gates that demand
 * a gain still fail: a machine that changed is no reason for its absence. */
static void gate_drift_doubt(const struct ab_gate_drift *d, const struct ab_gate *gate,
                             const struct ab_effect *effect, struct ab_gate_result *r)
{
    const struct ab_metric *m = &gate->metric;
    bool is_most = gate->compare == AB_GATE_LESS || gate->compare == AB_GATE_AT_MOST;
    double allowed = is_most ? gate->bound : 1 / gate->bound; /* above 1: the metric may be worse */
    double limit = fmax(allowed, 1 / allowed) - 1, sign = is_most != is_rate(m) ? 1 : -1;
    const struct ab_effect time = turned(m, effect);
    if (!d->is_time)
        return;
    if ((r->verdict == AB_GATE_FAIL && allowed >= 1 &&
         is_failure_doubtful(d, &time, limit, sign, r)) ||
        (r->verdict == AB_GATE_PASS && is_relative(d) &&
         ab_drift_has_moved(&d->drift, limit, r->reason, sizeof r->reason)))
        r->verdict = AB_GATE_INCONCLUSIVE;
    explain(d, r);
}

static void judge_change(const struct ab_session *s, const struct ab_session *base,
                         const struct ab_gate *g, uint32_t backend, struct ab_gate_result *r)
{
    const struct ab_metric *m = &g->metric;
    struct ab_effect e;
    uint32_t other = find_in_baseline(base, s->backends[backend].name, r);
    if (other != UINT32_MAX && !ab_compare_is_alike(base, s, m)) {
        snprintf(r->reason, sizeof r->reason, "%s",
                 m->iteration != NULL
                     ? "the baseline counts iterations that miss another budget"
                     : "instructions were not counted alike: another counter, or of other ops");
        return;
    }
    if (other == UINT32_MAX)
        return;
    ab_compare_metric(base, other, s, backend, m, &e);
    struct ab_drift_question q = {base, s, other, backend, m};
    struct ab_gate_drift drift;
    gate_drift_measure(g, &q, &drift);
    double is = ab_metric_value(s, backend, m), was = ab_metric_value(base, other, m);
    double step = ab_metric_is_latency(m) ? ab_compare_step_ns(base, s) : 0;
    gate_drift_apply(&drift, &e);
    r->value = e.ratio;
    if (isnan(e.ratio) && is == was && !isnan(is))
        e = (struct ab_effect){.ratio = 1, .low = 1, .high = 1, .method = AB_EFFECT_EXACT};
    if (isnan(e.low))
        explain_change(s, backend, m, &e, r);
    else
        decide_effect(g, &e, r);
    forgive(fmax(g->floor, step), ab_metric_interval(s, m, is), ab_metric_interval(base, m, was),
            r);
    gate_drift_doubt(&drift, g, &e, r);
}

static void judge_by_live(const struct ab_session *s, const struct ab_gate *g, uint32_t backend,
                          struct ab_gate_result *r)
{
    double size = ab_metric_value(s, backend, &g->metric);
    double live = ab_metric_live_peak(s, backend, &g->metric);
    r->value = ab_metric_by_live(s, backend, &g->metric).median;
    decide(g, (struct ab_interval){r->value, r->value}, r);
    if (!isnan(r->value))
        forgive(g->floor, (struct ab_interval){size, size}, (struct ab_interval){live, live}, r);
}

struct judgement {
    const struct ab_session *session, *baseline;
};

/* Returns the status of the command for this gate. Against another machine a change is advice. */
static enum ab_status status_of(const struct judgement *j, const struct ab_gate *g,
                                struct ab_gate_result *r)
{
    bool is_bad = r->verdict == AB_GATE_FAIL || r->verdict == AB_GATE_INCONCLUSIVE;
    if (r->verdict == AB_GATE_PASS || g->is_warning)
        return AB_OK;
    if (g->against == AB_GATE_BASELINE && is_bad &&
        (j->baseline->host.fingerprint[0] == 0 ||
         strcmp(j->baseline->host.fingerprint, j->session->host.fingerprint) != 0)) {
        snprintf(r->reason, sizeof r->reason, "advisory: the baseline is of another machine");
        return AB_OK;
    }
    return r->verdict == AB_GATE_INCONCLUSIVE ? AB_INCONCLUSIVE : AB_GATE;
}

static void judge(const struct judgement *j, const struct ab_gate *g, uint32_t backend,
                  struct ab_gate_result *r)
{
    const struct ab_session *s = j->session;
    *r = (struct ab_gate_result){
        .text = g->spelt[0] != 0 ? g->spelt : g->text,
        .place = g->place,
        .backend = backend < s->n_backends ? backend : UINT32_MAX,
        .verdict = AB_GATE_NOT_EVALUATED,
        .value = NAN,
        .bound = g->bound,
        .unit = g->unit,
        .low = NAN,
        .high = NAN,
        .is_warning = g->is_warning,
        .confirm_value = NAN,
    };
    if (ab_gate_is_below(g, s->timer.floor_ns)) {
        ab_gate_explain_floor(g, s->timer.floor_ns, r->reason, sizeof r->reason);
        r->status = AB_CONFIG;
        return;
    }
    if (is_judgeable(s, backend, g->name, r)) {
        if (g->against == AB_GATE_ABSOLUTE)
            judge_absolute(s, g, backend, r);
        else if (g->against == AB_GATE_BACKEND)
            judge_beside(s, g, backend, r);
        else if (g->against == AB_GATE_BASELINE)
            judge_change(s, j->baseline, g, backend, r);
        else
            judge_by_live(s, g, backend, r);
        if (r->verdict == AB_GATE_NOT_EVALUATED && r->reason[0] == 0)
            ab_metric_why_missing(s, backend, &g->metric, false, r->reason, sizeof r->reason);
        if (r->verdict == AB_GATE_NOT_EVALUATED && r->reason[0] == 0)
            snprintf(r->reason, sizeof r->reason, "no such value");
    }
    r->status = status_of(j, g, r);
}

static void set(struct ab_gate_result *r, enum ab_gate_verdict verdict, enum ab_status status)
{
    r->verdict = verdict;
    r->status = status;
}

/* May a gate that names no back end skip this one? It is of a default list, and either absent or
 * not able to do this work. */
static bool is_skippable(const struct ab_backend_info *b)
{
    return !b->was_named && (b->status == AB_BACKEND_PARTIAL || b->status == AB_BACKEND_ABSENT);
}

/* Is a gate that names no back end about this one? */
static bool is_gated(const struct ab_gate *g, const struct ab_backend_info *b, uint32_t i)
{
    return !ab_backend_is_null(b) && !b->is_along &&
           !(g->against == AB_GATE_BACKEND && i == g->other);
}

/* A gate on each back end but null and the one that it compares with. Returns how many entries. */
static size_t judge_each(const struct judgement *j, const struct ab_gate *g,
                         struct ab_gate_result *r)
{
    const struct ab_session *s = j->session;
    size_t n = 0, n_judged = 0;
    for (uint32_t i = 0; i < s->n_backends; i++) {
        if (!is_gated(g, &s->backends[i], i))
            continue;
        judge(j, g, i, &r[n]);
        n_judged += r[n].verdict != AB_GATE_NOT_EVALUATED;
        if (r[n].status == AB_GATE && is_skippable(&s->backends[i]))
            set(&r[n], AB_GATE_SKIPPED, AB_OK);
        n++;
    }
    if (n == 0) {
        judge(j, g, UINT32_MAX, &r[n]);
        snprintf(r[n++].reason, sizeof r->reason, "this run has no back end to evaluate");
    }
    for (size_t i = 0; i < n && n_judged == 0 && !g->is_warning; i++)
        set(&r[i], AB_GATE_NOT_EVALUATED, r[i].status == AB_OK ? AB_GATE : r[i].status);
    return n;
}

void ab_gates_judge(const struct ab_gate *gates, size_t n, struct ab_session *session,
                    const struct ab_session *baseline)
{
    struct judgement j = {session, baseline};
    size_t most = (size_t)session->n_backends + 1, used = 0;
    struct ab_gate_result *r = ab_alloc_zeroed(n * most + 1, sizeof *r);
    for (size_t i = 0; i < n; i++) {
        if (gates[i].backend == AB_GATE_EACH)
            used += judge_each(&j, &gates[i], r + used);
        else
            judge(&j, &gates[i], gates[i].backend, &r[used++]);
    }
    session->gates = r;
    session->n_gates = (uint32_t)used;
}

enum ab_status ab_gates_status(const struct ab_session *session)
{
    static const enum ab_status order[] = {AB_CONFIG, AB_GATE, AB_INCONCLUSIVE};
    for (size_t k = 0; k < AB_ARRAY_LEN(order); k++)
        for (uint32_t i = 0; i < session->n_gates; i++)
            if (session->gates[i].status == order[k])
                return order[k];
    return AB_OK;
}

/* A gate that fails by a ratio or a change is judged once more, on rounds of its own: chance that
 * fails one gate in twenty fails two in a row in one of four hundred. */

/* By a ratio to a back end or a change; what is a fact of these rounds alone is not asked twice. */
static bool is_suspicious(const struct ab_gate_result *g)
{
    return g->verdict == AB_GATE_FAIL && strncmp(g->unit, "x ", 2) == 0 &&
           strcmp(g->unit, "x live") != 0;
}

uint32_t ab_gates_suspicious(const struct ab_session *session, bool *is_concerned)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < session->n_gates; i++) {
        const struct ab_gate_result *g = &session->gates[i];
        if (!is_suspicious(g) || g->backend >= session->n_backends)
            continue;
        is_concerned[g->backend] = true;
        for (uint32_t b = 0; b < session->n_backends; b++)
            if (strcmp(session->backends[b].name, g->unit + 2) == 0)
                is_concerned[b] = true;
        n++;
    }
    return n;
}

void ab_gates_confirm(struct ab_session *session, const struct ab_session *again)
{
    for (uint32_t i = 0; i < session->n_gates && i < again->n_gates; i++) {
        struct ab_gate_result *g = &session->gates[i];
        const struct ab_gate_result *other = &again->gates[i];
        if (!is_suspicious(g) || g->backend != other->backend ||
            other->verdict == AB_GATE_NOT_EVALUATED)
            continue;
        g->n_confirm = again->n_rounds;
        g->confirm_value = other->value;
        if (other->verdict == AB_GATE_FAIL)
            continue;
        g->verdict = AB_GATE_INCONCLUSIVE;
        g->status = g->status == AB_OK ? AB_OK : AB_INCONCLUSIVE;
        snprintf(g->reason, sizeof g->reason,
                 "%.3gx at first, %.3gx in %u more rounds: not confirmed", g->value, other->value,
                 again->n_rounds);
    }
}
