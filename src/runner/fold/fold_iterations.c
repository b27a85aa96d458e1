/* SPDX-License-Identifier: MIT
 *
 * Ticks of iterations to a histogram. A sum over thousands of calls holds the price of timing them
 * thousands of times: the null back end does the same calls in the same pass, and what one of them
 * takes there comes off for each.
 */
#include "runner/fold/fold_iterations.h"

#include "core/grow.h"
#include "core/median.h"
#include "core/memory.h"
#include "result/merge/merge_iterations.h"
#include "result/session.h"
#include "runner/fold/fold_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The iterations of one phase, in the order of lanes and bursts. */
struct walk {
    const struct ab_fold *f;
    const struct ab_outcome *run;
    uint32_t phase, burst;
    uint32_t next, end; /* of run->iterations */
};

static struct walk begin(const struct ab_fold *f, const struct ab_outcome *run, uint32_t phase)
{
    return (struct walk){.f = f, .run = run, .phase = phase};
}

static const struct ab_iteration *next(struct walk *w)
{
    const struct ab_tape_image *image = w->f->tape->image;
    while (w->next == w->end) {
        if (w->burst == image->n_bursts || w->run->iterations == NULL)
            return NULL;
        struct ab_tape_part part = ab_tape_part(image, w->burst++);
        if (part.n_iterations == 0)
            continue;
        const uint32_t *first = &part.iteration_begin[w->phase * image->n_lanes];
        w->next = part.first_iteration + first[0];
        w->end = part.first_iteration + first[image->n_lanes];
    }
    return &w->run->iterations[w->next++];
}

static bool has_iterations(const struct ab_phase *phase)
{
    return phase->is_measured && phase->iteration[0] != 0;
}

/* ---- the null back end ---- */

/* The median over the iterations of what a call took; NaN = none. */
static double call_ns(const struct ab_fold *f, const struct ab_outcome *null, uint32_t phase)
{
    double *x = ab_alloc_zeroed((size_t)f->tape->image->n_iterations + 1, sizeof x[0]);
    struct walk walk = begin(f, null, phase);
    size_t n = 0;
    for (const struct ab_iteration *i; (i = next(&walk)) != NULL;)
        if (i->n_calls > 0 && i->n_scheduler == 0)
            x[n++] = (double)i->ticks / i->n_calls * f->clock->ns_per_tick;
    double median = ab_median(x, n);
    free(x);
    return median;
}

void ab_fold_iteration_cost(const struct ab_fold *f, const struct ab_outcome *null)
{
    for (uint32_t p = 0; p < f->tape->image->n_phases; p++) {
        const struct ab_phase *phase = &f->tape->phases[p];
        struct ab_null_cost *cost = ab_session_null(f->session, f->backend, phase->name, f->round);
        if (cost != NULL && has_iterations(phase))
            cost->iteration_call_ns = call_ns(f, null, p);
    }
}

/* ---- a back end ---- */

static void add(struct ab_iterations *to, const struct ab_iteration *i, double ns_per_tick)
{
    if (i->n_scheduler > 0) {
        to->n_scheduler++;
        return;
    }
    double net = (double)i->ticks * ns_per_tick - i->n_calls * to->call_ns;
    net = fmin(fmax(net, 0), 1e18);
    to->n++;
    to->n_calls += i->n_calls;
    to->n_calls_most = i->n_calls > to->n_calls_most ? i->n_calls : to->n_calls_most;
    to->n_over_budget += net > to->budget_ns; /* NaN: no budget, never */
    ab_hdr_record(to->hdr, (uint64_t)(net + 0.5));
}

static void fold_phase(const struct ab_fold *f, const struct ab_outcome *run, uint32_t p,
                       struct ab_iterations *out)
{
    const struct ab_phase *phase = &f->tape->phases[p];
    const struct ab_null_cost *null = ab_session_null(f->session, f->backend, phase->name,
                                                      f->round);
    struct walk walk = begin(f, run, p);
    out->call_ns = null != NULL ? null->iteration_call_ns : (double)NAN;
    if (isnan(out->call_ns)) {
        snprintf(out->reason, sizeof out->reason, "what timing a call takes is not known");
        return;
    }
    for (const struct ab_iteration *i; (i = next(&walk)) != NULL;)
        add(out, i, f->clock->ns_per_tick);
    if (out->n == 0)
        snprintf(out->reason, sizeof out->reason, "no iteration that the scheduler left alone");
    ab_iterations_summarise(out);
}

void ab_fold_iterations(const struct ab_fold *f, const struct ab_outcome *run)
{
    struct ab_session *s = f->session;
    for (uint32_t p = 0; p < f->tape->image->n_phases; p++) {
        const struct ab_phase *phase = &f->tape->phases[p];
        if (!has_iterations(phase))
            continue;
        struct ab_iterations x = {
            .backend = f->backend,
            .phase = phase->name,
            .round = f->round,
            .budget_ns = phase->budget_ns != 0 ? (double)phase->budget_ns : (double)NAN,
            .hdr = ab_fold_new_hdr(),
        };
        AB_GROW(s->iterations, s->cap_iterations, s->n_iterations);
        snprintf(x.name, sizeof x.name, "%s", phase->iteration);
        ab_iterations_summarise(&x);
        fold_phase(f, run, p, &x);
        s->iterations[s->n_iterations++] = x;
    }
}

void ab_fold_drop_iterations(struct ab_session *s, uint32_t backend, uint32_t round)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->n_iterations; i++) {
        struct ab_iterations *x = &s->iterations[i];
        if ((backend == AB_FOLD_ANY || backend == x->backend) &&
            (round == AB_FOLD_ANY || round == x->round))
            free(x->hdr);
        else
            s->iterations[kept++] = *x;
    }
    s->n_iterations = kept;
}
