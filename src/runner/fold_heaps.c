/* SPDX-License-Identifier: MIT
 *
 * Distributes the samples of a mapped row among its heaps. A sample belongs to the heap that its op
 * was sent to (placement/placement). The time of a heap's calls is estimated from its samples. Each
 * sample stands for 1 / rate calls.
 */
#include "result/numbers.h"
#include "runner/fold.h"

#include "core/alloc.h"
#include "placement/placement.h"
#include "runner/fold_samples.h"
#include "runner/sampling.h"

#include <math.h>
#include <stdlib.h>

struct pile { /* samples of one heap and kind */
    struct ab_hdr *hdr;
    double sum_ns;
    /* n: samples in sum_ns; n_seen: all samples, with those that were left out */
    uint64_t n, n_seen;
};

struct piles {
    struct pile of[AB_PLACEMENT_HEAPS_MAX][AB_OP_ALL + 1];
};

static uint64_t count_calls(const struct ab_placement_use *use, unsigned op)
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
    if (sample->ns == UINT64_MAX) /* its time was too long to be stored, so the sum leaves it out */
        return;
    pile->sum_ns += (double)sample->ns;
    pile->n++;
}

static void share_out(const struct ab_fold *f, const struct ab_placement *placement,
                      const struct ab_phase *phase, const struct ab_outcome *run,
                      struct piles *piles)
{
    struct ab_samples walk;
    struct ab_sample sample;
    ab_samples_begin(&walk, f, phase, run);
    while (ab_samples_next(&walk, &sample)) {
        uint8_t heap = placement->heap_of[sample.position];
        if (heap == AB_PLACEMENT_NO_HEAP)
            continue;
        take(&piles->of[heap][sample.kind], &sample);
        if (sample.is_fair)
            take(&piles->of[heap][AB_OP_ALL], &sample);
    }
}

/* Returns the sampling rate of a kind of op. The phase does not count a bulk reset of one heap
 * among several. Such a reset is sampled at the rate of the most common kinds. */
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
                     unsigned op, const struct ab_placement_use *use, struct ab_hdr **out)
{
    struct ab_session *s = f->session;
    struct ab_hdr *hdr = ab_hdr_new();
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

/* Sets the times of the new records. If no reset of a heap was ever timed, its resets consisted of
 * single frees, so the record of resets is removed. */
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

static void fold_phase(const struct ab_fold *f, const struct ab_placement *placement,
                       uint32_t index, const struct ab_outcome *run, struct piles *piles)
{
    const struct ab_phase *phase = &f->tape->phases[index];
    struct ab_session *s = f->session;
    uint32_t first = s->n_heap_parts;
    *piles = (struct piles){0};
    for (uint32_t h = 0; h < placement->image->n_heaps; h++) {
        const struct ab_placement_use *use = &placement->uses[index][h];
        for (unsigned op = 0; op <= AB_OP_ALL; op++)
            if (count_calls(use, op) > 0)
                add_part(f, phase, h, op, use, &piles->of[h][op].hdr);
    }
    share_out(f, placement, phase, run, piles);
    settle_parts(s, first, phase, piles);
}

void ab_fold_heaps(const struct ab_fold *f, const struct ab_placement *placement,
                   const struct ab_outcome *run)
{
    if (placement == NULL || placement->heap_of == NULL)
        return;
    struct piles *piles = ab_alloc(sizeof *piles);
    for (uint32_t i = 0; i < f->tape->image->n_phases; i++)
        if (f->tape->phases[i].is_measured)
            fold_phase(f, placement, i, run, piles);
    free(piles);
    ab_placement_forget(placement);
}

/* ---- checking the heaps by the whole row ----
 *
 * The bytes on pages with live blocks, added up over the heaps, must equal those of the row. The
 * footprints of the heaps together must not exceed that of the row. Otherwise two heaps have blocks
 * on one page, and the pages of each heap are n/a. */

struct judge {
    const struct ab_fold *f;
    const struct ab_memory_report *r;
    /* n: number of heaps of the placement; shown[i]: index of the heap under which heap i is
     * shown */
    uint32_t n;
    uint32_t shown[AB_PLACEMENT_HEAPS_MAX];
};

static void clear(struct ab_memory *m)
{
    for (uint32_t h = 0; h < AB_PLACEMENT_HEAPS_MAX; h++) {
#define CLEAR(member) m->heaps[h].member = NAN;
        AB_HEAP_MEMORY_FIELDS(CLEAR)
#undef CLEAR
        for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
            m->heaps[h].drained_bytes[i] = NAN;
    }
}

/* Adds a value to the sum over heaps that have the same name. The first value replaces the sum. */
static void add(double *sum, bool is_first, uint64_t x)
{
    *sum = is_first ? ab_fold_bytes(x) : *sum + ab_fold_bytes(x);
}

static void sum_up(const struct judge *j, const struct ab_memory_state *s, struct ab_memory *m)
{
    uint32_t seen = 0;
    for (uint32_t h = 0; h < j->n; h++) {
        const struct ab_heap_reading *from = &s->heaps[h];
        struct ab_heap_memory *to = &m->heaps[j->shown[h]];
        bool is_first = (seen >> j->shown[h] & 1) == 0;
        seen |= 1u << j->shown[h];
        add(&to->requested_bytes, is_first, from->requested_bytes);
        add(&to->footprint_bytes, is_first, from->footprint_bytes);
        add(&to->live_bytes, is_first, from->live_bytes);
        add(&to->internal_bytes, is_first, from->internal_bytes);
        add(&to->external_bytes, is_first, from->external_bytes);
        add(&to->allocated_bytes, is_first, from->allocated_bytes);
        add(&to->mapped_bytes, is_first, from->mapped_bytes);
        add(&to->reserved_bytes, is_first, from->reserved_bytes);
        add(&to->metadata_bytes, is_first, from->metadata_bytes);
    }
}

/* Returns the reason why the heaps' pages are not known; NULL = they are known. */
static const char *doubt(const struct judge *j, const struct ab_memory_state *s,
                         const struct ab_memory *m)
{
    double footprint = 0, on_pages = 0;
    for (uint32_t h = 0; h < j->n; h++) {
        const struct ab_heap_reading *x = &s->heaps[h];
        footprint += ab_fold_bytes(x->footprint_bytes);
        on_pages += ab_fold_bytes(x->live_bytes) + ab_fold_bytes(x->internal_bytes) +
                    ab_fold_bytes(x->external_bytes);
    }
    if (isnan(footprint) || isnan(on_pages))
        return "their blocks are too far apart to follow their pages";
    if (on_pages != ab_fold_bytes(s->live_bytes) + ab_fold_bytes(s->internal_bytes) +
                        ab_fold_bytes(s->external_bytes) ||
        footprint > m->footprint_bytes)
        return "two have blocks on one page";
    return NULL;
}

static void forget_pages(struct ab_memory *m)
{
    for (uint32_t h = 0; h < AB_PLACEMENT_HEAPS_MAX; h++) {
        struct ab_heap_memory *x = &m->heaps[h];
        x->footprint_bytes = x->live_bytes = x->internal_bytes = x->external_bytes = NAN;
    }
}

/* Limits the footprint of a heap to the memory that the heap says it mapped, unless its blocks
 * occupy more. Pages without a block may belong to another heap that has no block near them. */
static void bound_pages(struct ab_heap_memory *x, double on_pages)
{
    if (!(x->mapped_bytes >= on_pages))
        return;
    x->footprint_bytes = x->footprint_bytes > x->mapped_bytes ? x->mapped_bytes
                                                              : x->footprint_bytes;
    for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
        if (x->drained_bytes[i] > x->mapped_bytes)
            x->drained_bytes[i] = x->mapped_bytes;
}

/* Computes a heap's remaining numbers as the row's were computed. If the row's internal bytes are
 * not known, the heap's count as external. Contradictory numbers become NaN. */
static void settle_heap(const struct ab_memory *m, struct ab_heap_memory *x)
{
    if (isnan(m->internal_bytes)) {
        x->external_bytes += x->internal_bytes;
        x->internal_bytes = NAN;
    }
    double used = x->live_bytes + (isnan(x->internal_bytes) ? 0 : x->internal_bytes);
    bound_pages(x, used + x->external_bytes);
    x->retained_bytes = x->footprint_bytes - used - x->external_bytes;
    if (isnan(m->retained_bytes) || x->retained_bytes < 0)
        x->retained_bytes = NAN;
}

static void judge_drain(const struct judge *j, struct ab_memory *m)
{
    uint32_t seen = 0;
    for (uint32_t h = 0; h < j->n; h++) {
        bool is_first = (seen >> j->shown[h] & 1) == 0;
        seen |= 1u << j->shown[h];
        for (unsigned i = 0; i < AB_DRAIN_COUNT; i++) {
            double *to = &m->heaps[j->shown[h]].drained_bytes[i];
            add(to, is_first, j->r->heaps_drained_bytes[h][i]);
        }
    }
    for (unsigned i = 0; i < AB_DRAIN_COUNT; i++) {
        double sum = 0;
        for (uint32_t h = 0; h < j->n; h++)
            sum += ab_fold_bytes(j->r->heaps_drained_bytes[h][i]);
        for (uint32_t h = 0; h < j->n && !(sum <= m->drained_bytes[i]); h++)
            m->heaps[j->shown[h]].drained_bytes[i] = NAN;
    }
}

static void judge_record(const struct judge *j, uint32_t phase, struct ab_memory *m)
{
    const struct ab_memory_state *s = &j->r->phases[phase].at[m->at];
    clear(m);
    judge_drain(j, m);
    if (s->position > j->f->tape->image->n_ops)
        return;
    sum_up(j, s, m);
    bool has_pages = !isnan(m->footprint_bytes) && !isnan(m->live_bytes);
    const char *why = has_pages ? doubt(j, s, m) : NULL;
    if (!has_pages || why != NULL)
        forget_pages(m);
    if (why != NULL)
        ab_fold_memory_reason(m, AB_WHY_HEAPS, why);
    for (uint32_t h = 0; h < AB_PLACEMENT_HEAPS_MAX; h++)
        settle_heap(m, &m->heaps[h]);
}

void ab_fold_heap_memory(const struct ab_fold *f, const struct ab_placement *placement,
                         const struct ab_outcome *run)
{
    struct judge j = {.f = f, .r = run->memory};
    if (placement == NULL)
        return;
    j.n = placement->image->n_heaps;
    for (uint32_t h = 0; h < j.n; h++)
        j.shown[h] = ab_placement_shown(ab_placement_heap_at(placement->image, 0), h);
    for (uint32_t i = 0; i < f->session->n_memory; i++) {
        struct ab_memory *m = &f->session->memory[i];
        for (uint32_t p = 0; p < f->tape->image->n_phases; p++)
            if (m->backend == f->backend && m->round == f->round &&
                m->phase == f->tape->phases[p].name)
                judge_record(&j, p, m);
    }
}
