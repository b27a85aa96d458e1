/* SPDX-License-Identifier: MIT
 *
 * The settings of a row's environment, read back before anything is measured.
 */
#ifndef AB_RUNNER_SETTING_PROOF_H
#define AB_RUNNER_SETTING_PROOF_H

#include "runner/run.h"

/* A variable of this name tells apart two rows that are meant to be the same; no library reads it. */
#define AB_TWIN_VARIABLE "ALLOCBENCH_TWIN"

/* Fills b->proofs, in none of the runs that are measured; of what was ignored the status is
 * wrong_library, with the reason. What cannot be found out, because the process does not get that
 * far either, is not proven: the pre-flight says what became of it. b->reason is "" before. */
void ab_setting_prove(const char *worker_path, const struct ab_case *c, struct ab_backend_info *b);

#endif
