/* SPDX-License-Identifier: MIT
 *
 * What the worker proves instead of measuring: the tape through the checker, or one check of
 * `verify`. And the decorators, which put the checker or a fault under any pass.
 */
#ifndef AB_WORKER_PREFLIGHT_H
#define AB_WORKER_PREFLIGHT_H

#include "worker/checks/target.h"
#include "worker/worker.h"

void ab_target_of_malloc(const struct ab_malloc_calls *calls, struct ab_target *out);
void ab_target_of_heap(const struct ab_heap_face *face, struct ab_target *out);

/* Runs the first request.verify_ops ops. Fails the run at the first thing that is wrong. */
void ab_pass_verify(struct ab_worker *w, const struct ab_target *target);
/* Behind it: frees what is live, then asks for each kind, alignment and size class of the whole
 * tape. What is wrong elsewhere becomes report.caveat. */
void ab_pass_probe(struct ab_worker *w, const struct ab_target *target);

/* One check of `verify` in the worker. */

/* Where an address lies, as a struct ab_checker knows it: for ab_fault_set_lookup. */
bool ab_worker_locate(void *checker, uint64_t address, struct ab_near_block *out);

/* Runs request.verify.check. */
void ab_pass_check(struct ab_worker *w, const struct ab_target *target);

#endif
