/* SPDX-License-Identifier: MIT
 *
 * Makes the tape of a workload and has it measured.
 */
#ifndef AB_APP_RUN_WORKLOAD_H
#define AB_APP_RUN_WORKLOAD_H

#include "app/measure.h"

/* `o` has one argument at most: none where --resume says which workload. `take` as in struct
 * ab_measurement. */
enum ab_status ab_run_workload(const struct ab_options *o, ab_take_session *take, void *user,
                               int *exit_code, struct ab_err *err);

#endif
