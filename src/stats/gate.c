/* SPDX-License-Identifier: MIT
 *
 * Judges gates. A value that the clock cannot resolve is an interval, and has a verdict only if
 * both ends of the interval lead to the same one.
 */
#include "stats/gate.h"

#include "core/alloc.h"
#include "core/text.h"
#include "core/units_show.h"
#include "result/numbers.h"
#include "result/session.h"
#include "stats/compare.h"
#include "stats/compare_drift.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

bool ab_gate_is_below(const struct ab_gate *gate, double floor_ns, char *why, size_t cap)
{
    if (gate->against != AB_AGAINST_NOTHING || !ab_metric_is_latency(&gate->metric) ||
        !(gate->bound < floor_ns))
        return false;
    snprintf(why, cap,
             "the bound, %.4g ns, is below the timer floor of %.4g ns, which no latency can be "
             "under; gate %s/all/ns_per_op instead",
             gate->bound, floor_ns, gate->metric.phase);
    return true;
}

static void decide(const struct ab_gate *g, struct ab_interval value, struct ab_checked *r)
{
    bool low = ab_check_holds(g->compare, value.low, g->bound),
         high = ab_check_holds(g->compare, value.high, g->bound);
    if (isnan(value.low) || isnan(value.high))
        return;
    r->verdict = low != high ? AB_VERDICT_NOT_EVALUATED : low ? AB_VERDICT_PASS : AB_VERDICT_FAIL;
    if (low != high)
        AB_FIT(r->reason,
               "inconclusive: below the timer floor; gate "
               "%s/all/ns_per_op instead",
               g->metric.phase);
}

/* True if the back end can be judged. Otherwise writes the reason, such as "jemalloc is absent: not
 * installed". */
static bool is_judgeable(const struct ab_session *s, uint32_t backend, const char *name,
                         struct ab_checked *r)
{
    if (backend >= s->n_backends) {
        AB_FIT(r->reason, "this run has no %s", name);
        return false;
    }
    const struct ab_backend_info *b = &s->backends[backend];
    if (ab_backend_is_comparable(b))
        return true;
    AB_FIT(r->reason, "%s is %s%s%s", b->name, ab_backend_status_name(b->status),
           b->reason[0] != 0 ? ": " : "", b->reason);
    return false;
}

/* Judges a time of iterations that cannot be distinguished from that of the null back end. It is
 * between 0 and the cost of timing the calls, which is shown instead of the time. */
static void judge_untold(const struct ab_session *s, const struct ab_gate *g, uint32_t backend,
                         struct ab_checked *r)
{
    double most = ab_metric_iterations_most(s, backend, &g->metric);
    if (isnan(most))
        return;
    decide(g, (struct ab_interval){0, most}, r);
    r->effect.ratio = most;
    AB_FIT(r->reason,
           "%sno more than the same calls take in the null back end; shown: the most that timing "
           "them takes",
           r->verdict == AB_VERDICT_NOT_EVALUATED ? "inconclusive: " : "");
}

/* ---- calls that the scheduler interrupted ---- */

/* Makes the verdict inconclusive if it would be different at the other end of [low, high]: the
 * value without the interrupted calls, and with the CPU time that these used. */
static void doubt(const struct ab_gate *g, double low, double high, struct ab_checked *r)
{
    char text[32];
    bool is_verdict = r->verdict == AB_VERDICT_PASS || r->verdict == AB_VERDICT_FAIL;
    if (!is_verdict || !(low <= high) ||
        ab_check_holds(g->compare, low, g->bound) == ab_check_holds(g->compare, high, g->bound))
        return;
    r->verdict = AB_VERDICT_INCONCLUSIVE;
    if (g->against == AB_AGAINST_NOTHING && strcmp(r->unit, "ns") == 0)
        ab_units_time(text, sizeof text, high);
    else
        AB_FIT(text, "%.4g", high);
    AB_FIT(
        r->reason,
        "the scheduler interrupted calls, which are not in it: by the CPU time that they used the "
        "number is at least %s",
        text);
}

static double factor_of(struct ab_interval x)
{
    return x.high > x.low ? x.high / x.low : 1;
}

/* Applies doubt() to a ratio of `of` to the value `by` of another back end or of a baseline. */
static void doubt_ratio(const struct ab_gate *g, struct ab_interval of, struct ab_interval by,
                        struct ab_checked *r)
{
    if (of.high > of.low || by.high > by.low)
        doubt(g, r->effect.ratio / factor_of(by), r->effect.ratio * factor_of(of), r);
}

static void judge_absolute(const struct ab_session *s, const struct ab_gate *g, uint32_t backend,
                           struct ab_checked *r)
{
    r->effect.ratio = ab_metric_value(s, backend, &g->metric);
    if (isnan(r->effect.ratio) && ab_metric_is(&g->metric, AB_METRIC_ITERATION))
        judge_untold(s, g, backend, r);
    else
        decide(g, ab_metric_interval(s, &g->metric, r->effect.ratio), r);
    struct ab_interval x = ab_metric_by_cpu(s, backend, &g->metric, true);
    if (x.high > x.low)
        doubt(g, x.low, x.high, r);
}

/* Changes the verdict to PASS if the two values differ by less than `floor`. */
static void forgive(double floor, struct ab_interval a, struct ab_interval b, struct ab_checked *r)
{
    double apart = fmax(fabs(a.high - b.low), fabs(b.high - a.low));
    if (r->verdict == AB_VERDICT_PASS || !(apart < floor))
        return;
    r->verdict = AB_VERDICT_PASS;
    AB_FIT(r->reason, "the difference is below the floor");
}

static bool is_upper(const struct ab_gate *g)
{
    return g->compare == AB_CHECK_LESS || g->compare == AB_CHECK_AT_MOST;
}

/* Judges a ratio by its interval. The verdict is FAIL only if a change for the worse is certain,
 * and PASS only if the whole interval is within the bound. */
static void decide_effect(const struct ab_gate *g, const struct ab_effect *e, struct ab_checked *r)
{
    bool is_most = is_upper(g);
    r->effect.low = e->low;
    r->effect.high = e->high;
    r->verdict = ab_check_decide(e, g->compare, g->bound);
    if (r->verdict != AB_VERDICT_INCONCLUSIVE)
        return;
    struct ab_effect mirrored = is_most ? *e : ab_effect_turned(e);
    r->rounds_needed = ab_effect_rounds_needed(&mirrored, (is_most ? g->bound : 1 / g->bound) - 1);
}

/* Judges a ratio by the number that is shown. If there are enough rounds for an interval, judges by
 * the interval instead. */
static void decide_ratio(const struct ab_session *s, const struct ab_gate *g, uint32_t backend,
                         struct ab_interval median, struct ab_checked *r)
{
    struct ab_effect e;
    decide(g, median, r);
    if (r->verdict == AB_VERDICT_NOT_EVALUATED)
        return;
    ab_compare_metric(s, g->other, s, backend, &g->metric, &e);
    if (isnan(e.low))
        return;
    e = ab_effect_shown(&e, r->effect.ratio);
    decide_effect(g, &e, r);
}

/* Returns the back end that a gate or claim compares `backend` with, in the same combination of
 * values. */
static uint32_t other_of(const struct ab_session *s, const struct ab_gate *g, uint32_t backend)
{
    return g->other < s->n_backends ? ab_session_row(s, g->other, backend) : g->other;
}

static const char untold_rounds[] =
    "no ratio, because in some rounds it is no more than the same calls take in the null back end";

static void judge_beside(const struct ab_session *s, const struct ab_gate *g, uint32_t backend,
                         struct ab_checked *r)
{
    const struct ab_metric *m = &g->metric;
    uint32_t other = other_of(s, g, backend);
    if (!is_judgeable(s, other, g->other_name, r))
        return;
    if (!ab_metric_iterations_have_ratio(s, other, m, s, backend)) {
        AB_COPY(r->reason, untold_rounds);
        return;
    }
    struct ab_ratio ratio = ab_metric_ratio(s, backend, other, m);
    r->effect.ratio = ratio.range.median;
    decide_ratio(s, g, backend, ratio.median, r);
    double a = ab_metric_value(s, backend, m), b = ab_metric_value(s, other, m);
    if (ratio.range.n > 0)
        forgive(g->floor, ab_metric_interval(s, m, a), ab_metric_interval(s, m, b), r);
    else if (a < 0 || b < 0)
        AB_FIT(r->reason, "no ratio of negative values");
    else
        ab_metric_why_missing(s, isnan(a) ? backend : other, m, true, r->reason, sizeof r->reason);
    doubt_ratio(g, ab_metric_by_cpu(s, backend, m, false), ab_metric_by_cpu(s, other, m, false), r);
}

/* Returns the back end of the baseline that has the same name and work as `backend`. If there is
 * none, returns UINT32_MAX and writes the reason. */
static uint32_t find_in_baseline(const struct ab_session *base, const struct ab_session *s,
                                 uint32_t backend, struct ab_checked *r)
{
    const char *name = s->backends[backend].name;
    for (uint32_t i = 0; base != NULL && i < base->n_backends; i++) {
        const struct ab_backend_info *b = &base->backends[i];
        if (strcmp(b->name, name) != 0)
            continue;
        if (!ab_session_is_same_work(base, i, s, backend)) {
            AB_FIT(r->reason, "in the baseline %s did other work", b->name);
            return UINT32_MAX;
        }
        if (ab_backend_is_comparable(b))
            return i;
        AB_FIT(r->reason, "in the baseline %s is %s", b->name, ab_backend_status_name(b->status));
        return UINT32_MAX;
    }
    if (base == NULL)
        AB_FIT(r->reason, "there is no baseline: --baseline NAME|FILE");
    else
        AB_FIT(r->reason, "the baseline has no %s", name);
    return UINT32_MAX;
}

/* Writes the reason why the change has no ratio, or no interval. */
static void explain_change(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                           const struct ab_effect *e, struct ab_checked *r)
{
    uint32_t n = e->n_base < e->n_new ? e->n_base : e->n_new;
    if (n > 0)
        AB_FIT(r->reason,
               "too few rounds: the baseline has %u, this run %u, at least %d are needed",
               e->n_base, e->n_new, AB_EFFECT_MIN_ROUNDS);
    else
        ab_metric_why_missing(s, backend, m, true, r->reason, sizeof r->reason);
    if (r->reason[0] == 0)
        AB_FIT(r->reason, "no ratio: a value is 0 or missing on one side");
}

/* ---- changes against a baseline: library or machine (stats/compare_drift.h) ---- */

struct change {
    struct ab_drift_question question;
    struct ab_drift drift;
    bool is_time;     /* the metric is a time or a rate, which a change of the machine affects */
    bool is_relative; /* the ratio to the control back ends is judged */
};

/* Returns the effect on the time if the metric is a rate, or the reverse. Other effects are
 * returned unchanged. */
static struct ab_effect turned(const struct ab_metric *m, const struct ab_effect *e)
{
    return ab_metric_is_rate(m) ? ab_effect_turned(e) : *e;
}

/* Measures the effect *e, new / base. For times it is relative to the control back ends, if there
 * are any. Percentiles are not made relative, because they change in steps of the clock. */
static void measure_change(struct change *c, struct ab_effect *e)
{
    const struct ab_drift_question *q = &c->question;
    const struct ab_metric *m = q->metric;
    ab_compare_metric(q->base, q->base_backend, q->now, q->backend, m, e);
    c->is_time = ab_metric_is_rate(m) || strcmp(ab_metric_unit(m), "ns") == 0;
    if (!c->is_time)
        return;
    ab_drift_measure(q, &c->drift);
    c->is_relative = !c->drift.is_unchanged && c->drift.n_controls > 0 && !ab_metric_is_latency(m);
    if (c->is_relative)
        *e = turned(m, &c->drift.relative);
}

/* True if the change of a percentile, relative to the control back ends, is within the limit.
 * Writes the reason. */
static bool is_of_machine(const struct ab_drift *d, double limit, double sign, struct ab_checked *r)
{
    if (d->n_controls == 0 || sign * log(d->relative.ratio) > log1p(limit))
        return false;
    AB_FIT(r->reason, "relative to %s, the same build in both, it is %+.1f %%", d->controls,
           100 * (d->relative.ratio - 1));
    return true;
}

/* True if the machine may have caused the verdict, which is then inconclusive. Writes the reason. A
 * gate that demands a gain still fails, because a change of the machine does not excuse a missing
 * gain. */
static bool is_doubtful(const struct change *c, const struct ab_gate *g, const struct ab_effect *e,
                        struct ab_checked *r)
{
    const struct ab_metric *m = &g->metric;
    /* factor by which the new number may be worse; below 1: it must be better */
    double allowed = is_upper(g) ? g->bound : 1 / g->bound;
    double limit = fmax(allowed, 1 / allowed) - 1,
           sign = is_upper(g) != ab_metric_is_rate(m) ? 1 : -1;
    const struct ab_effect time = turned(m, e);
    bool is_change = r->verdict == AB_VERDICT_FAIL && allowed >= 1;
    if (!is_change && (r->verdict != AB_VERDICT_PASS || !c->is_relative))
        return false;
    if (is_change && c->drift.is_unchanged) {
        AB_FIT(r->reason, "machine drift: it is the same build in both; measure both in one run");
        return true;
    }
    if (is_change && ab_metric_is_latency(m) && is_of_machine(&c->drift, limit, sign, r))
        return true;
    return ab_drift_is_doubtful(&c->question, &c->drift, &time, limit, is_change, r->reason,
                                sizeof r->reason);
}

static void weigh_drift(const struct change *c, const struct ab_gate *g, const struct ab_effect *e,
                        struct ab_checked *r)
{
    const struct ab_drift *d = &c->drift;
    if (!c->is_time)
        return;
    if (is_doubtful(c, g, e, r))
        r->verdict = AB_VERDICT_INCONCLUSIVE;
    if (r->verdict == AB_VERDICT_PASS || r->reason[0] != 0)
        return;
    if (c->is_relative)
        AB_FIT(r->reason, "relative to %s, the same build in both, which took %+.1f %% time",
               d->controls, 100 * (d->machine.ratio - 1));
    else if (!d->is_unchanged && d->n_controls == 0 && r->verdict == AB_VERDICT_FAIL)
        AB_FIT(r->reason, "no witness: no other library is the same build in both");
}

static void judge_change(const struct ab_session *s, const struct ab_session *base,
                         const struct ab_gate *g, uint32_t backend, struct ab_checked *r)
{
    const struct ab_metric *m = &g->metric;
    struct ab_effect e;
    uint32_t other = find_in_baseline(base, s, backend, r);
    if (other != UINT32_MAX && !ab_compare_is_alike(base, s, m)) {
        AB_FIT(r->reason, "%s",
               ab_metric_is_by_position(m)
                   ? "the baseline counted operations otherwise (config.tape.counts)"
               : ab_metric_pass(m) == AB_PASS_LATENCY
                   ? "the baseline was replayed with another --between"
               : ab_metric_is(m, AB_METRIC_ITERATION)
                   ? "the baseline counts iterations that miss another budget"
                   : "instructions were not counted alike: another counter, or of other ops");
        return;
    }
    if (other == UINT32_MAX)
        return;
    struct change change = {.question = {base, s, other, backend, m}};
    measure_change(&change, &e);
    double is = ab_metric_value(s, backend, m), was = ab_metric_value(base, other, m);
    double step = ab_metric_is_latency(m) ? ab_compare_step_ns(base, s) : 0;
    r->effect.ratio = e.ratio;
    if (isnan(e.ratio) && is == was && !isnan(is))
        e = (struct ab_effect){.ratio = 1, .low = 1, .high = 1, .method = AB_EFFECT_EXACT};
    if (isnan(e.low))
        explain_change(s, backend, m, &e, r);
    else
        decide_effect(g, &e, r);
    forgive(fmax(g->floor, step), ab_metric_interval(s, m, is), ab_metric_interval(base, m, was),
            r);
    weigh_drift(&change, g, &e, r);
    doubt_ratio(g, ab_metric_by_cpu(s, backend, m, false), ab_metric_by_cpu(base, other, m, false),
                r);
}

static void judge_by_live(const struct ab_session *s, const struct ab_gate *g, uint32_t backend,
                          struct ab_checked *r)
{
    double size = ab_metric_value(s, backend, &g->metric);
    double live = ab_metric_live_peak(s, backend, &g->metric);
    r->effect.ratio = ab_metric_by_live(s, backend, &g->metric).median;
    decide(g, (struct ab_interval){r->effect.ratio, r->effect.ratio}, r);
    if (!isnan(r->effect.ratio))
        forgive(g->floor, (struct ab_interval){size, size}, (struct ab_interval){live, live}, r);
}

/* Makes the verdict on a ratio of memory inconclusive if the work has less than a page of live
 * bytes. The ratio would compare the heaps' own pages with a few bytes. */
static void doubt_little_memory(const struct ab_session *s, const struct ab_gate *g,
                                struct ab_checked *r)
{
    bool is_judged = r->verdict == AB_VERDICT_PASS || r->verdict == AB_VERDICT_FAIL;
    if (g->metric.field != NULL || ab_metric_is(&g->metric, AB_METRIC_ITERATION) ||
        r->against == AB_AGAINST_NOTHING || !is_judged || !ab_session_has_little_memory(s))
        return;
    r->verdict = AB_VERDICT_INCONCLUSIVE;
    AB_FIT(r->reason,
           "inconclusive: at most %" PRIu64 " bytes are live, less than a page: a ratio of memory "
           "says nothing",
           s->facts.live_peak_bytes);
}

/* Returns a check that has the properties of its gate, but no numbers yet. */
static struct ab_checked check_of(const struct ab_gate *g)
{
    const struct ab_metric *m = &g->metric;
    const struct ab_effect none = {.ratio = NAN, .low = NAN, .high = NAN};
    /* the metric is already a ratio to the live bytes */
    bool is_by_live = strcmp(ab_metric_unit(m), "x live") == 0;
    return (struct ab_checked){
        .base_backend = g->other_name,
        .phase = m->phase,
        .op = ab_metric_of(m),
        .metric = ab_metric_name(m),
        .unit = ab_metric_unit(m),
        .base = NAN,
        .now = NAN,
        .effect = none,
        .bound = g->bound,
        .verdict = AB_VERDICT_NOT_EVALUATED,
        .relative = none,
        .confirm = NAN,
        .against = is_by_live && g->against == AB_AGAINST_NOTHING ? AB_AGAINST_LIVE : g->against,
        .text = g->spelt[0] != 0 ? g->spelt : g->text,
        .place = g->place,
        .is_warning = g->is_warning,
        .says = g->says,
        .source = g->source,
        .low = NAN,
        .high = NAN,
        .is_higher_better = ab_metric_better(m) == AB_FIELD_HIGHER,
    };
}

struct judgement {
    const struct ab_session *session, *baseline;
};

/* Returns the exit status that this gate causes. A change against a result of another machine
 * causes none, because it is advisory. */
static enum ab_status status_of(const struct judgement *j, const struct ab_gate *g,
                                struct ab_checked *r)
{
    bool is_bad = r->verdict == AB_VERDICT_FAIL || r->verdict == AB_VERDICT_INCONCLUSIVE;
    if (r->verdict == AB_VERDICT_PASS || g->is_warning)
        return AB_OK;
    if (g->against == AB_AGAINST_BASELINE && is_bad &&
        (j->baseline->host.fingerprint[0] == 0 ||
         strcmp(j->baseline->host.fingerprint, j->session->host.fingerprint) != 0)) {
        AB_FIT(r->reason, "advisory: the baseline is of another machine");
        return AB_OK;
    }
    return r->verdict == AB_VERDICT_INCONCLUSIVE ? AB_INCONCLUSIVE : AB_GATE;
}

static void judge(const struct judgement *j, const struct ab_gate *g, uint32_t backend,
                  struct ab_checked *r)
{
    const struct ab_session *s = j->session;
    *r = check_of(g);
    if (backend < s->n_backends)
        r->backend = s->backends[backend].name;
    if (ab_gate_is_below(g, s->timer.floor_ns, r->reason, sizeof r->reason)) {
        r->status = AB_CONFIG;
        return;
    }
    if (is_judgeable(s, backend, g->name, r)) {
        if (g->against == AB_AGAINST_NOTHING)
            judge_absolute(s, g, backend, r);
        else if (g->against == AB_AGAINST_BACKEND)
            judge_beside(s, g, backend, r);
        else if (g->against == AB_AGAINST_BASELINE)
            judge_change(s, j->baseline, g, backend, r);
        else
            judge_by_live(s, g, backend, r);
        doubt_little_memory(s, g, r);
        if (r->verdict == AB_VERDICT_NOT_EVALUATED && r->reason[0] == 0)
            ab_metric_why_missing(s, backend, &g->metric, false, r->reason, sizeof r->reason);
        if (r->verdict == AB_VERDICT_NOT_EVALUATED && r->reason[0] == 0)
            AB_FIT(r->reason, "no such value");
    }
    r->status = status_of(j, g, r);
}

static void set(struct ab_checked *r, enum ab_verdict verdict, enum ab_status status)
{
    r->verdict = verdict;
    r->status = status;
}

/* True if a gate on all back ends may skip this one, because nobody named it and it is absent or
 * cannot do all of this work. */
static bool is_skippable(const struct ab_backend_info *b)
{
    return !b->was_named && (b->status == AB_BACKEND_PARTIAL || b->status == AB_BACKEND_ABSENT);
}

/* True if the gate applies to row i. A gate that names no back end applies to every row except
 * null, control rows, and the row that it compares with. */
static bool is_gated(const struct ab_session *s, const struct ab_gate *g, uint32_t i)
{
    const struct ab_backend_info *b = &s->backends[i];
    if (g->backend != AB_GATE_EACH)
        return ab_session_row(s, g->backend, i) == i;
    return !ab_backend_is_null(b) && !b->is_control &&
           !(g->against == AB_AGAINST_BACKEND && i == other_of(s, g, i));
}

/* Judges a gate on each row that it applies to, and fills r[]. Returns the number of entries. */
static size_t judge_each(const struct judgement *j, const struct ab_gate *g, struct ab_checked *r)
{
    const struct ab_session *s = j->session;
    size_t n = 0, n_judged = 0;
    for (uint32_t i = 0; i < s->n_backends; i++) {
        if (!is_gated(s, g, i))
            continue;
        judge(j, g, i, &r[n]);
        n_judged += r[n].verdict != AB_VERDICT_NOT_EVALUATED;
        if (g->backend == AB_GATE_EACH && r[n].status == AB_GATE && is_skippable(&s->backends[i]))
            set(&r[n], AB_VERDICT_SKIPPED, AB_OK);
        n++;
    }
    if (n == 0) {
        judge(j, g, UINT32_MAX, &r[n]);
        snprintf(r[n++].reason, sizeof r->reason, "this run has no back end to evaluate");
    }
    for (size_t i = 0; i < n && n_judged == 0 && !g->is_warning && g->backend == AB_GATE_EACH; i++)
        set(&r[i], AB_VERDICT_NOT_EVALUATED, r[i].status == AB_OK ? AB_GATE : r[i].status);
    return n;
}

void ab_gates_judge(const struct ab_gate *gates, size_t n, struct ab_session *session,
                    const struct ab_session *baseline)
{
    struct judgement j = {session, baseline};
    size_t most = (size_t)session->n_backends + 1, used = 0;
    struct ab_checked *r = ab_alloc_zeroed(n * most + 1, sizeof *r);
    for (size_t i = 0; i < n; i++) {
        if (gates[i].backend == AB_GATE_EACH || gates[i].backend < session->n_backends)
            used += judge_each(&j, &gates[i], r + used);
        else
            judge(&j, &gates[i], gates[i].backend, &r[used++]);
    }
    session->gates = r;
    session->n_gates = (uint32_t)used;
}

enum ab_status ab_gates_status(const struct ab_session *session)
{
    enum ab_status status = AB_OK;
    for (uint32_t i = 0; i < session->n_gates; i++)
        status = ab_status_worse(status, session->gates[i].status);
    return status;
}

/* ---- claims ---- */

/* True if the back end can be used in a claim. Otherwise writes the reason. */
static bool can_claim(const struct ab_session *s, uint32_t backend, const char *name,
                      struct ab_checked *r)
{
    if (backend < s->n_backends && ab_backend_is_comparable(&s->backends[backend]))
        return true;
    AB_FIT(r->reason, "%s %s", name,
           backend < s->n_backends ? ab_backend_status_name(s->backends[backend].status)
                                   : "not in this run");
    return false;
}

/* Returns the ns per op of a round minus that of the harness; 0 if the harness takes as much or
 * more. */
static double net_of(const struct ab_session *s, uint32_t backend, const char *phase,
                     uint32_t round)
{
    const struct ab_result *r = ab_session_find(s, backend, phase, AB_OP_ALL, round);
    const struct ab_null_cost *null = ab_session_null(s, backend, phase, round);
    if (r == NULL || null == NULL)
        return NAN;
    return fmax(r->ns_per_op - null->ns_per_op, 0);
}

/* Measures the ratio without the harness. There is no ratio if one side takes no more than its
 * harness in some round, because leaving out that round would favour that side. */
static void measure_net(const struct ab_session *s, uint32_t backend, uint32_t other,
                        struct ab_checked *r)
{
    struct ab_pairs pairs;
    bool is_known = true;
    ab_pairs_init(&pairs, s->n_rounds);
    for (uint32_t i = 0; i < s->n_rounds && is_known; i++) {
        double of = net_of(s, backend, r->phase, s->rounds[i].index),
               by = net_of(s, other, r->phase, s->rounds[i].index);
        is_known = of != 0 && by != 0;
        ab_pairs_add(&pairs, of, by);
    }
    if (is_known && pairs.n > 0) {
        r->relative = ab_pairs_effect(&pairs);
        r->relative.ratio = ab_pairs_ratio(&pairs).median;
    }
    ab_pairs_fini(&pairs);
}

static bool is_throughput(const struct ab_metric *m)
{
    return m->field != NULL && m->op == AB_OP_ALL &&
           m->field->offset == offsetof(struct ab_result, ns_per_op);
}

static void measure_claim(const struct ab_session *s, const struct ab_gate *g, uint32_t backend,
                          struct ab_checked *r)
{
    uint32_t other = backend < s->n_backends ? other_of(s, g, backend) : g->other;
    if (!can_claim(s, backend, g->name, r) || !can_claim(s, other, g->other_name, r))
        return;
    struct ab_ratio ratio = ab_metric_ratio(s, backend, other, &g->metric);
    if (ratio.range.n > 0 && ratio.median.low < ratio.median.high) {
        AB_FIT(r->reason, "below the timer floor");
    } else if (ratio.range.n > 0) {
        r->effect = ratio.effect;
        r->effect.ratio = ratio.range.median;
        r->effect.n_new = ratio.range.n;
        r->low = ratio.range.low;
        r->high = ratio.range.high;
        if (is_throughput(&g->metric))
            measure_net(s, backend, other, r);
    } else {
        ab_metric_why_missing(s, backend, &g->metric, true, r->reason, sizeof r->reason);
        if (r->reason[0] == 0)
            AB_FIT(r->reason, "no such value");
    }
}

void ab_claims_measure(const struct ab_gate *claims, size_t n, struct ab_session *session)
{
    size_t each = session->n_combinations > 1 ? session->n_combinations : 1;
    struct ab_checked *r = ab_alloc_zeroed(n * each + 1, sizeof *r), *next = r;
    for (size_t i = 0; i < n; i++) {
        const struct ab_gate *g = &claims[i];
        bool is_here = g->backend < session->n_backends;
        for (uint32_t b = 0; is_here && b < session->n_backends; b++) {
            if (ab_session_row(session, g->backend, b) != b)
                continue;
            *next = check_of(g);
            next->backend = session->backends[b].name;
            measure_claim(session, g, b, next++);
        }
        if (is_here)
            continue;
        *next = check_of(g);
        next->backend = g->name;
        measure_claim(session, g, g->backend, next++);
    }
    session->claims = r;
    session->n_claims = (uint32_t)(next - r);
}
