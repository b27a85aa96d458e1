/* SPDX-License-Identifier: MIT
 *
 * Draws the ops that the latency pass times, with a rate for each kind and phase.
 */
#include "runner/sampling.h"

#include "core/alloc.h"

#include <math.h>

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
    /* adds more than 10 standard deviations of the number of samples */
    return (size_t)(expected * 1.05) + 10000;
}

struct draw {
    const struct ab_phase *phase; /* phase in which positions are drawn; from the whole tape */
    struct ab_rng *rng;
    uint32_t *positions;
    uint8_t *kinds;
    uint32_t n, cap;
    double base;
    /* for each kind: an op is sampled if 32 random bits are less */
    uint64_t threshold[AB_OP_KIND_COUNT];
    /* number of ops of common kinds before the next one that is sampled */
    uint32_t gap;
    uint32_t common; /* bits 1 << kind of the kinds with rate `base` */
};

/* Draws the number of ops between two samples if each op is a sample with probability p. */
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

/* Returns whether this op is sampled. A random number for every op would take longer than a call of
 * a fast allocator. Most ops are of common kinds, for which one random number tells how many ops to
 * skip. */
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

/* ---- quiet samples ---- */

static bool is_slice_quiet(const struct ab_slice *slice, uint16_t limit)
{
    return slice->before <= limit && slice->after <= limit && slice->n_preempted == 0;
}

bool *ab_sampling_quiet(const struct ab_slice *slices, uint32_t n, uint16_t limit,
                        uint32_t n_samples)
{
    uint32_t at = 0;
    if (n == 0)
        return NULL;
    bool *quiet = ab_alloc_zeroed((size_t)n_samples + 1, sizeof quiet[0]);
    for (uint32_t i = 0; i < n; i++) {
        bool is_quiet = is_slice_quiet(&slices[i], limit);
        for (; at < slices[i].samples_end && at < n_samples; at++)
            quiet[at] = is_quiet;
    }
    return quiet;
}
