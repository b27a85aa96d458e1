/* SPDX-License-Identifier: MIT
 *
 * Measures glibc's malloc against itself and stores the difference. No comparison on this machine
 * can resolve less.
 */
#ifndef AB_APP_CALIBRATE_H
#define AB_APP_CALIBRATE_H

#include "app/request.h"
#include "document/calibration.h"

/* Calibrates with the workload asked->args[0], else with a built-in one. Sets *out only if
 * *exit_code is 0. */
enum ab_status ab_calibrate(const struct ab_measure_request *asked, struct ab_calibration *out,
                            int *exit_code, struct ab_err *err);
/* Stores the calibration in the folder for results. */
enum ab_status ab_calibration_store(const struct ab_store_wanted *store, const struct ab_talk *talk,
                                    const struct ab_calibration *c, struct ab_err *err);

#endif
