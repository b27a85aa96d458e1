/* SPDX-License-Identifier: MIT
 *
 * Limits that several rooms share.
 */
#ifndef AB_BASE_LIMITS_H
#define AB_BASE_LIMITS_H

#define AB_PARAMS_MAX 16 /* maximum number of settings of one back end */
/* maximum number of combinations of param values, and of rows (combinations × back ends) */
#define AB_COMBINATIONS_MAX 1000
#define AB_VALUES_BYTES 128 /* room for the text of one combination, such as "n=1000 m=4" */
/* sixth argument of system calls: marks those of the harness itself */
#define AB_CALL_OF_OURS 0x41423155u
/* number of slowest ops that are kept for each phase and kind of op */
#define AB_WORST_MAX 16

/* Maximum of the time budget that an allocator gets for one iteration, in workloads, replays and
 * advice; and the message about a wrong budget. */
#define AB_ITERATION_BUDGET_MOST_NS 60000000000
#define AB_ITERATION_BUDGET_RANGE "must be from 1ns to 60s"

#endif
