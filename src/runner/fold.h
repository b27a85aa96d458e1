/* SPDX-License-Identifier: MIT
 *
 * Converts the raw samples and reports of workers into results.
 */
#ifndef AB_RUNNER_FOLD_H
#define AB_RUNNER_FOLD_H

#include "base/clock.h"
#include "placement/placement.h"
#include "result/session.h"
#include "runner/run.h"
#include "wire/memory_report.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AB_FOLD_ANY UINT32_MAX /* in place of an index: every back end, case or round */

/* The destination of results. Records are part of the session, which owns them. */
struct ab_fold {
    struct ab_session *session;
    const struct ab_tape_map *tape;
    const struct ab_clock *clock;
    uint32_t backend, round;
};

/* Converts ticks to nanoseconds, rounded. */
static inline uint64_t ab_fold_ns(const struct ab_fold *f, uint64_t ticks)
{
    return (uint64_t)((double)ticks * f->clock->ns_per_tick + 0.5);
}
/* Returns the time that the lanes spent on their ops, without waiting for each other. If there are
 * more lanes than CPUs, this is the CPU time of the lanes, so that waiting for a CPU does not
 * count. Otherwise it is wall time, which includes sleeping on a lock of the allocator. */
double ab_fold_busy_ns(const struct ab_fold *f, const struct ab_phase_report *report);
/* Returns the time of ab_fold_busy_ns; NaN if, with several lanes, most of the lanes' time had to
 * be subtracted as waiting or as time of the harness. */
double ab_fold_known_ns(const struct ab_fold *f, const struct ab_phase_report *report);
/* Converts a size that a worker reports. NaN if it is AB_MEMORY_UNKNOWN or impossibly large. */
static inline double ab_fold_bytes(uint64_t n)
{
    return n < UINT64_C(1) << 56 ? (double)n : NAN;
}
/* True if the back end has a function for this kind of op. */
static inline bool ab_fold_is_served(const struct ab_outcome *run, unsigned kind)
{
    return (run->page->report.hooks >> kind & 1) != 0;
}

/* ---- throughput ----
 *
 * All throughput runs of a session, from which the time of a phase is estimated. With one lane, a
 * run consists of slices (wire/run_page.h).
 *
 * The profile of a back end has one time for each slice: the median over the processes that ran the
 * slice while the machine was quiet. Each process has a factor: how much slower than the profile it
 * was. The factor is the weighted mean of the logarithms of its slices' ratios to the profile, over
 * its quiet slices, with a tenth trimmed at either end. The time of a phase in a round is the sum
 * of the profile's times, multiplied by the mean factor of the round's processes.
 *
 * So a slice that another tenant slowed down does not count, all other slices count once, and one
 * page fault more makes no difference. With several lanes, or if the machine is never quiet, the
 * time is the median of the processes. */

struct ab_throughput_run {
    uint32_t case_index, round;
    uint32_t hooks; /* bits of the functions that the back end has, as the worker reported them */
    uint32_t n_slices;
    float *ticks; /* n_slices times; 0 = the slice was skipped by a reset */
    /* n_slices readings; the higher of those before and after the slice */
    uint16_t *canary;
    uint16_t *phases; /* n_slices indices: the phase of each slice */
    /* one for each phase of the tape: sums over the whole phase */
    struct ab_throughput_phase *sums;
};

struct ab_throughput_phase { /* sums over a whole phase; times in ns; NaN = not known */
    double busy, wall, cpu, background, wait_percent, subtracted_percent, ready_threads,
        renewal_percent;
    /* thread_ends: number of threads that ended; thread_end_ns: time of one end, NaN = no thread
     * ended */
    double thread_ends, thread_end_ns;
    double trims, trims_without_effect;
    uint64_t faults_minor, switches;
};

struct ab_throughput {
    struct ab_throughput_run *runs;
    size_t n_runs, cap_runs;
    uint32_t n_phases;
};

void ab_throughput_fini(struct ab_throughput *t);

/* Keeps the measurements of a run. The caller numbers the cases: one for each back end, then one
 * for the null back end of each. */
void ab_throughput_add(struct ab_throughput *t, const struct ab_fold *f, uint32_t case_index,
                       const struct ab_outcome *run);
/* Removes the runs of a case in a round; AB_FOLD_ANY = of all cases or rounds. */
void ab_throughput_drop(struct ab_throughput *t, uint32_t case_index, uint32_t round);

/* Adds the disturbances of the run to `noise`. */
void ab_throughput_add_noise(const struct ab_fold *f, const struct ab_throughput_run *run,
                             const struct ab_outcome *from, uint16_t limit, struct ab_noise *noise);

struct ab_throughput_estimate {
    uint32_t n_processes, hooks; /* n_processes 0 = nothing is known */
    double busy;                 /* ns; the estimated time of the phase */
    /* ns; median over the processes of the time of the whole phase, whether quiet or not */
    double whole;
    /* fraction of the slices' time that was quiet; NaN = there are no slices */
    double quiet_share;
    /* medians over the processes, except `switches`, which is their sum */
    struct ab_throughput_phase median;
};

/* Estimates the time of a phase. A slice is quiet if its canary read at most `limit`. */
void ab_throughput_estimate(const struct ab_throughput *t, uint32_t case_index, uint32_t round,
                            uint32_t phase, uint16_t limit, struct ab_throughput_estimate *out);

/* ---- results ---- */

/* Makes result records from the throughput runs of f->backend in f->round. Call it before the
 * functions for the other passes, which complete these records. A slice is quiet if its canary read
 * at most `quiet`. */
void ab_fold_throughput(const struct ab_fold *f, const struct ab_throughput *runs, uint16_t quiet);
/* Estimates every round again once all rounds are measured, because the estimate of a round uses
 * the runs of all. Ignores f->backend and f->round. */
void ab_fold_throughput_again(const struct ab_fold *f, const struct ab_throughput *runs,
                              uint16_t quiet);
void ab_fold_latency(const struct ab_fold *f, const struct ab_outcome *run);
void ab_fold_tail(const struct ab_fold *f, const struct ab_outcome *run);

/* Returns the index in `runs` of the null back end with the harness of this back end. */
static inline uint32_t ab_fold_null_case(const struct ab_session *s, uint32_t backend)
{
    return s->n_backends + ab_session_harness(s, backend);
}
/* Stores the times of the null back end with the harness of f->backend in session->nulls, from the
 * throughput and latency passes. `latency` is NULL if the latency pass did not run. */
void ab_fold_null(const struct ab_fold *f, const struct ab_throughput *runs, uint16_t quiet,
                  const struct ab_outcome *latency);

/* Drops every record of a back end in a round, except nulls; AB_FOLD_ANY = of all back ends or
 * rounds. Used for a back end that failed and for an interrupted round, because an incomplete
 * measurement is not a result. */
void ab_fold_drop(struct ab_session *session, uint32_t backend, uint32_t round);

/* ---- counted instructions and system calls, added to the results of the throughput pass ---- */

/* Number of instructions that callgrind or the processor counted in each phase of a run;
 * AB_NOT_COUNTED = none. */
struct ab_phase_counts {
    uint64_t n[AB_PHASES_MAX];
};

/* Stores the instructions of the null back end in the records of session->nulls that have the
 * harness and round of *f, if these records exist. */
void ab_fold_null_instructions(const struct ab_fold *f, const struct ab_tape_map *sample,
                               const struct ab_phase_counts *null);
/* Stores the instructions of a back end, minus those of the null back end. Returns false if a
 * measured phase has no number. */
bool ab_fold_instructions(const struct ab_fold *f, const struct ab_tape_map *sample,
                          const struct ab_outcome *run, const struct ab_phase_counts *counts,
                          const struct ab_phase_counts *null);
void ab_fold_calls(const struct ab_fold *f, const struct ab_call_counts *calls);

/* ---- the latency pass by size of the request, and over time ---- */

/* Maximum number of windows of a phase. A phase has fewer if its windows would have too few samples
 * for a p99. */
enum { AB_WINDOWS_MAX = 64 };

/* Fills session->size_classes and session->windows. */
void ab_fold_depth(const struct ab_fold *f, const struct ab_outcome *run);

/* Returns the number of windows of the phase, which is the same for every back end and round. */
uint32_t ab_fold_window_count(const struct ab_phase *phase);

/* ---- the latency pass of a mapped row (a back end with a placement), divided by heap ---- */

/* Fills session->heap_parts. Does nothing if placement is NULL, because the row is not mapped. For
 * each heap and kind it counts all calls, timed or not. For all kinds together it uses the fair
 * samples, as the row's own result does. */
void ab_fold_heaps(const struct ab_fold *f, const struct ab_placement *placement,
                   const struct ab_outcome *run);

/* ---- the memory pass of a mapped row, divided by heap ---- */

/* Fills the heaps of the records that ab_fold_memory made of this run. Does nothing if placement is
 * NULL. A number that is not known for the whole row is not known for its heaps. */
void ab_fold_heap_memory(const struct ab_fold *f, const struct ab_placement *placement,
                         const struct ab_outcome *run);

/* ---- time of the allocator's calls in each iteration, from the tail pass ---- */

/* Stores the time of one call of the null back end, timing included, in session->nulls of this
 * round. That record must exist. */
void ab_fold_iteration_cost(const struct ab_fold *f, const struct ab_outcome *null);
/* Adds a record for each phase with iterations to session->iterations. The time of the calls under
 * the null back end is subtracted. */
void ab_fold_iterations(const struct ab_fold *f, const struct ab_outcome *run);
/* Returns the number of the iteration that the op at `position` belongs to, counted from 1 in its
 * lane; 0 = none. */
uint32_t ab_fold_iteration_at(const struct ab_fold *f, uint32_t position);

/* ---- the memory pass ----
 *
 * No report of a worker can crash these functions. Contradictory numbers become NaN, with a
 * reason. */

/* Adds a record to session->memory for each moment (enum ab_memory_at) of each measured phase,
 * and adds one timeline. */
void ab_fold_memory(const struct ab_fold *f, const struct ab_outcome *run);

/* Adds "WHAT: why" to m->reason if all of it fits. */
void ab_fold_memory_reason(struct ab_memory *m, const char *what, const char *why);

/* Records the positions of this run's peaks, as checkpoints for the next run. */
void ab_fold_memory_marks(const struct ab_tape_map *tape, const struct ab_outcome *run,
                          struct ab_memory_marks *out);

/* ---- distributions of the memory pass ---- */

/* Minimum number of pages for a ratio; with fewer, chance would determine the ratio. */
enum { AB_FOLD_LEAST_PAGES = 16 };

/* Adds AB_DIST_COUNT records for each measured phase to session->dists. `trouble` is the reason why
 * no footprint of this run is credible; NULL = footprints are credible. */
void ab_fold_dists(const struct ab_fold *f, const struct ab_outcome *run, const char *trouble);

/* Returns the reason why the content of this run's pages is not known; NULL = it is known. */
const char *ab_fold_doubt(const struct ab_memory_report *r);
/* True if the usable sizes of blocks are known in this phase. If not, internal bytes count as
 * external. */
bool ab_fold_has_usable(const struct ab_memory_report *r, uint32_t phase);
/* Adds the bytes of each owner of blocks to session->pins. Does nothing if the run did not record
 * owners. */
void ab_fold_pins(const struct ab_fold *f, const struct ab_owners *owners,
                  const struct ab_outcome *run);

#endif
