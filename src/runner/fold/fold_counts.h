/* SPDX-License-Identifier: MIT
 *
 * Counted instructions and system calls into the results that the throughput pass has made.
 */
#ifndef AB_RUNNER_FOLD_FOLD_COUNTS_H
#define AB_RUNNER_FOLD_FOLD_COUNTS_H

#include "runner/fold/fold_common.h"

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

#endif
