/* SPDX-License-Identifier: MIT
 *
 * What a phase cost: wall ticks, CPU time of the lane and of the whole process (background threads
 * of an allocator show as the difference), page faults, involuntary switches.
 */
#ifndef AB_WORKER_PHASE_METER_H
#define AB_WORKER_PHASE_METER_H

#include "base/bits.h"
#include "base/clock.h"
#include "wire/run.h"
#include "worker/counts/counts.h"

#include <sys/resource.h>

struct ab_phase_meter {
    struct rusage usage;
    uint64_t thread_cpu_ns, process_cpu_ns, ticks;
};

void ab_phase_meter_begin(struct ab_phase_meter *m);
/* The wall clock, after the system calls of begin. */
static inline void ab_phase_meter_start(struct ab_phase_meter *m)
{
    if (AB_UNLIKELY(ab_counts_are_on))
        ab_counts_begin();
    m->ticks = ab_tick_begin();
}
void ab_phase_meter_end(const struct ab_phase_meter *m, struct ab_phase_report *out);
/* After the barrier at the end: the other lanes' work is the process's too. */
void ab_phase_meter_end_process(const struct ab_phase_meter *m, struct ab_phase_report *out);

#endif
