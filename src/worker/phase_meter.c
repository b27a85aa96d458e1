/* SPDX-License-Identifier: MIT
 *
 * Reads the clocks and counters of a phase at its begin and its end.
 */
#include "worker/phase_meter.h"

#include "base/clock.h"

void ab_phase_meter_begin(struct ab_phase_meter *m)
{
    getrusage(RUSAGE_THREAD, &m->usage);
    m->process_cpu_ns = ab_clock_process_cpu_ns();
    m->thread_cpu_ns = ab_clock_thread_cpu_ns();
}

void ab_phase_meter_end(const struct ab_phase_meter *m, struct ab_phase_report *out)
{
    uint64_t ticks = ab_tick_end();
    if (AB_UNLIKELY(ab_counts_are_on))
        ab_counts_end(out);
    out->begin_tick = m->ticks;
    out->end_tick = ticks;
    out->wall_ticks = out->lane_ticks = ticks - m->ticks;
    out->thread_cpu_ns = ab_clock_thread_cpu_ns() - m->thread_cpu_ns;
    struct rusage now;
    getrusage(RUSAGE_THREAD, &now);
    out->faults_minor = (uint64_t)(now.ru_minflt - m->usage.ru_minflt);
    out->faults_major = (uint64_t)(now.ru_majflt - m->usage.ru_majflt);
    out->switches_involuntary = (uint64_t)(now.ru_nivcsw - m->usage.ru_nivcsw);
}

void ab_phase_meter_end_process(const struct ab_phase_meter *m, struct ab_phase_report *out)
{
    out->process_cpu_ns = ab_clock_process_cpu_ns() - m->process_cpu_ns;
}
