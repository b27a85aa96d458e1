/* SPDX-License-Identifier: MIT
 *
 * The clock of what is written to apart from the calls. Out of line, so that the loops of all other
 * work stay as they are.
 */
#include "worker/passes/apart.h"

#include "base/clock.h"
#include "worker/passes/touch.h"

void ab_touch_apart(struct ab_lane *lane, void *block, size_t size)
{
    uint64_t cpu_ns = lane->is_crowded ? ab_clock_thread_cpu_ns() : 0;
    uint64_t begin = ab_tick_begin();
    ab_touch_pages(block, 0, size);
    uint64_t ticks = ab_tick_end() - begin;
    lane->apart_ticks += ticks;
    __atomic_store_n(&lane->path_ticks, lane->path_ticks + ticks, __ATOMIC_RELAXED);
    lane->apart_cpu_ns += lane->is_crowded ? ab_clock_thread_cpu_ns() - cpu_ns : 0;
}

void ab_apart_begin(struct ab_lane *lane)
{
    lane->apart_ticks = lane->apart_cpu_ns = 0;
    __atomic_store_n(&lane->path_ticks, 0, __ATOMIC_RELAXED);
}

void ab_apart_waited(struct ab_lane *lane, const struct ab_lane *other, uint64_t ticks)
{
    uint64_t own = lane->path_ticks + ticks;
    uint64_t of_other = __atomic_load_n(&other->path_ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&lane->path_ticks, own < of_other ? own : of_other, __ATOMIC_RELAXED);
}

void ab_apart_hand_over(const struct ab_lane *lane, struct ab_lane *next)
{
    __atomic_store_n(&next->path_ticks, lane->path_ticks, __ATOMIC_RELAXED);
}

/* Among more lanes than CPUs, many of the ticks are those of other lanes, unless they take turns. */
void ab_apart_end(const struct ab_lane *lane, struct ab_phase_report *report)
{
    report->outside_ticks += lane->apart_ticks;
    report->path_ticks += lane->is_crowded && !lane->is_strict ? 0 : lane->path_ticks;
    report->canary_ticks += lane->is_crowded ? 0 : lane->apart_ticks;
    report->outside_cpu_ns += lane->apart_cpu_ns;
}
