/* SPDX-License-Identifier: MIT
 *
 * Raw samples into results: ticks into histograms, reports into records.
 */
#ifndef AB_RUNNER_FOLD_FOLD_H
#define AB_RUNNER_FOLD_FOLD_H

#include "result/session.h"
#include "runner/fold/fold_common.h"
#include "runner/fold/throughput.h"

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

/* Drops what a back end measured before it failed. */
void ab_fold_forget(struct ab_session *session, uint32_t backend);

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

#endif
