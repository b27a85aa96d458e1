/* SPDX-License-Identifier: MIT
 *
 * Detects whether the scheduler gave the CPU to something else during an op. If a stretch of a pass
 * took suspiciously long, reads the thread's CPU time and involuntary context switches, and
 * compares them with the last reading. Ops of ordinary length cost no reading, and no reading is
 * inside a timed interval. If the allocator itself waits (for a lock, in a sleep), the switch is
 * voluntary, and the wait counts as the allocator's time.
 */
#ifndef AB_WORKER_PREEMPTION_H
#define AB_WORKER_PREEMPTION_H

#include "base/clock.h"
#include "worker/worker.h"

/* True if the scheduler took most of a stretch of `ns` that lies between the two readings. */
bool ab_preemption_took(const struct ab_cpu_reading *before, const struct ab_cpu_reading *after,
                        uint64_t ns);

/* Returns a lower bound of the CPU time that an op of `ns` used: its length minus all time without
 * the CPU between the two readings. There may be other ops between these readings, too. */
uint64_t ab_preemption_least(const struct ab_cpu_reading *before,
                             const struct ab_cpu_reading *after, uint64_t ns);

/* Takes the first reading before a timed range that begins at `begin`, and finds the first sample
 * from there on. */
void ab_preemption_begin(struct ab_lane *lane, uint32_t begin);
/* Takes a new reading, so that earlier switches count for no op. */
void ab_preemption_look(struct ab_lane *lane);
/* Takes a new reading. True if the thread was preempted in the stretch of `ticks` that has just
 * ended. */
bool ab_preemption_check(struct ab_lane *lane, uint64_t ticks);
/* True if the thread was preempted during the op that took lane->delta ticks; then also counts the
 * op in `tail`. Ops shorter than lane->look_ticks are not checked. */
bool ab_preemption_count(struct ab_lane *lane, struct ab_tail *tail);
/* Checks the op of lane->sample in the same way as ab_preemption_count(), and marks the sample if
 * the thread was preempted. */
void ab_preemption_judge(struct ab_lane *lane, uint32_t phase);

/* Ends the stretch since the tick lane->chain, in which no op was timed; a preemption in it counts
 * for no op. */
static inline void ab_preemption_pass(struct ab_lane *lane)
{
    uint64_t now = ab_tick_end(), ticks = now - lane->chain;
    lane->chain = now;
    if (AB_UNLIKELY(ticks >= lane->look_ticks))
        ab_preemption_check(lane, ticks);
}

#endif
