/* SPDX-License-Identifier: MIT
 *
 * Can this command be recorded at all? Told from its file, before it runs.
 */
#ifndef AB_RECORD_TARGET_H
#define AB_RECORD_TARGET_H

#include "core/status.h"

#include <stddef.h>

/* What env(1), timeout(1) and others say when the failure is their own. */
enum { AB_RECORD_FAILED = 125, AB_RECORD_NOT_EXECUTABLE = 126, AB_RECORD_NOT_FOUND = 127 };

/* Finds the file that exec would run for `command`, by PATH unless it holds a '/', and refuses
 * those into which the recorder cannot be loaded. On failure *exit_code is one of the above. */
enum ab_status ab_target_find(const char *command, char *path, size_t cap, int *exit_code,
                              struct ab_err *err);

#endif
