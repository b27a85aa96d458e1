/* SPDX-License-Identifier: MIT
 *
 * How a lane waits until another one is far enough: awake while no lane needs the CPU, but no longer
 * than it would take to fall asleep and wake up; then asleep, so that the CPU is free for those that
 * have work. Two lanes that the scheduler put on one CPU need it by turns: there it goes to the other
 * one at once, and the sleeper is woken once for as many ops as the window has room for.
 * Who is waited for looks whether somebody sleeps with one plain load: it may come too early to see
 * one who is just falling asleep. It looks again the next time that it tells how far it is, and with
 * a fence when it stops doing so: when it waits itself, and after its last op. For a stretch of its
 * own work between two of these, sleepers look for themselves every AB_WAIT_LOOK_NS.
 */
#ifndef AB_WORKER_WAIT_H
#define AB_WORKER_WAIT_H

#include "worker/worker.h"

#include <sched.h>

#define AB_NOT_WANTED UINT32_MAX
/* Beyond the next tick of any kernel, so that no timer has to be set for it: that costs more than all
 * else of falling asleep. */
enum { AB_WAIT_LOOK_NS = 20000000, AB_NO_CPU = -1 };

/* Until the gauge stands at `count`. The time of it goes to the lane's waits. */
void ab_wait_for(struct ab_lane *lane, struct ab_gauge *gauge, uint32_t count);
/* The gauge of the lane's, or of the lane whose turn is next, is set already and wanted. Where all
 * CPUs are busy anyhow, or the sleeper would take the lane's own, it may sleep on for a little: it is
 * then woken once for many ops. */
void ab_wait_wake(struct ab_lane *lane, struct ab_gauge *gauge, uint32_t count);
/* Whoever waits for what the lane has done, also those who are just falling asleep. */
void ab_wait_wake_all(struct ab_lane *lane);

static inline void ab_gauge_set(struct ab_lane *lane, struct ab_gauge *gauge, uint32_t count)
{
    __atomic_store_n(&gauge->cpu, sched_getcpu(), __ATOMIC_RELAXED);
    __atomic_store_n(&gauge->count, count, __ATOMIC_RELEASE);
    if (__atomic_load_n(&gauge->wanted, __ATOMIC_RELAXED) <= count)
        ab_wait_wake(lane, gauge, count);
}

/* What was set is seen by others before what is read after this. (A fence that TSan knows.) */
static inline void ab_gauge_fence(struct ab_gauge *gauge)
{
    __atomic_fetch_add(&gauge->count, 0, __ATOMIC_SEQ_CST);
}

/* The lane does not set it again: seen also by one who is just falling asleep. */
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

/* Nobody waits: between phases. */
static inline void ab_gauge_reset(struct ab_gauge *gauge, uint32_t count)
{
    __atomic_store_n(&gauge->wanted, AB_NOT_WANTED, __ATOMIC_RELAXED);
    __atomic_store_n(&gauge->cpu, AB_NO_CPU, __ATOMIC_RELAXED);
    __atomic_store_n(&gauge->count, count, __ATOMIC_RELAXED);
}

#endif
