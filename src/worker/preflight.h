/* SPDX-License-Identifier: MIT
 *
 * Proofs that the worker runs instead of measuring: the tape through the checker, or one check of
 * `verify`. Also the decorators, which put the checker or a fault between any pass and the
 * allocator.
 */
#ifndef AB_WORKER_PREFLIGHT_H
#define AB_WORKER_PREFLIGHT_H

#include "worker/checks/target.h"
#include "worker/worker.h"

void ab_target_of_malloc(const struct ab_malloc_calls *calls, struct ab_target *out);
void ab_target_of_heap(const struct ab_heap_face *face, struct ab_target *out);

/* Runs the first request.verify_ops ops of the tape through the checker. Fails the run at the first
 * error. */
void ab_pass_verify(struct ab_worker *w, const struct ab_target *target);
/* Runs after ab_pass_verify: frees live blocks, then requests each kind, alignment and size class
 * of the whole tape. A defect that this work does not meet becomes report.caveat. */
void ab_pass_probe(struct ab_worker *w, const struct ab_target *target);

/* ---- one check of `verify` ---- */

/* Finds the block near an address, in a signal handler: the function for ab_fault_set_lookup.
 * `checker` is a struct ab_checker. */
bool ab_worker_locate(void *checker, uint64_t address, struct ab_near_block *out);

/* Runs request.verify.check. */
void ab_pass_check(struct ab_worker *w, const struct ab_target *target);

#endif
