/* SPDX-License-Identifier: MIT
 *
 * Raw samples into results: ticks into histograms, reports into records.
 */
#ifndef AB_RUNNER_FOLD_FOLD_H
#define AB_RUNNER_FOLD_FOLD_H

#include "runner/fold/fold_common.h"

/* The throughput pass comes first: it makes the entries that the others fill. */
enum ab_status ab_fold_throughput(const struct ab_fold *f, const struct ab_outcome *run,
                                  struct ab_err *err);
void ab_fold_latency(const struct ab_fold *f, const struct ab_outcome *run);
void ab_fold_tail(const struct ab_fold *f, const struct ab_outcome *run);

/* Both passes of the null back end at one boundary, to session->nulls. */
enum ab_status ab_fold_null(const struct ab_fold *f, const char *boundary,
                            const struct ab_outcome *throughput, const struct ab_outcome *latency,
                            struct ab_err *err);

/* Drops what a back end measured before it failed. */
void ab_fold_forget(struct ab_session *session, uint32_t backend);

#endif
