/* SPDX-License-Identifier: MIT
 *
 * One step of a verb.
 */
#ifndef AB_WORKLOAD_GENERATE_WORKLOAD_STEP_H
#define AB_WORKLOAD_GENERATE_WORKLOAD_STEP_H

#include "workload/generate/generator.h"

/* One step of the lane's verb, counted in its `step`; or it sets its `wait`, until another
 * lane's step has cleared it. */
enum ab_status ab_step(struct ab_generator *g);
/* Frees what was allocated in the scope's set since it began, together, the youngest first. */
enum ab_status ab_step_end_scope(struct ab_generator *g, const struct ab_loop *scope);

#endif
