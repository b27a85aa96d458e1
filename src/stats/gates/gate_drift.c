/* SPDX-License-Identifier: MIT
 *
 * Asks the witnesses for the metric of a gate, and doubts what they may explain.
 */
#include "stats/gates/gate_drift.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

void ab_gate_drift_measure(const struct ab_gate *gate, const struct ab_drift_question *q,
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

void ab_gate_drift_apply(const struct ab_gate_drift *d, struct ab_effect *effect)
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

void ab_gate_drift_doubt(const struct ab_gate_drift *d, const struct ab_gate *gate,
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
