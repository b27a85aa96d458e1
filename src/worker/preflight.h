/* SPDX-License-Identifier: MIT
 *
 * What the worker proves instead of measuring: the tape through the checker, or one check of
 * `verify`. And the decorators, which put the checker or a fault under any pass.
 */
#ifndef AB_WORKER_PREFLIGHT_H
#define AB_WORKER_PREFLIGHT_H

#include "worker/checks/target.h"
#include "worker/worker.h"

void ab_target_of_malloc(const struct ab_malloc_face *face, struct ab_target *out);
void ab_target_of_heap(const struct ab_heap_face *face, struct ab_target *out);

/* Of a lane with w->inlined, whose face has its object: calls go op by op through the loop that has
 * the back end compiled in, so that what is proven is what will be timed. `target`: its heap's. */
void ab_target_of_loop(const struct ab_lane *lane, struct ab_target *target);

/* Runs the first request.verify_ops ops. Fails the run at the first thing that is wrong. */
void ab_pass_verify(struct ab_worker *w, const struct ab_target *target);
/* Behind it: frees what is live, then asks for each kind, alignment and size class of the whole
 * tape. What is wrong elsewhere becomes report.caveat. */
void ab_pass_probe(struct ab_worker *w, const struct ab_target *target);

/* Runs request.verify.check. */
void ab_pass_check(struct ab_worker *w, const struct ab_target *target);

/* The face of `target` behind request.decorator. Blocks resolve to memory of our own, where the
 * tape's touches go. Failures of the checker fail the run. */
void ab_worker_decorate(struct ab_worker *w, const struct ab_target *target,
                        struct ab_heap_face *out);

/* Of fault+: the call that failed, "alloc(48)"; NULL when none has. */
const char *ab_worker_fault(void);
/* Was it the last call for memory that this thread made? */
bool ab_worker_was_faulty(void);

#endif
