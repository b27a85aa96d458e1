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

#define AB_FOLD_ANY UINT32_MAX /* every back end, case or round */

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
 * count. Else it is wall time, which includes sleeping on a lock of the allocator. */
double ab_fold_busy_ns(const struct ab_fold *f, const struct ab_phase_report *report);
/* Returns the same time, but NaN if subtracted waits and writes took most of the lanes' time. */
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
 * The profile of a back end has, for each slice, the median of its processes while the machine was
 * quiet. The factor of a process is the weighted mean of the logarithms of its ratios to the
 * profile, over its quiet slices, with a tenth trimmed at either end. The time of a phase in a
 * round is the sum of the profile times the mean factor of the round's processes.
 *
 * So a slice that another tenant slowed down is left out, none counts twice, and one page fault
 * more makes no difference. With several lanes, or if the machine is never quiet, the time is the
 * median of the processes. */

struct ab_throughput_run {
    uint32_t case_index, round;
    uint32_t hooks; /* as the worker reported */
    uint32_t n_slices;
    float *ticks;                     /* n_slices; 0 = skipped by a reset */
    uint16_t *canary;                 /* n_slices; the higher of the readings before and after */
    uint16_t *phases;                 /* n_slices */
    struct ab_throughput_phase *sums; /* one for each phase of the tape */
};

struct ab_throughput_phase { /* whole phase; times in ns; NaN = not known */
    double busy, wall, cpu, background, wait_percent, subtracted_percent, ready_threads,
        renewal_percent;
    double thread_ends, thread_end_ns; /* number of thread ends, and time of each; NaN = none
                                          ended */
    double trims, trims_without_effect;
    uint64_t faults_minor, switches;
};

struct ab_throughput {
    struct ab_throughput_run *runs;
    size_t n_runs, cap_runs;
    uint32_t n_phases;
};

void ab_throughput_fini(struct ab_throughput *t);

/* Keeps the measurements of a run. The caller numbers the cases: one for each back end and each
 * null. */
void ab_throughput_add(struct ab_throughput *t, const struct ab_fold *f, uint32_t case_index,
                       const struct ab_outcome *run);
/* Forgets the runs of a case or a round; AB_FOLD_ANY = of all. */
void ab_throughput_drop(struct ab_throughput *t, uint32_t case_index, uint32_t round);

/* Adds the disturbances of the run to `noise`. */
void ab_throughput_add_noise(const struct ab_fold *f, const struct ab_throughput_run *run,
                             const struct ab_outcome *from, uint16_t limit, struct ab_noise *noise);

struct ab_throughput_estimate {
    uint32_t n_processes, hooks;       /* 0 processes = nothing is known */
    double busy;                       /* ns of the phase: the estimate */
    double whole;                      /* median of whole phases, whether quiet or not */
    double quiet_share;                /* fraction of the slices' time; NaN = no slices */
    struct ab_throughput_phase median; /* over the processes; switches is their sum */
};

/* Estimates the time of a phase. A slice is quiet if its canary read at most `limit`. */
void ab_throughput_estimate(const struct ab_throughput *t, uint32_t case_index, uint32_t round,
                            uint32_t phase, uint16_t limit, struct ab_throughput_estimate *out);

/* ---- results ---- */

/* Makes result records from the throughput runs of f->backend in f->round. It must come before the
 * other passes, which fill these records. `quiet` is the limit of the canary. */
void ab_fold_throughput(const struct ab_fold *f, const struct ab_throughput *runs, uint16_t quiet);
/* Estimates every round again when all rounds are there, because each uses what the others know.
 * Ignores f->backend and f->round. */
void ab_fold_throughput_again(const struct ab_fold *f, const struct ab_throughput *runs,
                              uint16_t quiet);
void ab_fold_latency(const struct ab_fold *f, const struct ab_outcome *run);
void ab_fold_tail(const struct ab_fold *f, const struct ab_outcome *run);

/* Returns the index in `runs` of the null back end with the harness of this back end. */
static inline uint32_t ab_fold_null_case(const struct ab_session *s, uint32_t backend)
{
    return s->n_backends + ab_session_harness(s, backend);
}
/* Stores both passes of the null back end with the harness of f->backend in session->nulls. latency
 * NULL = the latency pass did not run. */
void ab_fold_null(const struct ab_fold *f, const struct ab_throughput *runs, uint16_t quiet,
                  const struct ab_outcome *latency);

/* Drops every record of a back end and a round, except nulls; AB_FOLD_ANY = of all. Measurements
 * before a failure and half a round are not results. */
void ab_fold_drop(struct ab_session *session, uint32_t backend, uint32_t round);

/* ---- counted instructions and system calls, added to the results of the throughput pass ---- */

/* Instructions of a run of a sample, one number for each phase; AB_NOT_COUNTED = none. */
struct ab_phase_counts {
    uint64_t n[AB_PHASES_MAX];
};

/* Stores the instructions of the null back end in session->nulls of this boundary and round, if
 * these records exist. */
void ab_fold_null_instructions(const struct ab_fold *f, const struct ab_tape_map *sample,
                               const struct ab_phase_counts *null);
/* Stores the instructions of a back end, minus those of the null back end. Returns false if a
 * measured phase has no number. */
bool ab_fold_instructions(const struct ab_fold *f, const struct ab_tape_map *sample,
                          const struct ab_outcome *run, const struct ab_phase_counts *counts,
                          const struct ab_phase_counts *null);
void ab_fold_calls(const struct ab_fold *f, const struct ab_call_counts *calls);

/* ---- the latency pass by size of the request, and over time ---- */

/* Most windows of a phase. There are fewer if p99 of a window would be n/a. */
enum { AB_WINDOWS_MAX = 64 };

/* Fills session->size_classes and session->windows. */
void ab_fold_depth(const struct ab_fold *f, const struct ab_outcome *run);

/* Returns the number of windows of the phase, which is the same for every back end and round. */
uint32_t ab_fold_window_count(const struct ab_phase *phase);

/* ---- the latency pass of a mapped row by heap ---- */

/* Fills session->heap_parts, unless placement is NULL because the row is not mapped. For each heap
 * and kind it counts all calls, timed or not. For all kinds together it uses the fair samples, as
 * the row's own result does. */
void ab_fold_heaps(const struct ab_fold *f, const struct ab_placement *placement,
                   const struct ab_outcome *run);

/* ---- the memory pass of a mapped row by heap ---- */

/* Fills the heaps of the records that ab_fold_memory made of this run, unless placement is NULL.
 * Numbers that are not known of the whole row are not known of its heaps. */
void ab_fold_heap_memory(const struct ab_fold *f, const struct ab_placement *placement,
                         const struct ab_outcome *run);

/* ---- time of the allocator's calls in each iteration, from the tail pass ---- */

/* Stores the time of one call of the null back end, timing included, in session->nulls of this
 * round, which must exist. */
void ab_fold_iteration_cost(const struct ab_fold *f, const struct ab_outcome *null);
/* Adds a record for each phase with iterations to session->iterations. The time of the calls under
 * the null back end is subtracted. */
void ab_fold_iterations(const struct ab_fold *f, const struct ab_outcome *run);
/* Returns the number of the iteration of its lane that the op at `position` is in, from 1; 0 =
 * none. */
uint32_t ab_fold_iteration_at(const struct ab_fold *f, uint32_t position);

/* ---- the memory pass ----
 *
 * No report of a worker can crash these functions. Contradictory numbers become n/a with a
 * reason. */

/* Adds a record for each moment of each measured phase to session->memory, and one timeline. */
void ab_fold_memory(const struct ab_fold *f, const struct ab_outcome *run);

/* Adds "WHAT: why" to the reason, whole or not at all. */
void ab_fold_memory_reason(struct ab_memory *m, const char *what, const char *why);

/* Records the positions of this run's peaks, as checkpoints for the next run. */
void ab_fold_memory_marks(const struct ab_tape_map *tape, const struct ab_outcome *run,
                          struct ab_memory_marks *out);

/* ---- distributions of the memory pass ---- */

/* Fewest pages for a ratio; with fewer it would be a matter of chance. */
enum { AB_FOLD_LEAST_PAGES = 16 };

/* Adds AB_DIST_COUNT records for each measured phase to session->dists. `trouble` is the reason why
 * no footprint of this run is credible; NULL = it is. */
void ab_fold_dists(const struct ab_fold *f, const struct ab_outcome *run, const char *trouble);

/* Returns the reason why the content of this run's pages is not known; NULL = it is known. */
const char *ab_fold_doubt(const struct ab_memory_report *r);
/* True if the usable bytes are known in this phase. If not, internal bytes count as external. */
bool ab_fold_has_usable(const struct ab_memory_report *r, uint32_t phase);
/* Adds the bytes by owner of the blocks to session->pins, unless the run has none. */
void ab_fold_pins(const struct ab_fold *f, const struct ab_owners *owners,
                  const struct ab_outcome *run);

#endif
