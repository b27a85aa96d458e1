/* SPDX-License-Identifier: MIT
 *
 * Sums the time of the allocator's calls in each iteration, from the tail pass.
 */
#ifndef AB_RUNNER_FOLD_FOLD_ITERATIONS_H
#define AB_RUNNER_FOLD_FOLD_ITERATIONS_H

#include "runner/fold/fold_common.h"

/* Stores what one call of the null back end takes, timing included, in session->nulls of this
 * round, which must exist. */
void ab_fold_iteration_cost(const struct ab_fold *f, const struct ab_outcome *null);
/* A record for each phase with iterations to session->iterations; what the calls took under null is
 * subtracted. */
void ab_fold_iterations(const struct ab_fold *f, const struct ab_outcome *run);
/* The iteration that the op at a position of the tape is in, by its lane, from 1 on; 0 = none. */
uint32_t ab_fold_iteration_at(const struct ab_fold *f, uint32_t position);
/* Frees the records of a back end and a round; AB_FOLD_ANY = of all. */
void ab_fold_drop_iterations(struct ab_session *s, uint32_t backend, uint32_t round);

#endif
