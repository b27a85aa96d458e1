/* SPDX-License-Identifier: MIT
 *
 * Cost of a phase: wall ticks, CPU time of the lane and of the whole process, page faults,
 * involuntary switches. The process has more CPU time than the lanes if the allocator runs
 * background threads.
 */
#ifndef AB_WORKER_METERS_H
#define AB_WORKER_METERS_H

#include "base/bits.h"
#include "base/clock.h"
#include "wire/run_page.h"
#include "worker/counts.h"
#include "worker/touch.h"
#include "worker/worker.h"

#include <stddef.h>
#include <sys/resource.h>

struct ab_phase_meter {
    struct rusage usage;
    uint64_t thread_cpu_ns, process_cpu_ns, ticks;
    struct { /* sums over threads that ran the lane in this phase and have ended */
        uint64_t cpu_ns, faults_minor, faults_major, switches;
    } ended;
};

void ab_phase_meter_begin(struct ab_phase_meter *m);
/* Starts the wall clock, after the system calls of begin. */
static inline void ab_phase_meter_start(struct ab_phase_meter *m)
{
    if (AB_UNLIKELY(ab_counts_are_on))
        ab_counts_begin();
    m->ticks = ab_tick_begin();
}
void ab_phase_meter_end(const struct ab_phase_meter *m, struct ab_phase_report *out);
/* Pauses the meter when the thread ends in the middle of the phase, and resumes it in the next
 * thread. */
void ab_phase_meter_pause(struct ab_phase_meter *m, bool is_end);
/* Adds the process's CPU time, after the barrier at the end, because the other lanes' work is part
 * of it. */
void ab_phase_meter_end_process(const struct ab_phase_meter *m, struct ab_phase_report *out);

/* ---- iterations ----
 *
 * The tail pass of a phase with iterations adds up the time of the calls in each one. An iteration
 * that is running when a burst ends goes on in the next burst. */

/* True if this pass times the iterations of the phase. */
bool ab_iterations_are_on(const struct ab_worker *w, uint32_t phase);
/* Starts the iterations of a phase, before the lane's first op. */
void ab_iterations_begin(struct ab_lane *lane, uint32_t phase);
/* Reports the iterations that end before op `at`. */
void ab_iterations_end(struct ab_lane *lane, uint32_t at);

/* Ends the iterations before op `at`. Called before each op, and with the end position after the
 * last one. */
static inline void ab_iterations_pass(struct ab_lane *lane, uint32_t at)
{
    if (AB_UNLIKELY(at >= lane->iteration_end))
        ab_iterations_end(lane, at);
}

/* Adds a call of lane->delta ticks to the iteration; a preempted call is only counted. */
static inline void ab_iterations_add(struct ab_lane *lane, bool is_scheduler)
{
    lane->iteration.n_scheduler += is_scheduler;
    lane->iteration.n_calls += !is_scheduler;
    lane->iteration.ticks += is_scheduler ? 0 : lane->delta;
}

/* AB_TOUCH_APART: blocks are written to while the clock stands still, as a program writes to them
 * outside of its calls. This time is in no slice and in no time of a phase.
 *
 * With several lanes, the wall time of a phase ends with the lane whose end, less the stopped time
 * on its path, comes last. The path of a lane is its own work, and, after a wait for another lane,
 * that lane's path. Suppose that a lane which stood still for `own` ticks so far waits for `waited`
 * ticks, until a lane which stood still for `other` ticks has come far enough. Without writing, it
 * would go on at the later of two times: its own end of work less `own`, and now less `other`. So
 * from then on it has stood still for the lesser of own + waited and other. (If it need not wait,
 * it may have been late only because it wrote: then the other lane's own end bounds the time.) */

/* Moment at which the clock of a lane was stopped. ab_apart_stop() fills it; ab_apart_go_on()
 * restarts the clock and adds the time in between to the apart_ticks and path_ticks of the lane. */
struct ab_apart {
    uint64_t ticks, cpu_ns;
};
void ab_apart_stop(const struct ab_lane *lane, struct ab_apart *since);
void ab_apart_go_on(struct ab_lane *lane, const struct ab_apart *since);
/* Writes to pages of the block, as the operand of the touch says, while the lane's clock stands
 * still. Out of line, so that it does not slow down the loops of other work. */
static __attribute__((noinline, unused)) void ab_touch_apart(struct ab_lane *lane, void *block,
                                                             size_t size, uint32_t operand)
{
    struct ab_apart since;
    ab_apart_stop(lane, &since);
    ab_touch_block(block, size, operand);
    ab_apart_go_on(lane, &since);
}
/* Updates path_ticks after a wait of `ticks` for the other lane, or when the other lane's turn is
 * next. */
void ab_apart_waited(struct ab_lane *lane, const struct ab_lane *other, uint64_t ticks);
void ab_apart_hand_over(const struct ab_lane *lane, struct ab_lane *next);
/* Leaves `ticks`, in which the lane's thread changed, out of the lane's time and of its path. */
void ab_apart_leave_out(struct ab_lane *lane, struct ab_phase_report *report, uint64_t ticks);
/* Sets the lane's stopped time to 0. ab_apart_end() adds that time to the report of the phase. */
void ab_apart_begin(struct ab_lane *lane);
void ab_apart_end(const struct ab_lane *lane, struct ab_phase_report *report);

#endif
