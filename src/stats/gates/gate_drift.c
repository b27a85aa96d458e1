/* SPDX-License-Identifier: MIT
 *
 * Makes times of what a gate is about, and asks the other back ends of both results for the same one.
 */
#include "stats/gates/gate_drift.h"

#include "stats/compare_drift.h"

#include <math.h>
#include <string.h>

static bool is_rate(const struct ab_metric *m)
{
    return strcmp(ab_metric_unit(m), "1/s") == 0;
}

static struct ab_effect as_time(const struct ab_metric *m, const struct ab_effect *e)
{
    struct ab_effect turned = *e;
    if (is_rate(m)) {
        turned.ratio = 1 / e->ratio;
        turned.low = 1 / e->high;
        turned.high = 1 / e->low;
    }
    return turned;
}

static void hear_all(struct ab_drift *d, const struct ab_metric *m)
{
    for (uint32_t i = 0; i < d->now->n_backends; i++) {
        struct ab_effect e;
        const char *name = d->now->backends[i].name;
        for (uint32_t k = 0; k < d->base->n_backends; k++)
            if (strcmp(d->base->backends[k].name, name) == 0 &&
                ab_compare_metric(d->base, k, d->now, i, m, &e))
                ab_drift_hear(d, name, as_time(m, &e).ratio);
    }
}

void ab_gate_excuse_drift(const struct ab_gate *gate, const struct ab_session *base,
                          const struct ab_session *now, uint32_t backend,
                          const struct ab_effect *effect, struct ab_gate_result *r)
{
    const struct ab_metric *m = &gate->metric;
    bool is_most = gate->compare == AB_GATE_LESS || gate->compare == AB_GATE_AT_MOST;
    double allowed = is_most ? gate->bound : 1 / gate->bound; /* above 1: the metric may be worse */
    if (r->verdict != AB_GATE_FAIL || !(allowed >= 1) ||
        (!is_rate(m) && strcmp(ab_metric_unit(m), "ns") != 0))
        return;
    struct ab_drift d = {.base = base,
                         .now = now,
                         .backend = now->backends[backend].name,
                         .effect = as_time(m, effect),
                         .limit = allowed - 1,
                         .sign = is_most != is_rate(m) ? 1 : -1};
    hear_all(&d, m);
    if (ab_drift_explains(&d, r->reason, sizeof r->reason))
        r->verdict = AB_GATE_INCONCLUSIVE;
}
