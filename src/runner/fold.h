/* SPDX-License-Identifier: MIT
 *
 * Raw samples into results: ticks into histograms, reports into records.
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

/* Ticks as nanoseconds, rounded. */
static inline uint64_t ab_fold_ns(const struct ab_fold *f, uint64_t ticks)
{
    return (uint64_t)((double)ticks * f->clock->ns_per_tick + 0.5);
}
/* The time that the lanes spent on their ops: not waiting for each other and, where they outnumber
 * the CPUs, not waiting for one of these either. There a lane's CPU time is what it had, else all
 * the time there was, in which it may also have been asleep over a lock of the allocator's. */
double ab_fold_busy_ns(const struct ab_fold *f, const struct ab_phase_report *report);
/* The same, but NaN where waits and writing that are subtracted took most of the lanes' time. */
double ab_fold_known_ns(const struct ab_fold *f, const struct ab_phase_report *report);
/* A size that a worker reports; NaN where it is AB_MEMORY_UNKNOWN or more than can be. */
static inline double ab_fold_bytes(uint64_t n)
{
    return n < UINT64_C(1) << 56 ? (double)n : NAN;
}
/* Does the back end have a function for this kind of op? */
static inline bool ab_fold_is_served(const struct ab_outcome *run, unsigned kind)
{
    return (run->page->report.hooks >> kind & 1) != 0;
}

/* All throughput runs of a session, so that the time of a phase can be estimated from several
 * processes. With one lane a run is made of slices (wire/run.h). The profile of a back end is, for
 * each slice, the median of what its processes took for it while the machine was quiet. A process is
 * as much slower or faster than the profile as the mean, by weight, of the logarithms of its ratios to
 * it in the slices that were quiet there, a tenth trimmed at either end; the time of a phase in a
 * round is the sum of the profile times the mean of the round's processes. So a slice that a
 * neighbour slowed down is left out, none counts twice, and one page fault more is no difference.
 * With several lanes, and where the machine is never quiet, it is the median of the processes. */

struct ab_throughput_run {
    uint32_t case_index, round;
    uint32_t hooks; /* as reported */
    uint32_t n_slices;
    float *ticks;                     /* n_slices; 0 = passed over by a reset */
    uint16_t *canary;                 /* n_slices: the higher of the readings before and after */
    uint16_t *phases;                 /* n_slices */
    struct ab_throughput_phase *sums; /* one a phase of the tape */
};

struct ab_throughput_phase { /* ns, whole phase; what is not known is NaN */
    double busy, wall, cpu, background, wait_percent, subtracted_percent, ready_threads,
        renewal_percent;
    double thread_ends, thread_end_ns; /* how many, and each; NaN = none ended */
    double trims, trims_without_effect;
    uint64_t faults_minor, switches;
};

struct ab_throughput {
    struct ab_throughput_run *runs;
    size_t n_runs, cap_runs;
    uint32_t n_phases;
};

void ab_throughput_fini(struct ab_throughput *t);

/* Keeps what a run measured. case_index is the caller's: one number a back end, and a null. */
void ab_throughput_add(struct ab_throughput *t, const struct ab_fold *f, uint32_t case_index,
                       const struct ab_outcome *run);
/* Forgets a case, or a round (AB_FOLD_ANY = every). */
void ab_throughput_drop(struct ab_throughput *t, uint32_t case_index, uint32_t round);

/* Adds what disturbed the run. */
void ab_throughput_add_noise(const struct ab_fold *f, const struct ab_throughput_run *run,
                             const struct ab_outcome *from, uint16_t limit, struct ab_noise *noise);

struct ab_throughput_estimate {
    uint32_t n_processes, hooks;       /* 0 processes = nothing is known */
    double busy;                       /* ns of the phase: the estimate */
    double whole;                      /* the same without regard to the neighbours: median */
    double quiet_share;                /* of the slices' time; NaN = not in slices */
    struct ab_throughput_phase median; /* of the processes; switches: sum */
};

/* A slice is quiet when its canary read at most this. */
void ab_throughput_estimate(const struct ab_throughput *t, uint32_t case_index, uint32_t round,
                            uint32_t phase, uint16_t limit, struct ab_throughput_estimate *out);

/* Tracks in a session how much other programs disturb the machine: how long the canary takes when
 * nothing disturbs it, and which CPU is the quietest at the moment. One lane only: of several, each
 * would stop the others. */

struct ab_quiet {
    uint16_t level;     /* ticks; 2nd percentile of all readings; 0 = not known */
    int cpu;            /* of the last run; -1 = none */
    uint64_t n;         /* readings */
    uint32_t *readings; /* how many of each value; owned */
};

/* Reads the canary on the CPUs that this process may use. */
void ab_quiet_init(struct ab_quiet *q);
void ab_quiet_fini(struct ab_quiet *q);
/* Takes note of a reading; the level follows in ab_quiet_settle. */
void ab_quiet_add(struct ab_quiet *q, uint16_t reading);
void ab_quiet_settle(struct ab_quiet *q);
/* The CPU whose readings are the lowest now, among a few of those that this process may use: that
 * of the last run where it is as good as any; -1 = it cannot be known. */
int ab_quiet_cpu(struct ab_quiet *q);

/* The throughput pass comes first: it makes the entries that the others fill. From the runs of
 * f->backend in f->round that `runs` holds; quiet: limit of the canary. */
void ab_fold_throughput(const struct ab_fold *f, const struct ab_throughput *runs, uint16_t quiet);
/* Once all rounds are there: each is estimated again with what the others know. f->backend and
 * f->round are of no meaning. */
void ab_fold_throughput_again(const struct ab_fold *f, const struct ab_throughput *runs,
                              uint16_t quiet);
void ab_fold_latency(const struct ab_fold *f, const struct ab_outcome *run);
void ab_fold_tail(const struct ab_fold *f, const struct ab_outcome *run);

/* Returns the index in `runs` of the null back end with the harness of this back end. */
static inline uint32_t ab_fold_null_case(const struct ab_session *s, uint32_t backend)
{
    return s->n_backends + ab_session_harness(s, backend);
}
/* Both passes of the null back end with the harness of f->backend, to session->nulls; latency NULL
 * = it did not run. */
void ab_fold_null(const struct ab_fold *f, const struct ab_throughput *runs, uint16_t quiet,
                  const struct ab_outcome *latency);

/* Drops every record of a back end and a round, apart from the nulls; AB_FOLD_ANY = of all. What a
 * back end measured before it failed is no result, and neither is half a round. */
void ab_fold_drop(struct ab_session *session, uint32_t backend, uint32_t round);

/* Counted instructions and system calls into the results that the throughput pass has made. */

/* Instructions of a run of `sample`, one number a phase; AB_NOT_COUNTED = none. */
struct ab_phase_counts {
    uint64_t n[AB_PHASES_MAX];
};

/* Stores those of the null back end in session->nulls of this boundary and round, where they exist. */
void ab_fold_null_instructions(const struct ab_fold *f, const struct ab_tape_map *sample,
                               const struct ab_phase_counts *null);
/* Less those of the null back end. False: of some measured phase there is no number. */
bool ab_fold_instructions(const struct ab_fold *f, const struct ab_tape_map *sample,
                          const struct ab_outcome *run, const struct ab_phase_counts *counts,
                          const struct ab_phase_counts *null);
void ab_fold_calls(const struct ab_fold *f, const struct ab_call_counts *calls);

/* The latency pass in depth: by size of the request, and over time. */

/* At most so many windows a phase; fewer where p99 of a window would be n/a. */
enum { AB_WINDOWS_MAX = 64 };

/* To session->size_classes and session->windows. */
void ab_fold_depth(const struct ab_fold *f, const struct ab_outcome *run);

/* Windows of the phase: the same for every back end and round. */
uint32_t ab_fold_window_count(const struct ab_phase *phase);

/* The latency pass of a mapped row, heap by heap. */

/* To session->heap_parts: nothing where placement is NULL, which is that of a row that is not mapped. Of each heap and kind what was called, timed
 * or not, and of all kinds together the samples that are in the row's own. */
void ab_fold_heaps(const struct ab_fold *f, const struct ab_placement *placement,
                   const struct ab_outcome *run);

/* Checks what a memory pass counted for each heap of a mapped row. */

/* Into the records that ab_fold_memory made of this run; nothing where placement is NULL. What is not
 * known of the whole is not known of its heaps. */
void ab_fold_heap_memory(const struct ab_fold *f, const struct ab_placement *placement,
                         const struct ab_outcome *run);

/* Sums the time of the allocator's calls in each iteration, from the tail pass. */

/* Stores what one call of the null back end takes, timing included, in session->nulls of this
 * round, which must exist. */
void ab_fold_iteration_cost(const struct ab_fold *f, const struct ab_outcome *null);
/* A record for each phase with iterations to session->iterations; what the calls took under null is
 * subtracted. */
void ab_fold_iterations(const struct ab_fold *f, const struct ab_outcome *run);
/* The iteration that the op at a position of the tape is in, by its lane, from 1 on; 0 = none. */
uint32_t ab_fold_iteration_at(const struct ab_fold *f, uint32_t position);
/* Checks what a memory pass counted and makes records of it. Nothing that a worker says can crash
 * this, and nothing that contradicts itself becomes a number: it becomes n/a with the reason. */

/* A record for each place of each measured phase to session->memory, one timeline. */
void ab_fold_memory(const struct ab_fold *f, const struct ab_outcome *run);

/* Adds "WHAT: why", whole or not at all. */
void ab_fold_memory_reason(struct ab_memory *m, const char *what, const char *why);

/* Notes where this run had its peaks, for the checkpoints of the next. */
void ab_fold_memory_marks(const struct ab_tape_map *tape, const struct ab_outcome *run,
                          struct ab_memory_marks *out);

/* The distributions of the memory pass. */

/* Fewer pages than this make no ratio: it would be about chance. */
enum { AB_FOLD_LEAST_PAGES = 16 };

/* AB_DIST_COUNT records for each measured phase to session->dists. `trouble`: why no footprint of
 * this run can be believed; NULL = it can. */
void ab_fold_dists(const struct ab_fold *f, const struct ab_outcome *run, const char *trouble);

/* Why what the pages of this run hold is not known; NULL = it is. */
const char *ab_fold_doubt(const struct ab_memory_report *r);
/* Are usable bytes known in this phase? Where not, internal ones count as external. */
bool ab_fold_has_usable(const struct ab_memory_report *r, uint32_t phase);
/* To session->pins, by the owners of the blocks; nothing where the run has none. */
void ab_fold_pins(const struct ab_fold *f, const struct ab_owners *owners,
                  const struct ab_outcome *run);

#endif
