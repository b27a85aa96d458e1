/* SPDX-License-Identifier: MIT
 *
 * Makes the tape of a workload and measures it.
 */
#ifndef AB_APP_RUN_WORKLOAD_H
#define AB_APP_RUN_WORKLOAD_H

#include "app/measure.h"

/* Measures the workload that is the argument, or that --resume names. With asked->take, the
 * workload must have a single combination of values. */
enum ab_status ab_run_workload(const struct ab_measure_request *asked, int *exit_code,
                               struct ab_err *err);

#endif
