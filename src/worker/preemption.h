/* SPDX-License-Identifier: MIT
 *
 * Detects whether the scheduler gave the CPU to something else during an op. If a stretch of a pass
 * took suspiciously long, it reads the thread's CPU time and involuntary context switches, and
 * compares them with the last reading. Ops of ordinary length cost no reading, and no reading is
 * inside a timed interval. A wait in the allocator itself (a lock, a sleep) is a voluntary switch,
 * and counts as the allocator's time.
 */
#ifndef AB_WORKER_PREEMPTION_H
#define AB_WORKER_PREEMPTION_H

#include "base/clock.h"
#include "worker/worker.h"

/* True if the scheduler took most of the stretch of `ns` between the two readings. */
bool ab_preemption_took(const struct ab_cpu_reading *before, const struct ab_cpu_reading *after,
                        uint64_t ns);

/* Returns a lower bound of the thread's CPU time in an op of `ns` between the two readings: the
 * op's length less all time without CPU. The stretch may cover other ops too. */
uint64_t ab_preemption_least(const struct ab_cpu_reading *before,
                             const struct ab_cpu_reading *after, uint64_t ns);

/* Takes the first reading before a timed range, and finds the first sample at or after its
 * begin. */
void ab_preemption_begin(struct ab_lane *lane, uint32_t begin);
/* Takes a new reading, so that earlier switches count for no op. */
void ab_preemption_look(struct ab_lane *lane);
/* True if the thread was preempted in the stretch of `ticks` that has just ended. Takes a new
 * reading. */
bool ab_preemption_check(struct ab_lane *lane, uint64_t ticks);
/* True if the thread was preempted during the op that took lane->delta; then counts the op in
 * `tail`. */
bool ab_preemption_count(struct ab_lane *lane, struct ab_tail *tail);
/* Does the same for lane->sample, and marks a preempted sample. */
void ab_preemption_judge(struct ab_lane *lane, uint32_t phase);

/* Ends a stretch since lane->chain that belongs to no op. */
static inline void ab_preemption_pass(struct ab_lane *lane)
{
    uint64_t now = ab_tick_end(), ticks = now - lane->chain;
    lane->chain = now;
    if (AB_UNLIKELY(ticks >= lane->look_ticks))
        ab_preemption_check(lane, ticks);
}

#endif
