/* SPDX-License-Identifier: MIT
 *
 * Checks that the settings of a row's environment took effect, before anything is measured.
 */
#ifndef AB_RUNNER_SETTING_PROOF_H
#define AB_RUNNER_SETTING_PROOF_H

#include "runner/run.h"

/* Environment variable that a user sets to different values in two rows that are otherwise equal on
 * purpose. No library reads it. */
#define AB_TWIN_VARIABLE "ALLOCBENCH_TWIN"

/* Fills b->proofs, in runs that are not measured. If a setting was ignored, sets the status
 * wrong_library with a reason. If the worker fails before it can tell, the setting counts as not
 * proven, and the pre-flight reports the failure. b->reason must be "". */
void ab_setting_prove(const char *worker_path, const struct ab_case *c, struct ab_backend_info *b);

#endif
