/* SPDX-License-Identifier: MIT
 *
 * Which ops the latency pass times. One in 16 on average, at random, because timing every op
 * inflates what it measures; denser where a kind of op is too rare in its phase to fill a
 * histogram (p99.9 needs 10,000 samples), up to every one.
 */
#ifndef AB_RUNNER_SAMPLING_H
#define AB_RUNNER_SAMPLING_H

#include "base/rng.h"
#include "runner/fold.h"
#include "runner/run.h"
#include "tape/tape_file.h"

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

/* The timed ops of a latency pass, one after the other. Whoever folds them (into kinds, sizes,
 * windows) walks them here, so that all agree on which ops belong to the fair sample of all kinds. */

struct ab_sample {
    uint32_t position; /* in the tape */
    unsigned kind;
    unsigned size_log2; /* of its class, < AB_SIZE_CLASS_COUNT */
    uint64_t ns;        /* UINT64_MAX: longer than could be stored; histograms count an overflow */
    bool is_fair;       /* of the sample in which every op of the phase is equally likely */
    bool is_left_out;   /* something else used the core, and enough others were quiet */
};

struct ab_samples {
    const struct ab_fold *f;
    const struct ab_phase *phase;
    const struct ab_outcome *run;
    struct ab_rng rng;
    double base;
    uint32_t next;
    double quiet_share; /* of the phase's samples; NaN = not known */
    bool leaves_out;    /* those that were not quiet */
};

/* The walk is a matter of seed, round and phase alone: the same samples are fair each time. */
void ab_samples_begin(struct ab_samples *walk, const struct ab_fold *f,
                      const struct ab_phase *phase, const struct ab_outcome *run);
/* False after the last. What was the scheduler's is not among them; what is left out is, marked. */
bool ab_samples_next(struct ab_samples *walk, struct ab_sample *out);

/* Which samples of a latency pass were taken while nothing else used the CPU core. Another tenant
 * makes an op up to twice as slow, and what ran in between leaves its data in the caches: such
 * samples say more about the machine than about the allocator. */

/* Fills run->is_quiet from the slices: those whose canary read at most `limit` before and after,
 * and in which the scheduler did not give the CPU away. NULL stays where the pass had no slices. */
void ab_sample_states(struct ab_outcome *run, uint16_t limit);

/* True when enough of n samples were quiet to leave the others out. Where few would remain, a
 * shared core is what this machine has. */
static inline bool ab_samples_suffice(uint64_t n_quiet, uint64_t n)
{
    return n_quiet >= n - n * 3 / 4;
}

#endif
