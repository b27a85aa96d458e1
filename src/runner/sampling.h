/* SPDX-License-Identifier: MIT
 *
 * Chooses the ops that the latency pass times. It times one op in 16 on average, at random, because
 * timing every op inflates the results. If a kind of op is too rare in its phase to fill a
 * histogram (p99.9 needs 10,000 samples), it times more ops of that kind, up to all.
 */
#ifndef AB_RUNNER_SAMPLING_H
#define AB_RUNNER_SAMPLING_H

#include "base/rng.h"
#include "tape/tape_file.h"
#include "wire/run_page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AB_SAMPLE_RATE (1.0 / 16)
#define AB_SAMPLE_WANTED 20000
/* Limit on the samples of a phase, apart from those of rare kinds. If one op in 16 would exceed the
 * limit, fewer are timed. Of this many samples, 52 lie above p99.99. */
#define AB_SAMPLES_MAX (1u << 19)

/* Returns the fraction of the ops of `kind` in `phase` that are timed, in [0, 1]. */
double ab_sampling_rate(const struct ab_phase *phase, unsigned kind);
/* Returns the smallest of the phase's rates. A sample of kind k belongs to a fair sample of all ops
 * with probability base / rate(k). */
double ab_sampling_base(const struct ab_phase *phase);

/* Returns an upper bound on the number of samples of a tape. It is high enough for any random
 * draw. */
size_t ab_sampling_capacity(const struct ab_tape_map *tape);
/* Draws ascending positions and records the kinds (enum ab_op_kind) of the ops there. Returns the
 * number of positions (≤ cap). */
uint32_t ab_sampling_draw(const struct ab_tape_map *tape, struct ab_rng *rng, uint32_t *positions,
                          uint8_t *kinds, size_t cap);

/* Quiet samples are those of a latency pass during which nothing else used the CPU core. Another
 * tenant of the core makes an op up to twice as slow, and fills the caches with its data. Samples
 * that are not quiet say more about the machine than about the allocator. */

/* Returns for each sample whether its slice was quiet, to be freed by the caller; NULL if there are
 * no slices. A slice is quiet if its canary read at most `limit` before and after, and if the
 * scheduler did not take the CPU away. Slices come from the worker and may be wrong. */
bool *ab_sampling_quiet(const struct ab_slice *slices, uint32_t n, uint16_t limit,
                        uint32_t n_samples);
/* True if at least a quarter of n samples were quiet, so that the others can be dropped. If fewer
 * were, the core is always shared, and all samples count. */
static inline bool ab_samples_suffice(uint64_t n_quiet, uint64_t n)
{
    return n_quiet >= n - n * 3 / 4;
}

#endif
