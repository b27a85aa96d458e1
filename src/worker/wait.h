/* SPDX-License-Identifier: MIT
 *
 * Lets a lane wait until another lane has come far enough. The waiting lane spins while no lane
 * needs its CPU, but no longer than falling asleep and waking up would take. Then it sleeps, so
 * that lanes with work can have the CPU. Two lanes on one CPU need the CPU by turns. There the
 * waiting lane gives it up at once, and is woken once for as many ops as the window allows.
 *
 * A lane that others wait for tests for sleepers with one plain load after each step. This may be
 * too early to see a lane that is just falling asleep; the next test sees it. When a lane stops
 * setting its gauge (it waits itself, or has done its last op), it tests with a fence. A lane may
 * work for a long time between two tests, so sleepers look at the gauge themselves every
 * AB_WAIT_LOOK_NS.
 */
#ifndef AB_WORKER_WAIT_H
#define AB_WORKER_WAIT_H

#include "worker/worker.h"

#include <sched.h>

#define AB_NOT_WANTED UINT32_MAX
/* Time between two looks of a sleeper. It is longer than the timer tick of any kernel, so that no
 * hardware timer has to be set, which would be the most expensive part of falling asleep. */
enum { AB_WAIT_LOOK_NS = 20000000, AB_NO_CPU = -1 };

/* Waits until the gauge is at least `count`. Adds the time to the lane's wait_ticks. */
void ab_wait_for(struct ab_lane *lane, struct ab_gauge *gauge, uint32_t count);
/* Wakes the sleepers of a gauge that has just been set: the lane's own gauge, or that of the lane
 * whose turn is next. If all CPUs are busy, or if a sleeper would take the lane's own CPU, they may
 * sleep on for a little, so that one wake-up serves many ops. */
void ab_wait_wake(struct ab_lane *lane, struct ab_gauge *gauge, uint32_t count);
/* Wakes all lanes that wait for this one, including those that are just falling asleep. */
void ab_wait_wake_all(struct ab_lane *lane);

static inline void ab_gauge_set(struct ab_lane *lane, struct ab_gauge *gauge, uint32_t count)
{
    __atomic_store_n(&gauge->cpu, sched_getcpu(), __ATOMIC_RELAXED);
    __atomic_store_n(&gauge->count, count, __ATOMIC_RELEASE);
    if (__atomic_load_n(&gauge->wanted, __ATOMIC_RELAXED) <= count)
        ab_wait_wake(lane, gauge, count);
}

/* Makes the last store to the gauge visible to other lanes before any later load of this lane.
 * (ThreadSanitizer understands this form of a fence.) */
static inline void ab_gauge_fence(struct ab_gauge *gauge)
{
    __atomic_fetch_add(&gauge->count, 0, __ATOMIC_SEQ_CST);
}

/* Sets the gauge when no other setting follows soon. Even a lane that is just falling asleep sees
 * it. */
static inline void ab_gauge_set_last(struct ab_lane *lane, struct ab_gauge *gauge, uint32_t count)
{
    ab_gauge_set(lane, gauge, count);
    ab_gauge_fence(gauge);
    if (__atomic_load_n(&gauge->wanted, __ATOMIC_RELAXED) <= count)
        ab_wait_wake(lane, gauge, count);
}

static inline uint32_t ab_gauge_read(const struct ab_gauge *gauge)
{
    return __atomic_load_n(&gauge->count, __ATOMIC_ACQUIRE);
}

/* Resets the gauge between phases, while no lane waits. */
static inline void ab_gauge_reset(struct ab_gauge *gauge, uint32_t count)
{
    __atomic_store_n(&gauge->wanted, AB_NOT_WANTED, __ATOMIC_RELAXED);
    __atomic_store_n(&gauge->cpu, AB_NO_CPU, __ATOMIC_RELAXED);
    __atomic_store_n(&gauge->count, count, __ATOMIC_RELAXED);
}

#endif
