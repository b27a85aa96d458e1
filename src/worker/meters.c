/* SPDX-License-Identifier: MIT
 *
 * Reads clocks and counters at the beginning and at the end of a phase. Also keeps two sums within
 * a phase: the time of iterations, and the time of writes apart from the calls.
 */
#include "worker/meters.h"

#include <string.h>

static void read_thread(struct ab_phase_meter *m)
{
    getrusage(RUSAGE_THREAD, &m->usage);
    m->thread_cpu_ns = ab_clock_thread_cpu_ns();
}

void ab_phase_meter_begin(struct ab_phase_meter *m)
{
    memset(&m->ended, 0, sizeof m->ended);
    m->process_cpu_ns = ab_clock_process_cpu_ns();
    read_thread(m);
}

void ab_phase_meter_pause(struct ab_phase_meter *m, bool is_end)
{
    struct rusage now;
    if (!is_end) {
        read_thread(m);
        return;
    }
    m->ended.cpu_ns += ab_clock_thread_cpu_ns() - m->thread_cpu_ns;
    getrusage(RUSAGE_THREAD, &now);
    m->ended.faults_minor += (uint64_t)(now.ru_minflt - m->usage.ru_minflt);
    m->ended.faults_major += (uint64_t)(now.ru_majflt - m->usage.ru_majflt);
    m->ended.switches += (uint64_t)(now.ru_nivcsw - m->usage.ru_nivcsw);
}

void ab_phase_meter_end(const struct ab_phase_meter *m, struct ab_phase_report *out)
{
    uint64_t ticks = ab_tick_end();
    if (AB_UNLIKELY(ab_counts_are_on))
        ab_counts_end(out);
    out->begin_tick = m->ticks;
    out->end_tick = ticks;
    out->wall_ticks = out->lane_ticks = ticks - m->ticks;
    out->thread_cpu_ns = m->ended.cpu_ns + ab_clock_thread_cpu_ns() - m->thread_cpu_ns;
    struct rusage now;
    getrusage(RUSAGE_THREAD, &now);
    out->faults_minor = m->ended.faults_minor + (uint64_t)(now.ru_minflt - m->usage.ru_minflt);
    out->faults_major = m->ended.faults_major + (uint64_t)(now.ru_majflt - m->usage.ru_majflt);
    out->switches_involuntary = m->ended.switches + (uint64_t)(now.ru_nivcsw - m->usage.ru_nivcsw);
}

void ab_phase_meter_end_process(const struct ab_phase_meter *m, struct ab_phase_report *out)
{
    out->process_cpu_ns = ab_clock_process_cpu_ns() - m->process_cpu_ns;
}

/* ---- iterations: their ends, and the reports of those that have ended ---- */

bool ab_iterations_are_on(const struct ab_worker *w, uint32_t phase)
{
    return w->iteration_reports != NULL && w->phases[phase].is_measured &&
           w->phases[phase].iteration[0] != 0;
}

static void find_end(struct ab_lane *lane)
{
    lane->iteration_end = lane->next_iteration < lane->last_iteration
                              ? lane->w->iterations[lane->next_iteration]
                              : UINT32_MAX;
}

void ab_iterations_begin(struct ab_lane *lane, uint32_t phase)
{
    const struct ab_worker *w = lane->w;
    lane->next_iteration = lane->last_iteration = 0;
    if (ab_iterations_are_on(w, phase) && ab_tape_burst(w->image, w->burst)->iterations.n > 0) {
        const uint32_t *begin = &w->iteration_begin[phase * w->image->n_lanes + lane->index];
        lane->next_iteration = begin[0];
        lane->last_iteration = begin[1];
    }
    if (w->burst == 0)
        lane->iteration = (struct ab_iteration){0};
    find_end(lane);
}

void ab_iterations_end(struct ab_lane *lane, uint32_t at)
{
    const struct ab_worker *w = lane->w;
    uint32_t first = ab_tape_burst(w->image, w->burst)->iterations.first;
    while (lane->iteration_end <= at && lane->next_iteration < lane->last_iteration) {
        w->iteration_reports[first + lane->next_iteration++] = lane->iteration;
        lane->iteration = (struct ab_iteration){0};
        find_end(lane);
    }
}

/* ---- time apart from the calls (AB_TOUCH_APART) ---- */

void ab_apart_stop(const struct ab_lane *lane, struct ab_apart *since)
{
    since->cpu_ns = lane->is_crowded ? ab_clock_thread_cpu_ns() : 0;
    since->ticks = ab_tick_begin();
}

void ab_apart_go_on(struct ab_lane *lane, const struct ab_apart *since)
{
    uint64_t ticks = ab_tick_end() - since->ticks;
    lane->apart_ticks += ticks;
    __atomic_store_n(&lane->path_ticks, lane->path_ticks + ticks, __ATOMIC_RELAXED);
    lane->apart_cpu_ns += lane->is_crowded ? ab_clock_thread_cpu_ns() - since->cpu_ns : 0;
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

void ab_apart_leave_out(struct ab_lane *lane, struct ab_phase_report *report, uint64_t ticks)
{
    report->outside_ticks += ticks;
    __atomic_store_n(&lane->path_ticks, lane->path_ticks + ticks, __ATOMIC_RELAXED);
}

/* Adds the time for which the lane's clock stood still to the report. If more lanes are busy than
 * there are CPUs, other lanes ran during many of these ticks, unless the lanes take turns. */
void ab_apart_end(const struct ab_lane *lane, struct ab_phase_report *report)
{
    report->outside_ticks += lane->apart_ticks;
    report->path_ticks += lane->is_crowded && !lane->is_strict ? 0 : lane->path_ticks;
    report->canary_ticks += lane->is_crowded ? 0 : lane->apart_ticks;
    report->outside_cpu_ns += lane->apart_cpu_ns;
}
