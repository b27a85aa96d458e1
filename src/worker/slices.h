/* SPDX-License-Identifier: MIT
 *
 * Slices of the throughput and the latency pass (struct ab_slice). At the end of a slice the canary
 * is read: a short fixed loop is timed. Before the next slice, this is repeated until the machine
 * is quiet or the waiting time is used up. The time for it is in no number of the phase.
 */
#ifndef AB_WORKER_SLICES_H
#define AB_WORKER_SLICES_H

#include "worker/worker.h"

/* True if this phase is measured in slices in this run. */
bool ab_slices_are_on(const struct ab_worker *w, uint32_t phase);
/* Notes the tick at which the phase's clock started. */
void ab_slices_begin(uint64_t tick);
/* Waits for a quiet machine. Returns the tick at which the slice begins. */
uint64_t ab_slice_begin(struct ab_lane *lane);
/* Ends the slice that began at tick `begin`. is_empty: a reset has skipped its ops. */
void ab_slice_end(struct ab_lane *lane, uint32_t phase, bool is_empty, uint64_t begin);
/* Adds the time that is in no slice to the report. */
void ab_slices_end(struct ab_phase_report *report);

#endif
