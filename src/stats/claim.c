/* SPDX-License-Identifier: MIT
 *
 * Measures the figure that a claim names, or says why it cannot be measured.
 */
#include "stats/claim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Can it take part? Else says why not. */
static bool has_numbers(const struct ab_session *s, uint32_t backend, const char *name,
                        struct ab_claim_result *r)
{
    if (backend < s->n_backends && ab_backend_is_comparable(&s->backends[backend]))
        return true;
    snprintf(r->reason, sizeof r->reason, "%.100s %s", name,
             backend < s->n_backends ? ab_backend_status_name(s->backends[backend].status)
                                     : "not in this run");
    return false;
}

static void measure(const struct ab_session *s, const struct ab_gate *g, struct ab_claim_result *r)
{
    if (!has_numbers(s, g->backend, g->name, r) || !has_numbers(s, g->other, g->other_name, r))
        return;
    struct ab_ratio ratio = ab_metric_ratio(s, g->backend, g->other, &g->metric);
    if (ratio.range.n > 0 && ratio.median.low < ratio.median.high) {
        snprintf(r->reason, sizeof r->reason, "below the timer floor");
    } else if (ratio.range.n > 0) {
        r->measured = ratio.range.median;
        r->low = ratio.range.low;
        r->high = ratio.range.high;
        r->interval_low = ratio.effect.low;
        r->interval_high = ratio.effect.high;
        r->n_rounds = ratio.range.n;
    } else {
        ab_metric_why_missing(s, g->backend, &g->metric, true, r->reason, sizeof r->reason);
        if (r->reason[0] == 0)
            snprintf(r->reason, sizeof r->reason, "no such value");
    }
}

bool ab_claims_measure(const struct ab_claim *claims, size_t n, struct ab_session *session)
{
    struct ab_claim_result *r = calloc(n + 1, sizeof *r);
    if (r == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct ab_gate *g = &claims[i].figure;
        const struct ab_metric *m = &g->metric;
        r[i] = (struct ab_claim_result){
            .text = g->text,
            .place = g->place,
            .says = claims[i].says,
            .source = claims[i].source,
            .phase = m->phase,
            .op = ab_metric_of(m),
            .stat = ab_metric_name(m),
            .backend = g->name,
            .base = g->other_name,
            .is_higher_better = ab_metric_better(m) == AB_FIELD_HIGHER,
            .claimed = g->bound,
            .measured = NAN,
            .low = NAN,
            .high = NAN,
            .interval_low = NAN,
            .interval_high = NAN,
        };
        measure(session, g, &r[i]);
    }
    session->claims = r;
    session->n_claims = (uint32_t)n;
    return true;
}
