/* SPDX-License-Identifier: MIT
 *
 * Measures glibc's malloc against itself and stores the difference. No comparison on this machine
 * can resolve less.
 */
#ifndef AB_APP_CALIBRATE_H
#define AB_APP_CALIBRATE_H

#include "app/request.h"
#include "document/calibration.h"

typedef void ab_show_calibration(void *user, const struct ab_calibration *c);
/* Calibrates with the workload asked->args[0], else with a built-in workload. If *exit_code is 0,
 * shows the calibration with asked->user, and stores it in the folder for results. */
enum ab_status ab_calibrate(const struct ab_measure_request *asked, ab_show_calibration *show,
                            int *exit_code, struct ab_err *err);

#endif
