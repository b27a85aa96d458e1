/* SPDX-License-Identifier: MIT
 *
 * Slices of the throughput and the latency pass: where one ends the canary is read, and read again until the machine
 * is quiet or the time for that is used up. What happens here is in no number of the phase.
 */
#ifndef AB_WORKER_SLICES_H
#define AB_WORKER_SLICES_H

#include "worker/worker.h"

/* Is this run, and this phase of it, measured in slices? */
bool ab_slices_are_on(const struct ab_worker *w, uint32_t phase);
/* The phase's clock began to run at the tick. */
void ab_slices_begin(uint64_t tick);
/* Tick at which the slice begins. */
uint64_t ab_slice_begin(struct ab_lane *lane);
/* is_empty: a reset had passed over its ops. */
void ab_slice_end(struct ab_lane *lane, uint32_t phase, bool is_empty, uint64_t begin);
/* Notes in the report what was spent between slices. */
void ab_slices_end(struct ab_phase_report *report);

#endif
