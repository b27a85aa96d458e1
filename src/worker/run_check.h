/* SPDX-License-Identifier: MIT
 *
 * One check of `verify` in the worker.
 */
#ifndef AB_WORKER_RUN_CHECK_H
#define AB_WORKER_RUN_CHECK_H

#include "worker/checks/target.h"
#include "worker/worker.h"

/* Where an address lies, as a struct ab_checker knows it: for ab_fault_set_lookup. */
bool ab_worker_locate(void *checker, uint64_t address, struct ab_near_block *out);

/* Runs request.verify.check. */
void ab_pass_check(struct ab_worker *w, const struct ab_target *target);

#endif
