/* SPDX-License-Identifier: MIT
 *
 * Waits for a gauge (the progress) of another lane, first awake, then asleep on a futex. Also wakes
 * sleepers.
 */
#include "worker/wait.h"

#include "base/clock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Limits in us of the time that a lane waits awake. The most is about the time of falling asleep
 * and being woken on a sleeping CPU. The least is the time in which a lane can see that nobody
 * needs its CPU. */
enum { AWAKE_MOST_US = 50, AWAKE_LEAST_US = 1 };

/* A sleeper is woken only after this much progress beyond the count that it waits for, if no CPU is
 * idle. */
enum { SLACK_OPS = 512, SLACK_FRAMES = 2 };

static bool is_there(const struct ab_gauge *gauge, uint32_t count)
{
    return ab_gauge_read(gauge) >= count;
}

/* True if a lane that has work needs this lane's CPU: the lane that is waited for, or any other
 * lane. */
static bool is_cpu_needed(const struct ab_lane *lane, const struct ab_gauge *gauge)
{
    return __atomic_load_n(&lane->w->n_awake, __ATOMIC_RELAXED) > lane->w->n_cpus ||
           __atomic_load_n(&gauge->cpu, __ATOMIC_RELAXED) == sched_getcpu();
}

/* Waits awake. Returns true if the gauge reached `count`. Also wakes the lanes that wait for this
 * one, because they could sleep on while this lane waits. */
static bool wait_awake(struct ab_lane *lane, const struct ab_gauge *gauge, uint32_t count,
                       uint64_t begun)
{
    const uint64_t us = lane->w->page->request.tail_1us_ticks;
    bool have_all_been_woken = false;
    for (;;) {
        for (unsigned i = 0; i < 8; i++) {
            ab_cpu_pause();
            if (is_there(gauge, count))
                return true;
        }
        uint64_t waited = ab_tick_end() - begun;
        if (waited < AWAKE_LEAST_US * us)
            continue;
        if (waited >= AWAKE_MOST_US * us || is_cpu_needed(lane, gauge))
            return false;
        if (!have_all_been_woken)
            ab_wait_wake_all(lane);
        have_all_been_woken = true;
    }
}

/* Lowers gauge->wanted to `count`, unless it is lower already. In that case the sleeper with the
 * lower count is woken first, and this lane then asks again. Returns gauge->wanted. */
static uint32_t ask(struct ab_gauge *gauge, uint32_t count)
{
    uint32_t wanted = __atomic_load_n(&gauge->wanted, __ATOMIC_RELAXED);
    __atomic_store_n(&gauge->wanted_on, sched_getcpu(), __ATOMIC_RELAXED);
    while (count < wanted && !__atomic_compare_exchange_n(&gauge->wanted, &wanted, count, false,
                                                          __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
    return count < wanted ? count : wanted;
}

/* Wakes the sleepers of the gauge. They count as awake at once, so that no other lane keeps waiting
 * awake on a CPU that they need. */
static void wake(struct ab_lane *lane, struct ab_gauge *gauge)
{
    __atomic_store_n(&gauge->wanted, AB_NOT_WANTED, __ATOMIC_SEQ_CST);
    long n = syscall(SYS_futex, &gauge->wanted, FUTEX_WAKE_PRIVATE, AB_LANES_MAX, NULL, NULL,
                     AB_CALL_OF_OURS);
    if (n > 0)
        __atomic_add_fetch(&lane->w->n_awake, (uint32_t)n, __ATOMIC_RELAXED);
}

static void wake_all_of(struct ab_lane *lane)
{
    struct ab_gauge *gauges[] = {&lane->published, &lane->frame};
    for (unsigned i = 0; i < 2; i++)
        if (__atomic_load_n(&gauges[i]->wanted, __ATOMIC_SEQ_CST) <= ab_gauge_read(gauges[i]))
            wake(lane, gauges[i]);
}

void ab_wait_wake_all(struct ab_lane *lane)
{
    ab_gauge_fence(&lane->published);
    wake_all_of(lane);
}

/* Called when the lane is about to sleep. Wakes lanes that stayed asleep because no CPU was idle,
 * so that one of them can have this lane's CPU. */
static void give_cpu_away(struct ab_lane *lane)
{
    struct ab_worker *w = lane->w;
    if (__atomic_sub_fetch(&w->n_awake, 1, __ATOMIC_SEQ_CST) >= w->n_cpus)
        return;
    for (uint32_t i = 0; i < w->image->n_lanes; i++)
        wake_all_of(&w->lanes[i]);
}

static void wait_asleep(struct ab_lane *lane, struct ab_gauge *gauge, uint32_t count)
{
    const struct timespec look = {.tv_nsec = AB_WAIT_LOOK_NS};
    ab_wait_wake_all(lane);
    while (!is_there(gauge, count)) {
        uint32_t wanted = ask(gauge, count);
        if (is_there(gauge, count))
            break;
        give_cpu_away(lane);
        if (syscall(SYS_futex, &gauge->wanted, FUTEX_WAIT_PRIVATE, wanted, &look, NULL,
                    AB_CALL_OF_OURS) != 0)
            /* no lane woke this one, so it counts itself as awake */
            __atomic_add_fetch(&lane->w->n_awake, 1, __ATOMIC_RELAXED);
    }
}

void ab_wait_for(struct ab_lane *lane, struct ab_gauge *gauge, uint32_t count)
{
    uint64_t begun = ab_tick_end();
    if (wait_awake(lane, gauge, count, begun)) {
        uint64_t ticks = ab_tick_end() - begun;
        lane->wait_ticks += ticks;
        lane->awake_ticks += ticks;
        return;
    }
    uint64_t cpu_ns = lane->is_crowded ? ab_clock_thread_cpu_ns() : 0;
    lane->awake_ticks += ab_tick_end() - begun;
    wait_asleep(lane, gauge, count);
    lane->asleep_cpu_ns += lane->is_crowded ? ab_clock_thread_cpu_ns() - cpu_ns : 0;
    lane->wait_ticks += ab_tick_end() - begun;
}

void ab_wait_wake(struct ab_lane *lane, struct ab_gauge *gauge, uint32_t count)
{
    uint32_t slack = gauge == &lane->published ? SLACK_OPS
                     : gauge == &lane->frame   ? SLACK_FRAMES
                                               : 0; /* a turn */
    bool is_cpu_idle = __atomic_load_n(&lane->w->n_awake, __ATOMIC_RELAXED) < lane->w->n_cpus &&
                       __atomic_load_n(&gauge->wanted_on, __ATOMIC_RELAXED) != sched_getcpu();
    if (is_cpu_idle || count - __atomic_load_n(&gauge->wanted, __ATOMIC_RELAXED) >= slack)
        wake(lane, gauge);
}
