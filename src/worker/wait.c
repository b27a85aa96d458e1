/* SPDX-License-Identifier: MIT
 *
 * Waiting for a counter of another lane, awake first and then on a futex, and waking those that
 * sleep.
 */
#include "worker/wait.h"

#include "base/clock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How long a lane waits awake, in us. With a CPU for each, the one that is waited for is at work,
 * and falling asleep and being woken would take longer than most waits. Where lanes share CPUs,
 * the CPU is given away at once: the one that is waited for may be waiting for it. */
enum { AWAKE_OWN_US = 50, AWAKE_SHARED_US = 1 };

/* How much more than what is wanted may be done before a sleeper is woken, while no CPU is idle. */
enum { SLACK_OPS = 512, SLACK_FRAMES = 2 };

static bool is_there(const struct ab_gauge *gauge, uint32_t count)
{
    return ab_gauge_read(gauge) >= count;
}

static bool wait_awake(const struct ab_lane *lane, const struct ab_gauge *gauge, uint32_t count,
                       uint64_t begun)
{
    uint64_t most = lane->w->page->request.tail_1us_ticks *
                    (lane->is_crowded ? AWAKE_SHARED_US : AWAKE_OWN_US);
    do {
        for (unsigned i = 0; i < 8; i++) {
            ab_cpu_pause();
            if (is_there(gauge, count))
                return true;
        }
    } while (ab_tick_end() - begun < most);
    return false;
}

/* Says what is wanted, unless something less is: then it is woken for that and asks anew. Returns
 * what the gauge is wanted at. */
static uint32_t ask(struct ab_gauge *gauge, uint32_t count)
{
    uint32_t wanted = __atomic_load_n(&gauge->wanted, __ATOMIC_RELAXED);
    while (count < wanted && !__atomic_compare_exchange_n(&gauge->wanted, &wanted, count, false,
                                                          __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
    return count < wanted ? count : wanted;
}

/* Those that wait for this lane must not sleep on while it sleeps. */
static void wait_asleep(struct ab_lane *lane, struct ab_gauge *gauge, uint32_t count)
{
    const struct timespec look = {.tv_nsec = AB_WAIT_LOOK_NS};
    __atomic_add_fetch(&lane->w->n_asleep, 1, __ATOMIC_RELAXED);
    ab_wait_wake_all(lane);
    while (!is_there(gauge, count)) {
        uint32_t wanted = ask(gauge, count);
        if (is_there(gauge, count))
            break;
        syscall(SYS_futex, &gauge->wanted, FUTEX_WAIT_PRIVATE, wanted, &look);
    }
    __atomic_sub_fetch(&lane->w->n_asleep, 1, __ATOMIC_RELAXED);
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

static void wake(struct ab_gauge *gauge)
{
    __atomic_store_n(&gauge->wanted, AB_NOT_WANTED, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &gauge->wanted, FUTEX_WAKE_PRIVATE, AB_LANES_MAX, NULL);
}

void ab_wait_wake_all(struct ab_lane *lane)
{
    struct ab_gauge *gauges[] = {&lane->published, &lane->frame};
    for (unsigned i = 0; i < 2; i++)
        if (__atomic_load_n(&gauges[i]->wanted, __ATOMIC_SEQ_CST) <= ab_gauge_read(gauges[i]))
            wake(gauges[i]);
}

void ab_wait_wake(struct ab_lane *lane, struct ab_gauge *gauge, uint32_t count)
{
    uint32_t slack = gauge == &lane->published ? SLACK_OPS
                     : gauge == &lane->frame   ? SLACK_FRAMES
                                               : 0; /* a turn */
    uint32_t n_asleep = __atomic_load_n(&lane->w->n_asleep, __ATOMIC_RELAXED);
    bool is_cpu_idle = lane->n_busy < lane->w->n_cpus + n_asleep;
    if (is_cpu_idle || count - __atomic_load_n(&gauge->wanted, __ATOMIC_RELAXED) >= slack)
        wake(gauge);
}
