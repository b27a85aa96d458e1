/* SPDX-License-Identifier: MIT
 *
 * The tail pass of a phase with iterations: what the calls of each took, added up. One that is under
 * way when a burst ends goes on in the next one.
 */
#ifndef AB_WORKER_PASSES_ITERATIONS_H
#define AB_WORKER_PASSES_ITERATIONS_H

#include "base/bits.h"
#include "worker/worker.h"

/* Has the phase iterations that are to be timed in this pass? */
bool ab_iterations_are_on(const struct ab_worker *w, uint32_t phase);
/* Before the lane's first op of a phase. */
void ab_iterations_begin(struct ab_lane *lane, uint32_t phase);
/* Reports those that end before op `at`. */
void ab_iterations_end(struct ab_lane *lane, uint32_t at);

/* Before op `at`, or after all ops before it. */
static inline void ab_iterations_pass(struct ab_lane *lane, uint32_t at)
{
    if (AB_UNLIKELY(at >= lane->iteration_end))
        ab_iterations_end(lane, at);
}

/* A call that took lane->delta, unless the scheduler did. */
static inline void ab_iterations_add(struct ab_lane *lane, bool is_scheduler)
{
    lane->iteration.n_scheduler += is_scheduler;
    lane->iteration.n_calls += !is_scheduler;
    lane->iteration.ticks += is_scheduler ? 0 : lane->delta;
}

#endif
