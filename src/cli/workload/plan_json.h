/* SPDX-License-Identifier: MIT
 *
 * Writes what `check` found as a JSON document: allocbench-check/1.
 */
#ifndef AB_CLI_WORKLOAD_PLAN_JSON_H
#define AB_CLI_WORKLOAD_PLAN_JSON_H

#include "cli/workload/lint.h"
#include "runner/estimate.h"

#include <stdbool.h>
#include <stdio.h>

struct ab_check_plan { /* borrows everything */
    const struct ab_workload *workload;
    const struct ab_tape *tape;
    const struct ab_lints *lints;
    const struct ab_session_cost *cost;
    const struct ab_pass_plan *passes;
    const char *const *backends; /* that are here and would run */
    size_t n_backends;
    size_t n_gates, n_claims;
};

/* False: out of memory. */
bool ab_check_plan_write(FILE *to, const struct ab_check_plan *plan);

#endif
