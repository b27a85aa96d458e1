/* SPDX-License-Identifier: MIT
 *
 * Judging. What the clock cannot tell is carried as an interval: a verdict is given only where
 * both of its ends agree.
 */
#include "stats/gate.h"

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
             "the bound is below the timer floor of %.0f ns; gate %s/all/ns_per_op "
             "instead",
             floor_ns, gate->metric.phase);
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
        break;
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

static void judge_absolute(const struct ab_session *s, const struct ab_gate *g, uint32_t backend,
                           struct ab_gate_result *r)
{
    r->value = ab_metric_value(s, backend, &g->metric);
    decide(g, ab_metric_interval(s, &g->metric, r->value), r);
}

/* The floor of a ratio: numbers that lie closer together than this are as good as equal. */
static void forgive(const struct ab_gate *g, struct ab_interval a, struct ab_interval b,
                    struct ab_gate_result *r)
{
    double apart = fmax(fabs(a.high - b.low), fabs(b.high - a.low));
    if (r->verdict == AB_GATE_PASS || !(apart < g->floor))
        return;
    r->verdict = AB_GATE_PASS;
    snprintf(r->reason, sizeof r->reason, "the difference is below the floor");
}

static void judge_beside(const struct ab_session *s, const struct ab_gate *g, uint32_t backend,
                         struct ab_gate_result *r)
{
    const struct ab_metric *m = &g->metric;
    if (!is_judgeable(s, g->other, g->other_name, r))
        return;
    struct ab_ratio ratio = ab_metric_ratio(s, backend, g->other, m);
    r->value = ratio.range.median;
    decide(g, ratio.median, r);
    double a = ab_metric_value(s, backend, m), b = ab_metric_value(s, g->other, m);
    if (ratio.range.n > 0)
        forgive(g, ab_metric_interval(s, m, a), ab_metric_interval(s, m, b), r);
    else if (a < 0 || b < 0)
        snprintf(r->reason, sizeof r->reason, "no ratio of negative values");
    else
        ab_metric_why_missing(s, isnan(a) ? backend : g->other, m, true, r->reason,
                              sizeof r->reason);
}

static void judge_by_live(const struct ab_session *s, const struct ab_gate *g, uint32_t backend,
                          struct ab_gate_result *r)
{
    double size = ab_metric_value(s, backend, &g->metric);
    double live = ab_metric_live_peak(s, backend, &g->metric);
    r->value = ab_metric_by_live(s, backend, &g->metric).median;
    decide(g, (struct ab_interval){r->value, r->value}, r);
    if (!isnan(r->value))
        forgive(g, (struct ab_interval){size, size}, (struct ab_interval){live, live}, r);
}

static void judge(const struct ab_session *s, const struct ab_gate *g, uint32_t backend,
                  struct ab_gate_result *r)
{
    *r = (struct ab_gate_result){
        .text = g->text,
        .place = g->place,
        .backend = backend < s->n_backends ? backend : UINT32_MAX,
        .verdict = AB_GATE_NOT_EVALUATED,
        .value = NAN,
        .bound = g->bound,
        .unit = g->unit,
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
        else
            judge_by_live(s, g, backend, r);
        if (r->verdict == AB_GATE_NOT_EVALUATED && r->reason[0] == 0)
            ab_metric_why_missing(s, backend, &g->metric, false, r->reason, sizeof r->reason);
        if (r->verdict == AB_GATE_NOT_EVALUATED && r->reason[0] == 0)
            snprintf(r->reason, sizeof r->reason, "no such value");
    }
    r->status = r->verdict == AB_GATE_PASS ? AB_OK : AB_GATE;
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

/* A gate on each back end but null and the one that it compares with. Returns how many entries. */
static size_t judge_each(const struct ab_session *s, const struct ab_gate *g,
                         struct ab_gate_result *r)
{
    size_t n = 0, n_judged = 0;
    for (uint32_t i = 0; i < s->n_backends; i++) {
        if (ab_backend_is_null(&s->backends[i]) || (g->against == AB_GATE_BACKEND && i == g->other))
            continue;
        judge(s, g, i, &r[n]);
        n_judged += r[n].verdict != AB_GATE_NOT_EVALUATED;
        if (r[n].status == AB_GATE && is_skippable(&s->backends[i]))
            set(&r[n], AB_GATE_SKIPPED, AB_OK);
        n++;
    }
    if (n == 0) {
        judge(s, g, UINT32_MAX, &r[n]);
        snprintf(r[n++].reason, sizeof r->reason, "this run has no back end to evaluate");
    }
    for (size_t i = 0; i < n && n_judged == 0; i++)
        set(&r[i], AB_GATE_NOT_EVALUATED, r[i].status == AB_OK ? AB_GATE : r[i].status);
    return n;
}

bool ab_gates_judge(const struct ab_gate *gates, size_t n, struct ab_session *session)
{
    size_t most = (size_t)session->n_backends + 1, used = 0;
    struct ab_gate_result *r = calloc(n * most + 1, sizeof *r);
    if (r == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (gates[i].backend == AB_GATE_EACH)
            used += judge_each(session, &gates[i], r + used);
        else
            judge(session, &gates[i], gates[i].backend, &r[used++]);
    }
    session->gates = r;
    session->n_gates = (uint32_t)used;
    return true;
}

enum ab_status ab_gates_status(const struct ab_session *session)
{
    enum ab_status status = AB_OK;
    for (uint32_t i = 0; i < session->n_gates; i++)
        if (session->gates[i].status != AB_OK && status != AB_CONFIG)
            status = session->gates[i].status;
    return status;
}
