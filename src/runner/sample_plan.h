/* SPDX-License-Identifier: MIT
 *
 * Which ops the latency pass times. One in 16 on average, at random, because timing every op
 * inflates what it measures; denser where a kind of op is too rare in its phase to fill a
 * histogram (p99.9 needs 10,000 samples), up to every one.
 */
#ifndef AB_RUNNER_SAMPLE_PLAN_H
#define AB_RUNNER_SAMPLE_PLAN_H

#include "base/rng.h"
#include "runner/tape_file.h"

#define AB_SAMPLE_RATE (1.0 / 16)
#define AB_SAMPLE_WANTED 20000
/* Most samples of a phase, apart from what rare kinds need: where 1 in 16 would be more, fewer are
 * timed. 52 lie after p99.99. */
#define AB_SAMPLES_MAX (1u << 19)

/* Share of the ops of `kind` in `phase` that are timed, in [0, 1]. */
double ab_sampling_rate(const struct ab_phase *phase, unsigned kind);
/* The least of the phase's rates: a sample of kind k belongs to a fair sample of all ops with
 * probability base / rate(k). */
double ab_sampling_base(const struct ab_phase *phase);

/* An upper bound on the samples of a tape, with room for chance. */
size_t ab_sampling_capacity(const struct ab_tape_map *tape);
/* Draws ascending positions, and notes the kinds (enum ab_op_kind) of the ops there; returns how
 * many (≤ cap). */
uint32_t ab_sampling_draw(const struct ab_tape_map *tape, struct ab_rng *rng, uint32_t *positions,
                          uint8_t *kinds, size_t cap);

#endif
