/* SPDX-License-Identifier: MIT
 *
 * Bounds that several rooms share.
 */
#ifndef AB_BASE_LIMITS_H
#define AB_BASE_LIMITS_H

#define AB_PARAMS_MAX 16            /* settings of a back end */
#define AB_COMBINATIONS_MAX 1000    /* of values of params; rows of these and back ends */
#define AB_VALUES_BYTES 128         /* of one: "n=1000 m=4" */
#define AB_CALL_OF_OURS 0x41423155u /* sixth argument of a system call of the harness's own */
#define AB_WORST_MAX 16             /* slowest ops that are kept of a phase and kind */

/* What the allocator may take of an iteration: of workloads, replays and advice. */
#define AB_ITERATION_BUDGET_MOST_NS 60000000000
#define AB_ITERATION_BUDGET_RANGE "must be from 1ns to 60s"

#endif
