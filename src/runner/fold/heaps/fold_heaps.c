/* SPDX-License-Identifier: MIT
 *
 * Shares the samples of a mapped row out among its heaps: each goes where the walk over the tape
 * (runner/route) sent its op. What the calls of a heap took is estimated from its samples, each of
 * which stands for as many calls as it was drawn from: 1 / rate.
 */
#include "runner/fold/heaps/fold_heaps.h"

#include "core/grow.h"
#include "core/memory.h"
#include "runner/fold/sample_iter.h"
#include "runner/sample_plan.h"

#include <math.h>
#include <stdlib.h>

struct pile { /* of one heap and kind */
    struct ab_hdr *hdr;
    double sum_ns;
    uint64_t n, n_seen; /* samples; those that were left out as well */
};

struct piles {
    struct pile of[AB_ROUTE_HEAPS_MAX][AB_OP_ALL + 1];
};

static uint64_t count_calls(const struct ab_route_use *use, unsigned op)
{
    uint64_t n = 0;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        n += k == op || (op == AB_OP_ALL && k != AB_OP_RESET) ? use->n_calls[k] : 0;
    return n;
}

static void take(struct pile *pile, const struct ab_sample *sample)
{
    pile->n_seen++;
    if (sample->is_left_out)
        return;
    if (pile->hdr != NULL)
        ab_hdr_record(pile->hdr, sample->ns);
    if (sample->ns == UINT64_MAX) /* longer than could be stored: in no sum */
        return;
    pile->sum_ns += (double)sample->ns;
    pile->n++;
}

static void share_out(const struct ab_fold *f, const struct ab_route *route,
                      const struct ab_phase *phase, const struct ab_outcome *run,
                      struct piles *piles)
{
    struct ab_samples walk;
    struct ab_sample sample;
    ab_samples_begin(&walk, f, phase, run);
    while (ab_samples_next(&walk, &sample)) {
        uint8_t heap = route->heap_of[sample.position];
        if (heap == AB_ROUTE_NO_HEAP)
            continue;
        take(&piles->of[heap][sample.kind], &sample);
        if (sample.is_fair)
            take(&piles->of[heap][AB_OP_ALL], &sample);
    }
}

/* A bulk reset of one heap among several is in no phase's count, and is drawn as the commonest are. */
static double rate_of(const struct ab_phase *phase, unsigned kind)
{
    return phase->n_ops[kind] > 0 ? ab_sampling_rate(phase, kind) : ab_sampling_base(phase);
}

static double estimate_time(const struct ab_phase *phase, const struct pile *piles, unsigned op)
{
    double time = NAN;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++) {
        const struct pile *p = &piles[k];
        if (p->n > 0 && (k == op || op == AB_OP_ALL))
            time = ab_heap_time_sum(time, p->sum_ns / (double)p->n * (double)p->n_seen /
                                              rate_of(phase, k));
    }
    return time;
}

static void add_part(const struct ab_fold *f, const struct ab_phase *phase, uint32_t heap,
                     unsigned op, const struct ab_route_use *use, struct ab_hdr **out)
{
    struct ab_session *s = f->session;
    struct ab_hdr *hdr = ab_fold_new_hdr();
    AB_GROW(s->heap_parts, s->cap_heap_parts, s->n_heap_parts);
    s->heap_parts[s->n_heap_parts++] = (struct ab_heap_part){
        .backend = f->backend,
        .heap = heap,
        .phase = phase->name,
        .op = op,
        .round = f->round,
        .n_calls = count_calls(use, op),
        .time_ns = NAN,
        .live_peak_blocks = op == AB_OP_ALL ? use->live_peak_blocks : 0,
        .live_peak_bytes = op == AB_OP_ALL ? use->live_peak_bytes : 0,
        .hdr = hdr,
    };
    *out = hdr;
}

/* Their times; a reset that was never timed was frees one by one. */
static void settle_parts(struct ab_session *s, uint32_t first, const struct ab_phase *phase,
                         const struct piles *piles)
{
    uint32_t kept = first;
    for (uint32_t i = first; i < s->n_heap_parts; i++) {
        struct ab_heap_part part = s->heap_parts[i];
        const struct pile *of = piles->of[part.heap];
        part.time_ns = estimate_time(phase, of, part.op);
        if (part.op == AB_OP_RESET && of[AB_OP_RESET].n_seen == 0)
            free(part.hdr);
        else
            s->heap_parts[kept++] = part;
    }
    s->n_heap_parts = kept;
}

static void fold_phase(const struct ab_fold *f, const struct ab_route *route, uint32_t index,
                       const struct ab_outcome *run, struct piles *piles)
{
    const struct ab_phase *phase = &f->tape->phases[index];
    struct ab_session *s = f->session;
    uint32_t first = s->n_heap_parts;
    *piles = (struct piles){0};
    for (uint32_t h = 0; h < route->image->n_heaps; h++) {
        const struct ab_route_use *use = &route->uses[index][h];
        for (unsigned op = 0; op <= AB_OP_ALL; op++)
            if (count_calls(use, op) > 0)
                add_part(f, phase, h, op, use, &piles->of[h][op].hdr);
    }
    share_out(f, route, phase, run, piles);
    settle_parts(s, first, phase, piles);
}

void ab_fold_heaps(const struct ab_fold *f, const struct ab_route *route,
                   const struct ab_outcome *run)
{
    if (route == NULL || route->heap_of == NULL)
        return;
    struct piles *piles = ab_alloc(sizeof *piles);
    for (uint32_t i = 0; i < f->tape->image->n_phases; i++)
        if (f->tape->phases[i].is_measured)
            fold_phase(f, route, i, run, piles);
    free(piles);
    ab_route_forget(route);
}

void ab_fold_heaps_drop(struct ab_session *s, uint32_t backend, uint32_t round)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->n_heap_parts; i++) {
        const struct ab_heap_part *p = &s->heap_parts[i];
        if ((backend == UINT32_MAX || p->backend == backend) &&
            (round == UINT32_MAX || p->round == round))
            free(p->hdr);
        else
            s->heap_parts[kept++] = *p;
    }
    s->n_heap_parts = kept;
}
