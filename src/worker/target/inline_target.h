/* SPDX-License-Identifier: MIT
 *
 * A compiled-in back end as a target of checks.
 */
#ifndef AB_WORKER_INLINE_TARGET_H
#define AB_WORKER_INLINE_TARGET_H

#include "worker/checks/target.h"
#include "worker/worker.h"

/* Of a lane with w->inlined, whose face has its object: calls go op by op through the loop that has
 * the back end compiled in, so that what is proven is what will be timed. `target`: its heap's. */
void ab_target_of_loop(const struct ab_lane *lane, struct ab_target *target);

#endif
