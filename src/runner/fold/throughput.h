/* SPDX-License-Identifier: MIT
 *
 * All throughput runs of a session, so that the time of a phase can be estimated from several
 * processes. With one lane a run is made of slices (wire/slice.h). The profile of a back end is, for
 * each slice, the median of what its processes took for it while the machine was quiet. A process is
 * as much slower or faster than the profile as the mean, by weight, of the logarithms of its ratios to
 * it in the slices that were quiet there, a tenth trimmed at either end; the time of a phase in a
 * round is the sum of the profile times the mean of the round's processes. So a slice that a
 * neighbour slowed down is left out, none counts twice, and one page fault more is no difference.
 * With several lanes, and where the machine is never quiet, it is the median of the processes.
 */
#ifndef AB_RUNNER_FOLD_THROUGHPUT_H
#define AB_RUNNER_FOLD_THROUGHPUT_H

#include "runner/fold/fold_common.h"

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
    double busy, wall, cpu, background, wait_percent, ready_threads;
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

#endif
