/* SPDX-License-Identifier: MIT
 *
 * Did the scheduler give the CPU to something else during an op? Told by clocks: where a stretch of a
 * pass took suspiciously long, the thread's CPU time and its involuntary context switches are read
 * and compared with the last reading. Nothing is read for ops of ordinary length, and nothing within
 * a timed interval. Waiting that the allocator itself asked for (a lock, a sleep) is a voluntary
 * switch and stays its own.
 */
#ifndef AB_WORKER_PREEMPTION_H
#define AB_WORKER_PREEMPTION_H

#include "base/clock.h"
#include "worker/worker.h"

/* Of the stretch of so many ns, which lies between the two readings: the scheduler took most of it. */
bool ab_preemption_took(const struct ab_cpu_reading *before, const struct ab_cpu_reading *after,
                        uint64_t ns);

/* The CPU time that the thread spent in an op of so many ns between the two readings, at least: the
 * stretch may cover other ops as well, so it is the op's length less all the time without CPU. */
uint64_t ab_preemption_least(const struct ab_cpu_reading *before,
                             const struct ab_cpu_reading *after, uint64_t ns);

/* Before a timed range of the tape: the first reading, and the first sample at or after a position. */
void ab_preemption_begin(struct ab_lane *lane, uint32_t begin);
/* Reads again: switches before this count for no op. */
void ab_preemption_look(struct ab_lane *lane);
/* Was the stretch that has just ended, of so many ticks, the scheduler's? Also reads anew. */
bool ab_preemption_check(struct ab_lane *lane, uint64_t ticks);
/* Of the op that took lane->delta: when it was the scheduler's, it is counted there, and true. */
bool ab_preemption_count(struct ab_lane *lane, struct ab_tail *tail);
/* The same of lane->sample: one that was the scheduler's is marked. */
void ab_preemption_judge(struct ab_lane *lane, uint32_t phase);

/* A stretch up to now, from lane->chain on, that is no op's. */
static inline void ab_preemption_pass(struct ab_lane *lane)
{
    uint64_t now = ab_tick_end(), ticks = now - lane->chain;
    lane->chain = now;
    if (AB_UNLIKELY(ticks >= lane->look_ticks))
        ab_preemption_check(lane, ticks);
}

#endif
