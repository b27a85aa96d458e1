/* SPDX-License-Identifier: MIT
 *
 * A heap that is full, as against one that is broken.
 */
#ifndef AB_WORKER_CHECKS_CAPACITY_H
#define AB_WORKER_CHECKS_CAPACITY_H

#include "worker/checks/trial.h"

/* A NULL where there should be room ends the trial; and what its end proves before
 * that, so that being full is distinguished from being broken. report->n_live: blocks that the
 * checker does not know. */
_Noreturn void ab_trial_null(struct ab_trial *t, const char *text);
void ab_trial_prove_full(struct ab_trial *t);
/* Of n blocks that were freed after a NULL so many could be had again: too few fail. */
void ab_trial_expect_again(struct ab_trial *t, uint32_t n, uint32_t again);

#endif
