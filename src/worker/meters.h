/* SPDX-License-Identifier: MIT
 *
 * What a phase cost: wall ticks, CPU time of the lane and of the whole process (background threads
 * of an allocator show as the difference), page faults, involuntary switches.
 */
#ifndef AB_WORKER_METERS_H
#define AB_WORKER_METERS_H

#include "base/bits.h"
#include "base/clock.h"
#include "wire/run.h"
#include "worker/counts.h"
#include "worker/touch.h"
#include "worker/worker.h"

#include <stddef.h>
#include <sys/resource.h>

struct ab_phase_meter {
    struct rusage usage;
    uint64_t thread_cpu_ns, process_cpu_ns, ticks;
    struct { /* of threads that were part of the lane in this phase and have ended */
        uint64_t cpu_ns, faults_minor, faults_major, switches;
    } ended;
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
/* The thread ends in the middle of the phase; or, in another one, goes on. */
void ab_phase_meter_pause(struct ab_phase_meter *m, bool is_end);
/* After the barrier at the end: the other lanes' work is the process's too. */
void ab_phase_meter_end_process(const struct ab_phase_meter *m, struct ab_phase_report *out);

/* The tail pass of a phase with iterations: what the calls of each took, added up. One that is under
 * way when a burst ends goes on in the next one. */

/* Has the phase iterations that are to be timed in this pass? */
bool ab_iterations_are_on(const struct ab_worker *w, uint32_t phase);
/* Before the lane's first op of a phase. */
void ab_iterations_begin(struct ab_lane *lane, uint32_t phase);
/* Reports those that end before op `at`. */
void ab_iterations_end(struct ab_lane *lane, uint32_t at);

/* Before op `at`, or after all ops before it. */
static inline void ab_iterations_pass(struct ab_lane *lane, uint32_t at)
{
    if (AB_UNLIKELY(at >= lane->iteration_end))
        ab_iterations_end(lane, at);
}

/* A call that took lane->delta, unless the scheduler did. */
static inline void ab_iterations_add(struct ab_lane *lane, bool is_scheduler)
{
    lane->iteration.n_scheduler += is_scheduler;
    lane->iteration.n_calls += !is_scheduler;
    lane->iteration.ticks += is_scheduler ? 0 : lane->delta;
}

/* AB_TOUCH_APART: blocks are written to while the clock stands still, as a program writes to them
 * outside of its calls. What that takes is in no slice and in no time of a phase.
 *
 * Of several lanes, the wall time of a phase ends with the lane whose end, less the time for which
 * the clock stood still on its path, comes last. The path of a lane is its own work, and where it
 * waited for another lane, from then on that lane's: if a lane that stood still for `own` ticks so
 * far waits for `waited`, until one that stood still for `other` has come so far, it would have gone
 * on at the later of two times, its own end of work less `own` and now less `other`; so from then on
 * it has stood still for the lesser of own + waited and other. (Where it need not wait, it may have
 * been late only because it wrote: then the other lane's own end bounds the time.) */

/* The clock of the lane stops, and goes on: the ticks in between are added to lane->apart_ticks. */
struct ab_apart {
    uint64_t ticks, cpu_ns;
};
void ab_apart_stop(const struct ab_lane *lane, struct ab_apart *since);
void ab_apart_go_on(struct ab_lane *lane, const struct ab_apart *since);
/* Writes to pages of the block as the operand of the touch says, while the lane's clock stands still. Out of
 * line, so that the loops of all other work stay as they are. */
static __attribute__((noinline, unused)) void ab_touch_apart(struct ab_lane *lane, void *block,
                                                             size_t size, uint32_t operand)
{
    struct ab_apart since;
    ab_apart_stop(lane, &since);
    ab_touch_block(block, size, operand);
    ab_apart_go_on(lane, &since);
}
/* The lane has waited for the other one for so many ticks; or the other one's turn is next. */
void ab_apart_waited(struct ab_lane *lane, const struct ab_lane *other, uint64_t ticks);
void ab_apart_hand_over(const struct ab_lane *lane, struct ab_lane *next);
/* Leaves so many ticks out of the lane's time and of its path, in which its thread changed. */
void ab_apart_leave_out(struct ab_lane *lane, struct ab_phase_report *report, uint64_t ticks);
/* The lane's clock stands at 0 again; and what stood there is in the report of its phase. */
void ab_apart_begin(struct ab_lane *lane);
void ab_apart_end(const struct ab_lane *lane, struct ab_phase_report *report);

#endif
