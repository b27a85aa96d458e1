/* SPDX-License-Identifier: MIT
 *
 * Sums over the rounds of what iterations took.
 */
#include "result/merge/merge_iterations.h"

#include <math.h>
#include <string.h>

/* Net of the null back end: 0 is what could not be told from it. */
static double seen(double net)
{
    return net > 0 ? net : (double)NAN;
}

void ab_iterations_summarise(struct ab_iterations *x)
{
    x->p50 = seen(ab_result_quantile(x->hdr, 0.5));
    x->p99 = seen(ab_result_quantile(x->hdr, 0.99));
    bool has_all = ab_hdr_total(x->hdr) > 0 && x->hdr->overflow == 0;
    x->max = has_all ? seen((double)x->hdr->max) : (double)NAN;
}

bool ab_session_merge_iterations(const struct ab_session *s, uint32_t backend, const char *phase,
                                 uint32_t round, struct ab_hdr *hdr, struct ab_iterations *out)
{
    uint32_t n_rounds = 0;
    double call_ns = 0;
    ab_hdr_init(hdr);
    for (uint32_t i = 0; i < s->n_iterations; i++) {
        const struct ab_iterations *x = &s->iterations[i];
        if (x->backend != backend || strcmp(x->phase, phase) != 0 ||
            (round != AB_ITERATIONS_ALL_ROUNDS && x->round != round))
            continue;
        if (n_rounds++ == 0) {
            *out = *x;
            out->n = out->n_over_budget = out->n_scheduler = out->n_calls = 0;
            out->n_worst = out->n_stretches = 0;
        }
        out->n += x->n;
        out->n_over_budget += x->n_over_budget;
        out->n_scheduler += x->n_scheduler;
        out->n_calls += x->n_calls;
        if (x->n_calls_most > out->n_calls_most)
            out->n_calls_most = x->n_calls_most;
        call_ns += x->call_ns;
        ab_hdr_merge(hdr, x->hdr);
    }
    if (n_rounds == 0)
        return false;
    out->hdr = hdr;
    out->call_ns = call_ns / n_rounds;
    ab_iterations_summarise(out);
    if (out->n > 0)
        out->reason[0] = 0;
    return true;
}
