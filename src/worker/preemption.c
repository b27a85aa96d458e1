/* SPDX-License-Identifier: MIT
 *
 * Reads a thread's CPU time and context switches, and decides from them whether it was preempted.
 */
#include "worker/preemption.h"

#include "base/search.h"

#include <sys/resource.h>

static struct ab_cpu_reading read_cpu(void)
{
    struct rusage usage;
    struct ab_cpu_reading r = {.begin_ns = ab_clock_now_ns(), .cpu_ns = ab_clock_thread_cpu_ns()};
    getrusage(RUSAGE_THREAD, &usage);
    r.switches = (uint64_t)usage.ru_nivcsw;
    r.cpu_end_ns = ab_clock_thread_cpu_ns();
    r.end_ns = ab_clock_now_ns();
    return r;
}

/* Requires both a context switch and a lack of CPU time. A switch alone proves nothing: reading the
 * CPU time makes the scheduler check whether the time slice is over, so many switches happen during
 * a reading. The wall time used here lies between the two readings. */
bool ab_preemption_took(const struct ab_cpu_reading *before, const struct ab_cpu_reading *after,
                        uint64_t ns)
{
    uint64_t wall = after->begin_ns - before->end_ns, cpu = after->cpu_ns - before->cpu_ns;
    return after->switches != before->switches && wall > cpu && wall - cpu >= ns / 2;
}

/* Two clocks of the kernel may disagree by one part in this many. */
enum { CLOCKS_AGREE_TO = 4096 };

/* Assumes that all time without the CPU passes within the op. The CPU time of the readings
 * themselves, and of code beside the op, does not belong to the op, so it is subtracted too. */
uint64_t ab_preemption_least(const struct ab_cpu_reading *before,
                             const struct ab_cpu_reading *after, uint64_t ns)
{
    uint64_t wall = after->begin_ns - before->end_ns, cpu = after->cpu_ns - before->cpu_end_ns;
    uint64_t away = wall > cpu ? wall - cpu : 0, reading = after->cpu_end_ns - after->cpu_ns;
    uint64_t others = away + reading + wall / CLOCKS_AGREE_TO;
    return ns > others ? ns - others : 0;
}

void ab_preemption_look(struct ab_lane *lane)
{
    lane->looked = read_cpu();
    lane->chain = lane->looked_tick = ab_tick_end();
}

/* Returns the index of the first sample at or after a position in the burst. */
static uint32_t lane_first_sample(const struct ab_worker *w, uint32_t position)
{
    return (uint32_t)AB_SEARCH(i, w->page->request.n_samples,
                               w->positions[i] < w->first + position);
}

void ab_preemption_begin(struct ab_lane *lane, uint32_t begin)
{
    lane->look_ticks = lane->w->page->request.look_ticks;
    lane->sample = lane_first_sample(lane->w, begin);
    ab_preemption_look(lane);
}

bool ab_preemption_check(struct ab_lane *lane, uint64_t ticks)
{
    struct ab_cpu_reading before = lane->looked;
    uint64_t ticks_10us = lane->w->page->request.tail_10us_ticks;
    double ns = ticks_10us == 0 ? 0 : (double)ticks * 10000 / (double)ticks_10us;
    ab_preemption_look(lane);
    bool is_taken = ab_preemption_took(&before, &lane->looked, (uint64_t)ns);
    lane->n_preempted += is_taken;
    lane->least_ns = ab_preemption_least(&before, &lane->looked, (uint64_t)ns);
    return is_taken;
}

/* Counts a preempted op by the least time that it would have taken without the preemption. */
static void count_least(struct ab_tail *tail, uint64_t ns)
{
    tail->n_least_1us += ns >= 1000;
    tail->n_least_10us += ns >= 10000;
    tail->n_least_100us += ns >= 100000;
    if (ns > tail->max_least_ns)
        tail->max_least_ns = ns;
}

bool ab_preemption_count(struct ab_lane *lane, struct ab_tail *tail)
{
    if (lane->delta < lane->look_ticks || !ab_preemption_check(lane, lane->delta))
        return false;
    tail->n_scheduler++;
    if (lane->delta > tail->scheduler_max_ticks)
        tail->scheduler_max_ticks = lane->delta;
    count_least(tail, lane->least_ns);
    return true;
}

void ab_preemption_judge(struct ab_lane *lane, uint32_t phase)
{
    int kind = ab_worker_op_kind(lane->w, lane->ops[lane->op]);
    if (kind >= 0 && ab_preemption_count(lane, &lane->reports[phase].tail[kind]))
        lane->w->ticks[lane->sample] = AB_TICKS_SCHEDULER;
}
