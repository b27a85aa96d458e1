/* SPDX-License-Identifier: MIT
 *
 * Samples of the memory pass to histograms that are weighted by ops, after judging them: a number
 * that is not known at a sample leaves the ops of that sample out.
 */
#include "runner/fold/fold_dists.h"

#include "core/grow.h"
#include "result/memory_dist.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct phase_samples {
    const struct ab_memory_sample *samples;
    uint32_t n;
};

/* The numbers of a sample, by kind; NaN = not known here. */
struct values {
    double of[AB_DIST_COUNT];
};

const char *ab_fold_doubt_pages(const struct ab_memory_report *r)
{
    if ((r->flags & AB_MEMORY_MOVES) != 0)
        return "blocks may move: their addresses are unknown";
    if ((r->flags & AB_MEMORY_NO_PAGES) != 0)
        return "/proc/self/pagemap or smaps cannot be read";
    if ((r->flags & AB_MEMORY_OVERLAP) != 0)
        return "live blocks overlap, or usable_size is too large";
    return NULL;
}

/* Those of a phase, as far as the report can be believed. */
static struct phase_samples find_samples(const struct ab_outcome *run, uint32_t phase)
{
    const struct ab_memory_phase *p = &run->memory->phases[phase];
    uint32_t cap = run->cap_memory_samples, first = p->first_sample;
    if (first > cap || p->n_samples > cap - first)
        return (struct phase_samples){NULL, 0};
    return (struct phase_samples){run->memory->samples + first, p->n_samples};
}

/* They ascend within the phase and stand for its ops, each for those since the one before. */
static bool is_consistent(const struct phase_samples *x, const struct ab_phase *phase)
{
    uint32_t at = phase->begin;
    for (uint32_t i = 0; i < x->n; i++) {
        const struct ab_memory_sample *s = &x->samples[i];
        if (s->position <= at || s->position > phase->end || s->n_ops != s->position - at)
            return false;
        at = s->position;
    }
    return x->samples != NULL;
}

static const char *doubt(const struct ab_outcome *run, uint32_t index, const char *trouble,
                         const struct ab_phase *phase)
{
    const struct ab_memory_report *r = run->memory;
    struct phase_samples x = find_samples(run, index);
    const char *pages = trouble != NULL ? trouble : ab_fold_doubt_pages(r);
    if (pages != NULL)
        return pages;
    if ((r->flags & AB_MEMORY_NO_LEDGER) != 0)
        return "blocks overlap, or are too far apart to be followed";
    if (r->phases[index].n_disputed > 0)
        return "two counts of the pages differ: one that held a live block went";
    if (!is_consistent(&x, phase))
        return "the worker's report is inconsistent";
    return x.n == 0 ? "no op" : NULL;
}

static double bytes(uint64_t n)
{
    return n < UINT64_C(1) << 56 ? (double)n : NAN;
}

static struct values values_of(const struct ab_memory_report *r, const struct ab_memory_sample *s,
                               bool has_usable)
{
    double live = bytes(s->live_bytes), internal = bytes(s->internal_bytes);
    double external = bytes(s->external_bytes), footprint = bytes(s->footprint_bytes);
    double retained = footprint - live - internal - external;
    double least = AB_FOLD_LEAST_PAGES * (double)r->page_bytes;
    if (r->granularity_pages > 0 || retained < 0)
        footprint = retained = NAN; /* it holds less than its pages: statm is wrong here */
    if (!has_usable) {
        external += internal;
        internal = NAN;
    }
    double by = live > 0 && !(footprint < least) ? live : NAN;
    return (struct values){.of = {
                               [AB_DIST_OVERHEAD] = footprint / by,
                               [AB_DIST_INTERNAL_RATIO] = internal / by,
                               [AB_DIST_EXTERNAL_RATIO] = external / by,
                               [AB_DIST_RETAINED_RATIO] = retained / by,
                               [AB_DIST_INTERNAL_BYTES] = internal,
                               [AB_DIST_EXTERNAL_BYTES] = external,
                               [AB_DIST_RETAINED_BYTES] = retained,
                           }};
}

static bool is_internal(enum ab_memory_dist_kind kind)
{
    return kind == AB_DIST_INTERNAL_RATIO || kind == AB_DIST_INTERNAL_BYTES;
}

static bool needs_footprint(enum ab_memory_dist_kind kind)
{
    return kind == AB_DIST_OVERHEAD || kind == AB_DIST_RETAINED_RATIO ||
           kind == AB_DIST_RETAINED_BYTES;
}

/* Why it is not known for all ops. */
static const char *gap(const struct ab_memory_report *r, enum ab_memory_dist_kind kind,
                       bool has_usable)
{
    if (is_internal(kind) && !has_usable)
        return (r->flags & AB_MEMORY_USABLE_LESS) != 0
                   ? "usable_size is less than requested: counted as external"
                   : "no usable_size: counted as external";
    if (needs_footprint(kind) && r->granularity_pages > 0)
        return "the kernel counts pages in batches: exact at checkpoints only";
    if (ab_memory_dists[kind].step < 1)
        return "ratios: no live bytes, or fewer than 16 pages";
    return "live blocks occupy more pages than the footprint has";
}

static bool has_usable_size(const struct ab_memory_report *r, uint32_t phase)
{
    return (r->flags & AB_MEMORY_USABLE_LESS) == 0 &&
           !isnan(bytes(r->phases[phase].at[AB_AT_END].usable_bytes));
}

static void fill(const struct ab_outcome *run, uint32_t phase, struct ab_memory_dist *dists)
{
    struct phase_samples x = find_samples(run, phase);
    bool has_usable = has_usable_size(run->memory, phase);
    for (uint32_t i = 0; i < x.n; i++) {
        struct values v = values_of(run->memory, &x.samples[i], has_usable);
        for (unsigned k = 0; k < AB_DIST_COUNT; k++)
            ab_memory_dist_add(&dists[k], v.of[k], x.samples[i].n_ops);
    }
    for (unsigned k = 0; k < AB_DIST_COUNT; k++)
        if (ab_hdr_total(dists[k].hdr) + dists[k].hdr->overflow < dists[k].n_ops)
            snprintf(dists[k].reason, sizeof dists[k].reason, "%s",
                     gap(run->memory, (enum ab_memory_dist_kind)k, has_usable));
}

static void fold_phase(const struct ab_fold *f, const struct ab_outcome *run, uint32_t index,
                       const char *trouble, struct ab_memory_dist *dists)
{
    const struct ab_phase *phase = &f->tape->phases[index];
    const char *why = doubt(run, index, trouble, phase);
    for (unsigned k = 0; k < AB_DIST_COUNT; k++) {
        dists[k] = (struct ab_memory_dist){.backend = f->backend,
                                           .phase = phase->name,
                                           .round = f->round,
                                           .kind = (enum ab_memory_dist_kind)k,
                                           .n_ops = phase->end - phase->begin};
        if (why != NULL)
            snprintf(dists[k].reason, sizeof dists[k].reason, "%s", why);
        else
            dists[k].hdr = ab_memory_dist_histogram();
    }
    if (why == NULL)
        fill(run, index, dists);
}

void ab_fold_dists(const struct ab_fold *f, const struct ab_outcome *run, const char *trouble)
{
    struct ab_session *s = f->session;
    for (uint32_t i = 0; i < f->tape->image->n_phases; i++) {
        if (!f->tape->phases[i].is_measured)
            continue;
        AB_GROW(s->dists, s->cap_dists, s->n_dists + AB_DIST_COUNT);
        struct ab_memory_dist *dists = s->dists + s->n_dists;
        s->n_dists += AB_DIST_COUNT;
        fold_phase(f, run, i, trouble, dists);
    }
}
