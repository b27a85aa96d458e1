/* SPDX-License-Identifier: MIT
 *
 * How a lane waits until another one is far enough: awake for as long as it would take to fall
 * asleep, then asleep, so that the CPU is free for those that have work. Who is waited for looks
 * whether somebody sleeps with one plain load: it may come too early to see one who is just falling
 * asleep, so sleepers look for themselves every AB_WAIT_LOOK_NS.
 */
#ifndef AB_WORKER_WAIT_H
#define AB_WORKER_WAIT_H

#include "worker/worker.h"

#define AB_NOT_WANTED UINT32_MAX
enum { AB_WAIT_LOOK_NS = 500000 };

/* Until the gauge stands at `count`. The time of it goes to the lane's waits. */
void ab_wait_for(struct ab_lane *lane, struct ab_gauge *gauge, uint32_t count);
/* The gauge of the lane's, or of the lane whose turn is next, is set already and wanted. Where all
 * CPUs are busy anyhow, sleepers may sleep on for a little: each is then woken once for many ops. */
void ab_wait_wake(struct ab_lane *lane, struct ab_gauge *gauge, uint32_t count);
/* Whoever waits for what the lane has done. */
void ab_wait_wake_all(struct ab_lane *lane);

static inline void ab_gauge_set(struct ab_lane *lane, struct ab_gauge *gauge, uint32_t count)
{
    __atomic_store_n(&gauge->count, count, __ATOMIC_RELEASE);
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
    __atomic_store_n(&gauge->count, count, __ATOMIC_RELAXED);
}

#endif
