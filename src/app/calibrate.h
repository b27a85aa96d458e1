/* SPDX-License-Identifier: MIT
 *
 * Measures glibc's malloc against itself, and stores how far apart the two seem to be: what no
 * comparison on this machine can be finer than.
 */
#ifndef AB_APP_CALIBRATE_H
#define AB_APP_CALIBRATE_H

#include "app/options.h"
#include "report/calibration.h"

/* On the workload o->args[0], without one on one of its own. *out is set where *exit_code is 0. */
enum ab_status ab_calibrate(const struct ab_options *o, struct ab_calibration *out, int *exit_code,
                            struct ab_err *err);
/* In the folder for results. */
enum ab_status ab_calibration_store(const struct ab_options *o, const struct ab_calibration *c,
                                    struct ab_err *err);

#endif
