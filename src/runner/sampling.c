/* SPDX-License-Identifier: MIT */
#include "runner/sampling.h"

double ab_sampling_rate(const struct ab_phase *phase, unsigned kind)
{
    double n = phase->n_ops[kind];
    if (n == 0)
        return 0;
    double wanted = AB_SAMPLE_WANTED / n;
    double rate = wanted > AB_SAMPLE_RATE ? wanted : AB_SAMPLE_RATE;
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
    return (size_t)(expected * 1.05) + 10000; /* > 10 standard deviations */
}

static uint32_t draw_phase(const struct ab_tape_map *tape, const struct ab_phase *phase,
                           struct ab_rng *rng, uint32_t *positions, size_t cap)
{
    uint64_t threshold[AB_OP_KIND_COUNT]; /* of 32 random bits */
    uint32_t n = 0;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        threshold[k] = (uint64_t)(ab_sampling_rate(phase, k) * 0x1p32);
    for (uint32_t i = phase->begin; i < phase->end && n < cap; i++) {
        int kind = ab_tape_map_kind(tape, i, NULL);
        if (kind >= 0 && ab_rng_next(rng) >> 32 < threshold[kind])
            positions[n++] = i;
    }
    return n;
}

uint32_t ab_sampling_draw(const struct ab_tape_map *tape, struct ab_rng *rng, uint32_t *positions,
                          size_t cap)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < tape->image->n_phases; i++)
        if (tape->phases[i].is_measured)
            n += draw_phase(tape, &tape->phases[i], rng, positions + n, cap - n);
    return n;
}
