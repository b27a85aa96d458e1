/* SPDX-License-Identifier: MIT */
#include "runner/sampling.h"

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
    return (size_t)(expected * 1.05) + 10000; /* > 10 standard deviations */
}

struct draw {
    const struct ab_tape_map *tape;
    struct ab_rng *rng;
    uint32_t *positions;
    uint8_t *kinds;
    uint32_t n, cap;
};

static void draw_range(struct draw *d, const struct ab_phase *phase, uint32_t begin, uint32_t end)
{
    uint64_t threshold[AB_OP_KIND_COUNT]; /* of 32 random bits */
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        threshold[k] = (uint64_t)(ab_sampling_rate(phase, k) * 0x1p32);
    for (uint32_t i = begin; i < end && d->n < d->cap; i++) {
        int kind = ab_tape_map_kind(d->tape, i, NULL);
        if (kind < 0 || ab_rng_next(d->rng) >> 32 >= threshold[kind])
            continue;
        d->positions[d->n] = i;
        d->kinds[d->n++] = (uint8_t)kind;
    }
}

uint32_t ab_sampling_draw(const struct ab_tape_map *tape, struct ab_rng *rng, uint32_t *positions,
                          uint8_t *kinds, size_t cap)
{
    struct draw d = {tape, rng, positions, kinds, 0, (uint32_t)cap};
    if (tape->feed != NULL)
        draw_range(&d, &tape->phases[0], 0, tape->image->burst.n_ops);
    for (uint32_t i = 0; i < tape->image->n_phases && tape->feed == NULL; i++)
        if (tape->phases[i].is_measured)
            draw_range(&d, &tape->phases[i], tape->phases[i].begin, tape->phases[i].end);
    return d.n;
}
