/* SPDX-License-Identifier: MIT
 *
 * A back end behind checked+ or fault+.
 */
#ifndef AB_WORKER_TARGET_DECORATE_H
#define AB_WORKER_TARGET_DECORATE_H

#include "worker/checks/target.h"
#include "worker/worker.h"

/* The face of `target` behind request.decorator. Blocks resolve to memory of our own, where the
 * tape's touches go. Failures of the checker fail the run. */
void ab_worker_decorate(struct ab_worker *w, const struct ab_target *target,
                        struct ab_heap_face *out);

/* Of fault+: the call that failed, "alloc(48)"; NULL when none has. */
const char *ab_worker_fault(void);

#endif
