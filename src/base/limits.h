/* SPDX-License-Identifier: MIT
 *
 * Limits that several rooms share.
 */
#ifndef AB_BASE_LIMITS_H
#define AB_BASE_LIMITS_H

#define AB_PARAMS_MAX 16 /* settings of one back end */
/* combinations of param values; also rows (combinations × back ends) */
#define AB_COMBINATIONS_MAX 1000
#define AB_VALUES_BYTES 128         /* text of one combination: "n=1000 m=4" */
#define AB_CALL_OF_OURS 0x41423155u /* sixth argument that marks the harness's own system calls */
#define AB_WORST_MAX 16             /* slowest ops kept for each phase and kind */

/* Time budget of an iteration for the allocator, in workloads, replays and advice. */
#define AB_ITERATION_BUDGET_MOST_NS 60000000000
#define AB_ITERATION_BUDGET_RANGE "must be from 1ns to 60s"

#endif
