/* SPDX-License-Identifier: MIT
 *
 * Draws the ops that the latency pass times, with a rate for each kind and phase.
 */
#include "runner/sampling.h"

#include "base/search.h"
#include "core/alloc.h"

#include <math.h>
#include <stdlib.h>

static double common_rate(const struct ab_phase *phase)
{
    double n = 0;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        n += phase->n_ops[k];
    return n * AB_SAMPLE_RATE > AB_SAMPLES_MAX ? AB_SAMPLES_MAX / n : AB_SAMPLE_RATE;
}

double ab_sampling_rate(const struct ab_phase *phase, unsigned kind)
{
    double n = phase->n_ops[kind], common = common_rate(phase);
    if (n == 0)
        return 0;
    double wanted = AB_SAMPLE_WANTED / n;
    double rate = wanted > common ? wanted : common;
    return rate < 1 ? rate : 1;
}

double ab_sampling_base(const struct ab_phase *phase)
{
    double base = 1;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        if (phase->n_ops[k] > 0 && ab_sampling_rate(phase, k) < base)
            base = ab_sampling_rate(phase, k);
    return base;
}

size_t ab_sampling_capacity(const struct ab_tape_map *tape)
{
    double expected = 0;
    for (uint32_t i = 0; i < tape->image->n_phases; i++) {
        const struct ab_phase *phase = &tape->phases[i];
        for (unsigned k = 0; phase->is_measured && k < AB_OP_KIND_COUNT; k++)
            expected += ab_sampling_rate(phase, k) * phase->n_ops[k];
    }
    return (size_t)(expected * 1.05) + 10000; /* more than 10 standard deviations */
}

struct draw {
    const struct ab_phase *phase; /* of the whole tape, which determines the rates */
    struct ab_rng *rng;
    uint32_t *positions;
    uint8_t *kinds;
    uint32_t n, cap;
    double base;
    uint64_t threshold[AB_OP_KIND_COUNT]; /* for 32 random bits */
    uint32_t gap;                         /* ops of common kinds before the next one that is
                                             taken */
    uint32_t common;                      /* bits 1 << kind of the kinds with rate `base` */
};

/* Draws the gap between two samples if each op is one with probability p. */
static uint32_t draw_gap(struct ab_rng *rng, double p)
{
    double gap = log1p(-ab_rng_unit(rng)) / log1p(-p);
    return gap < UINT32_MAX ? (uint32_t)gap : UINT32_MAX;
}

static void begin_phase(struct draw *d, const struct ab_phase *phase)
{
    d->phase = phase;
    d->base = ab_sampling_base(phase);
    d->common = 0;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++) {
        double rate = ab_sampling_rate(phase, k);
        d->threshold[k] = (uint64_t)(rate * 0x1p32);
        if (rate <= d->base)
            d->common |= 1u << k;
    }
    d->gap = draw_gap(d->rng, d->base);
}

/* True if the op is sampled. One draw per op would take longer than many an allocator. Most ops are
 * of common kinds, for which one draw gives the number of ops to skip. */
static bool is_taken(struct draw *d, int kind)
{
    if ((d->common >> kind & 1) == 0)
        return ab_rng_next(d->rng) >> 32 < d->threshold[kind];
    if (d->gap-- > 0)
        return false;
    d->gap = draw_gap(d->rng, d->base);
    return true;
}

static void draw_range(struct draw *d, const struct ab_tape_part *part, uint32_t begin,
                       uint32_t end)
{
    for (uint32_t i = begin; i < end && d->n < d->cap; i++) {
        int kind = ab_op_decode(part->ops[i], part->wide).kind;
        if (kind < 0 || !is_taken(d, kind))
            continue;
        d->positions[d->n] = part->first + i;
        d->kinds[d->n++] = (uint8_t)kind;
    }
}

uint32_t ab_sampling_draw(const struct ab_tape_map *tape, struct ab_rng *rng, uint32_t *positions,
                          uint8_t *kinds, size_t cap)
{
    struct draw d = {.rng = rng, .positions = positions, .kinds = kinds, .cap = (uint32_t)cap};
    for (uint32_t b = 0; b < tape->image->n_bursts; b++) {
        struct ab_tape_part part = ab_tape_part(tape->image, b);
        for (uint32_t i = 0; i < tape->image->n_phases; i++) {
            if (!tape->phases[i].is_measured)
                continue;
            if (d.phase != &tape->phases[i])
                begin_phase(&d, &tape->phases[i]);
            draw_range(&d, &part, part.phases[i].begin, part.phases[i].end);
        }
        ab_tape_burst_forget(tape->image, b);
    }
    return d.n;
}

/* ---- iterating over samples ----
 *
 * Positions come from the parent and ascend. Ticks and classes come from the worker and are trusted
 * only within their bounds. */

static uint32_t first_at(const struct ab_outcome *run, uint32_t position)
{
    return (uint32_t)AB_SEARCH(i, run->n_samples, run->positions[i] < position);
}

static bool is_timed(const struct ab_outcome *run, uint32_t i)
{
    return ab_fold_is_served(run, run->kinds[i]) && run->ticks[i] != 0 &&
           run->ticks[i] != AB_TICKS_SCHEDULER;
}

/* Counts the quiet samples of the phase. One decision then applies to samples of every kind. */
static void count_quiet(struct ab_samples *walk)
{
    const struct ab_outcome *run = walk->run;
    uint64_t n = 0, n_quiet = 0;
    walk->quiet_share = NAN;
    if (run->is_quiet == NULL)
        return;
    for (uint32_t i = walk->next; i < run->n_samples && run->positions[i] < walk->phase->end; i++) {
        n += is_timed(run, i);
        n_quiet += is_timed(run, i) && run->is_quiet[i];
    }
    walk->quiet_share = n > 0 ? (double)n_quiet / (double)n : NAN;
    walk->leaves_out = ab_samples_suffice(n_quiet, n);
}

void ab_samples_begin(struct ab_samples *walk, const struct ab_fold *f,
                      const struct ab_phase *phase, const struct ab_outcome *run)
{
    *walk = (struct ab_samples){.f = f,
                                .phase = phase,
                                .run = run,
                                .base = ab_sampling_base(phase),
                                .next = first_at(run, phase->begin)};
    ab_rng_init(&walk->rng, f->session->seed, (uint64_t)f->round << 32 | phase->begin);
    count_quiet(walk);
}

bool ab_samples_next(struct ab_samples *walk, struct ab_sample *out)
{
    const struct ab_outcome *run = walk->run;
    while (walk->next < run->n_samples && run->positions[walk->next] < walk->phase->end) {
        uint32_t i = walk->next++, stored = run->ticks[i];
        unsigned kind = run->kinds[i];
        if (!is_timed(run, i))
            continue;
        double rate = ab_sampling_rate(walk->phase, kind);
        unsigned log2 = run->classes != NULL ? run->classes[i] : 0;
        *out = (struct ab_sample){
            .position = run->positions[i],
            .kind = kind,
            .size_log2 = log2 < AB_SIZE_CLASS_COUNT ? log2 : AB_SIZE_CLASS_COUNT - 1,
            .ns = stored == AB_TICKS_OVERFLOW ? UINT64_MAX : ab_fold_ns(walk->f, stored - 1),
            .is_fair = ab_rng_unit(&walk->rng) * rate < walk->base,
            .is_left_out = walk->leaves_out && !run->is_quiet[i],
        };
        return true;
    }
    return false;
}

/* ---- from slices to samples; the worker is trusted within bounds only ---- */

static bool is_slice_quiet(const struct ab_slice *slice, uint16_t limit)
{
    return slice->before <= limit && slice->after <= limit && slice->n_preempted == 0;
}

void ab_sample_states(struct ab_outcome *run, uint16_t limit)
{
    uint32_t n = run->page->report.slices.n, at = 0;
    n = n < run->cap_slices ? n : run->cap_slices;
    if (n == 0)
        return;
    run->is_quiet = ab_alloc_zeroed((size_t)run->n_samples + 1, sizeof run->is_quiet[0]);
    for (uint32_t i = 0; i < n; i++) {
        bool is_quiet = is_slice_quiet(&run->slices[i], limit);
        uint32_t end = run->slices[i].samples_end;
        for (; at < end && at < run->n_samples; at++)
            run->is_quiet[at] = is_quiet;
    }
}
