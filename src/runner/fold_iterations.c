/* SPDX-License-Identifier: MIT
 *
 * Converts the ticks of iterations to histograms. The time of an iteration is the sum over its
 * calls, often thousands, and includes the cost of timing each call. The null back end makes the
 * same calls in the same pass. Its time of one call is subtracted for each call.
 */
#include "core/text.h"
#include "runner/fold.h"

#include "base/search.h"
#include "core/alloc.h"
#include "core/median.h"
#include "result/merge/merge_rounds.h"
#include "result/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A lane in a phase, whose iterations are counted. */
struct place {
    const struct ab_fold *f;
    uint32_t phase, lane;
};

/* Returns how many iterations the lane has in the bursts before `burst`, in those phases of [begin,
 * end) that have the name of the lane's phase. Phases with one name are repetitions. */
static uint32_t count(const struct place *at, uint32_t begin, uint32_t end, uint32_t burst)
{
    const struct ab_tape_image *image = at->f->tape->image;
    const struct ab_phase *phases = at->f->tape->phases;
    uint32_t n = 0;
    for (uint32_t b = 0; b < burst; b++) {
        struct ab_tape_part part = ab_tape_part(image, b);
        for (uint32_t p = begin; p < end && part.n_iterations > 0; p++) {
            const uint32_t *first = &part.iteration_begin[p * image->n_lanes + at->lane];
            if (strcmp(phases[p].name, phases[at->phase].name) == 0)
                n += first[1] - first[0];
        }
    }
    return n;
}

/* Iterator over the iterations of one phase, lane by lane, and for each lane burst by burst. */
struct walk {
    struct place at;
    const struct ab_outcome *run;
    /* next, end: range of indices in run->iterations that is still to come */
    uint32_t burst, next, end;
    uint32_t iteration; /* number of the last iteration, counted from 1 in its lane */
};

static struct walk begin(const struct ab_fold *f, const struct ab_outcome *run, uint32_t phase)
{
    struct walk w = {.at = {f, phase, 0}, .run = run};
    w.iteration = count(&w.at, 0, phase, f->tape->image->n_bursts);
    return w;
}

static const struct ab_iteration *next(struct walk *w)
{
    const struct ab_tape_image *image = w->at.f->tape->image;
    while (w->next == w->end) {
        bool is_last = w->burst == image->n_bursts;
        if (w->run->iterations == NULL || (is_last && w->at.lane + 1 == image->n_lanes))
            return NULL;
        if (is_last) {
            w->burst = 0;
            w->at.lane++;
            w->iteration = count(&w->at, 0, w->at.phase, image->n_bursts);
        }
        struct ab_tape_part part = ab_tape_part(image, w->burst++);
        if (part.n_iterations == 0)
            continue;
        const uint32_t *first = &part.iteration_begin[w->at.phase * image->n_lanes + w->at.lane];
        w->next = part.first_iteration + first[0];
        w->end = part.first_iteration + first[1];
    }
    w->iteration++;
    return &w->run->iterations[w->next++];
}

static bool has_iterations(const struct ab_phase *phase)
{
    return phase->is_measured && phase->iteration[0] != 0;
}

uint32_t ab_fold_iteration_at(const struct ab_fold *f, uint32_t position)
{
    const struct ab_tape_image *image = f->tape->image;
    struct place x = {.f = f};
    uint32_t burst = image->n_bursts;
    while (x.phase < image->n_phases && position >= f->tape->phases[x.phase].end)
        x.phase++;
    while (burst > 0 && ab_tape_burst(image, burst - 1)->first > position)
        burst--;
    if (x.phase == image->n_phases || burst-- == 0 || !has_iterations(&f->tape->phases[x.phase]))
        return 0;
    struct ab_tape_part part = ab_tape_part(image, burst);
    uint32_t at = position - part.first;
    const uint32_t *lanes = &part.lane_begin[x.phase * image->n_lanes];
    while (x.lane + 1 < image->n_lanes && lanes[x.lane + 1] <= at)
        x.lane++;
    uint32_t ended = count(&x, x.phase, x.phase + 1, burst);
    if (part.n_iterations > 0) {
        const uint32_t *first = &part.iteration_begin[x.phase * image->n_lanes + x.lane];
        const uint32_t *ends = &part.iterations[first[0]];
        ended += (uint32_t)AB_SEARCH(i, first[1] - first[0], ends[i] <= at);
    }
    if (ended == count(&x, x.phase, x.phase + 1, image->n_bursts))
        return 0;
    return count(&x, 0, x.phase, image->n_bursts) + ended + 1;
}

/* ---- null back end ---- */

/* Returns the time of one call of the null back end: the median over its iterations in the phase;
 * NaN = no iteration. */
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

/* ---- other back ends ---- */

static void keep_worst(struct ab_iterations *x, const struct ab_iteration_time *t)
{
    uint32_t at = x->n_worst;
    while (at > 0 && x->worst[at - 1].ns < t->ns)
        at--;
    if (at == AB_ITERATIONS_WORST_MAX || t->ns == 0)
        return;
    x->n_worst += x->n_worst < AB_ITERATIONS_WORST_MAX;
    memmove(&x->worst[at + 1], &x->worst[at], (x->n_worst - 1 - at) * sizeof x->worst[0]);
    x->worst[at] = *t;
}

static void keep(struct ab_iterations *x, const struct ab_iteration_time *t)
{
    uint64_t *most = &x->stretches[(t->iteration - 1) / x->stretch];
    if (*most == AB_NO_TIME || *most < t->ns)
        *most = t->ns;
    keep_worst(x, t);
}

/* Adds the iteration `i`, at which the iterator `w` stands, without the cost of timing its
 * calls. */
static void add(struct ab_iterations *to, const struct ab_iteration *i, const struct walk *w)
{
    if (i->n_scheduler > 0) {
        to->n_scheduler++;
        return;
    }
    double net = (double)i->ticks * w->at.f->clock->ns_per_tick - i->n_calls * to->call_ns;
    net = fmin(fmax(net, 0), 1e18);
    to->n++;
    to->n_calls += i->n_calls;
    to->n_calls_most = i->n_calls > to->n_calls_most ? i->n_calls : to->n_calls_most;
    to->n_over_budget += net > to->budget_ns; /* never true if budget_ns is NaN */
    struct ab_iteration_time t = {(uint64_t)(net + 0.5), w->iteration, w->at.lane};
    ab_hdr_record(to->hdr, t.ns);
    keep(to, &t);
}

/* Sets the number of iterations in a stretch so that the stretches suffice for the lane with the
 * most iterations. */
static void set_stretches(struct ab_iterations *x, const struct place *at)
{
    const struct ab_tape_image *image = at->f->tape->image;
    uint32_t most = 0;
    for (uint32_t lane = 0; lane < image->n_lanes; lane++) {
        struct place of = {at->f, at->phase, lane};
        uint32_t n = count(&of, 0, image->n_phases, image->n_bursts);
        most = n > most ? n : most;
    }
    x->stretch = most / AB_STRETCHES_MAX + (most % AB_STRETCHES_MAX != 0);
    x->n_stretches = most > 0 ? (most - 1) / x->stretch + 1 : 0;
    for (uint32_t i = 0; i < x->n_stretches; i++)
        x->stretches[i] = AB_NO_TIME;
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
        AB_FIT(out->reason, "what timing a call takes is not known");
        return;
    }
    set_stretches(out, &walk.at);
    for (const struct ab_iteration *i; (i = next(&walk)) != NULL;)
        add(out, i, &walk);
    if (out->n == 0)
        AB_FIT(out->reason, "no iteration that the scheduler left alone");
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
            .hdr = ab_hdr_new(),
        };
        AB_GROW(s->iterations, s->cap_iterations, s->n_iterations);
        AB_COPY(x.name, phase->iteration);
        ab_iterations_summarise(&x);
        fold_phase(f, run, p, &x);
        s->iterations[s->n_iterations++] = x;
    }
}
