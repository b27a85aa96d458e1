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

#endif
