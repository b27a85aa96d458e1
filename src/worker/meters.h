/* SPDX-License-Identifier: MIT
 *
 * Meter of a phase: wall ticks, CPU time of the lane and of the whole process, page faults,
 * involuntary context switches. The process has more CPU time than the lanes if the allocator runs
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
    struct { /* sums over the threads that ran the lane earlier in this phase and have ended */
        uint64_t cpu_ns, faults_minor, faults_major, switches;
    } ended;
};

void ab_phase_meter_begin(struct ab_phase_meter *m);
/* Starts the wall clock. Called after ab_phase_meter_begin(), so that its system calls are not in
 * the time. */
static inline void ab_phase_meter_start(struct ab_phase_meter *m)
{
    if (AB_UNLIKELY(ab_counts_are_on))
        ab_counts_begin();
    m->ticks = ab_tick_begin();
}
void ab_phase_meter_end(const struct ab_phase_meter *m, struct ab_phase_report *out);
/* With is_end, pauses the meter because the lane's thread ends in the middle of the phase; else
 * resumes the meter in the lane's next thread. */
void ab_phase_meter_pause(struct ab_phase_meter *m, bool is_end);
/* Sets the process's CPU time. Called after the barrier at the end of the phase, because the time
 * includes the work of other lanes. */
void ab_phase_meter_end_process(const struct ab_phase_meter *m, struct ab_phase_report *out);

/* ---- iterations ----
 *
 * The tail pass of a phase with iterations adds up the time of the calls in each iteration. An
 * iteration that is running when a burst ends goes on in the next burst. */

/* True if this pass times the iterations of the phase. */
bool ab_iterations_are_on(const struct ab_worker *w, uint32_t phase);
/* Starts the iterations of a phase, before the lane's first op. */
void ab_iterations_begin(struct ab_lane *lane, uint32_t phase);
/* Writes the reports of the iterations that end before op `at`. */
void ab_iterations_end(struct ab_lane *lane, uint32_t at);

/* Ends the iterations that end before op `at`. Called before each op, and after the last op with
 * the end position. */
static inline void ab_iterations_pass(struct ab_lane *lane, uint32_t at)
{
    if (AB_UNLIKELY(at >= lane->iteration_end))
        ab_iterations_end(lane, at);
}

/* Adds a call of lane->delta ticks to the running iteration. A preempted call only increases
 * n_scheduler. */
static inline void ab_iterations_add(struct ab_lane *lane, bool is_scheduler)
{
    lane->iteration.n_scheduler += is_scheduler;
    lane->iteration.n_calls += !is_scheduler;
    lane->iteration.ticks += is_scheduler ? 0 : lane->delta;
}

/* AB_TOUCH_APART: blocks are written to while the lane's clock is stopped, as a program writes to
 * its blocks outside of the calls. This time is in no slice and in no time of a phase.
 *
 * With several lanes, a lane that waits profits from the time for which another lane's clock stood
 * still. So path_ticks of a lane is the unmeasured time on the path that leads to its present
 * state. The path is its own work; after a wait for another lane, it is the path of that lane. The
 * wall time of a phase ends with the lane for which the end minus path_ticks is last.
 *
 * Suppose that a lane with `own` path_ticks waits for `waited` ticks until a lane with `other`
 * path_ticks has come far enough. Without the writes, it would go on at the later of two times: the
 * end of its own work minus `own`, and now minus `other`. So its path_ticks become the lesser of
 * own + waited and other. (A lane that need not wait may have been late only because it wrote. Then
 * the other lane's own end bounds the time.) */

/* Values at the time when the clock of a lane was stopped. ab_apart_stop() fills it.
 * ab_apart_go_on() restarts the clock and adds the time in between to the lane's apart_ticks and
 * path_ticks. */
struct ab_apart {
    uint64_t ticks, cpu_ns;
};
void ab_apart_stop(const struct ab_lane *lane, struct ab_apart *since);
void ab_apart_go_on(struct ab_lane *lane, const struct ab_apart *since);
/* Writes to pages of the block, as the operand of the touch says, while the lane's clock stands
 * still. Not inlined, so that it does not slow down the loops of work without such touches. */
static __attribute__((noinline, unused)) void ab_touch_apart(struct ab_lane *lane, void *block,
                                                             size_t size, uint32_t operand)
{
    struct ab_apart since;
    ab_apart_stop(lane, &since);
    ab_touch_block(block, size, operand);
    ab_apart_go_on(lane, &since);
}
/* ab_apart_waited() updates path_ticks after the lane waited `ticks` for the other lane.
 * ab_apart_hand_over() hands path_ticks to the lane whose turn is next. */
void ab_apart_waited(struct ab_lane *lane, const struct ab_lane *other, uint64_t ticks);
void ab_apart_hand_over(const struct ab_lane *lane, struct ab_lane *next);
/* Leaves `ticks`, the time in which the lane's thread changed, out of the lane's time and out of
 * its path. */
void ab_apart_leave_out(struct ab_lane *lane, struct ab_phase_report *report, uint64_t ticks);
/* ab_apart_begin() sets the time for which the lane's clock stood still to 0. ab_apart_end() adds
 * this time to the report of the phase. */
void ab_apart_begin(struct ab_lane *lane);
void ab_apart_end(const struct ab_lane *lane, struct ab_phase_report *report);

#endif
