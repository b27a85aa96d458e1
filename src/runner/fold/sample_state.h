/* SPDX-License-Identifier: MIT
 *
 * Which samples of a latency pass were taken while nothing else used the CPU core. Another tenant
 * makes an op up to twice as slow, and what ran in between leaves its data in the caches: such
 * samples say more about the machine than about the allocator.
 */
#ifndef AB_RUNNER_FOLD_SAMPLE_STATE_H
#define AB_RUNNER_FOLD_SAMPLE_STATE_H

#include "runner/run.h"

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
