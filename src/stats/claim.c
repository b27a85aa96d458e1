/* SPDX-License-Identifier: MIT
 *
 * Measures the figure that a claim names, or says why it cannot be measured.
 */
#include "stats/claim.h"

#include "core/memory.h"
#include "result/session.h"

#include <math.h>
#include <stddef.h>
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

/* ns per op of a round without what the harness takes; 0 where it takes as much. */
static double net_of(const struct ab_session *s, uint32_t backend, const char *phase,
                     uint32_t round)
{
    const struct ab_result *r = ab_session_find(s, backend, phase, AB_OP_ALL, round);
    const struct ab_null_cost *null = ab_session_null(s, backend, phase, round);
    if (r == NULL || null == NULL)
        return NAN;
    return fmax(r->ns_per_op - null->ns_per_op, 0);
}

/* A round in which one of them takes no more than its harness has no ratio, and without it the others
 * would flatter that one: then there is no number. */
static void measure_net(const struct ab_session *s, const struct ab_gate *g,
                        struct ab_claim_result *r)
{
    struct ab_pairs pairs;
    bool is_known = true;
    ab_pairs_init(&pairs, s->n_rounds);
    for (uint32_t i = 0; i < s->n_rounds && is_known; i++) {
        double of = net_of(s, g->backend, r->phase, s->rounds[i].index),
               by = net_of(s, g->other, r->phase, s->rounds[i].index);
        is_known = of != 0 && by != 0;
        ab_pairs_add(&pairs, of, by);
    }
    if (is_known && pairs.n > 0) {
        struct ab_effect effect = ab_pairs_effect(&pairs);
        r->net = ab_pairs_ratio(&pairs).median;
        r->net_interval_low = effect.low;
        r->net_interval_high = effect.high;
    }
    ab_pairs_fini(&pairs);
}

static bool is_throughput(const struct ab_metric *m)
{
    return m->field != NULL && m->op == AB_OP_ALL &&
           m->field->offset == offsetof(struct ab_result, ns_per_op);
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
        if (is_throughput(&g->metric))
            measure_net(s, g, r);
    } else {
        ab_metric_why_missing(s, g->backend, &g->metric, true, r->reason, sizeof r->reason);
        if (r->reason[0] == 0)
            snprintf(r->reason, sizeof r->reason, "no such value");
    }
}

void ab_claims_measure(const struct ab_claim *claims, size_t n, struct ab_session *session)
{
    struct ab_claim_result *r = ab_alloc_zeroed(n + 1, sizeof *r);
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
            .net = NAN,
            .net_interval_low = NAN,
            .net_interval_high = NAN,
        };
        measure(session, g, &r[i]);
    }
    session->claims = r;
    session->n_claims = (uint32_t)n;
}
