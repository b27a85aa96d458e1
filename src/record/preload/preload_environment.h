/* SPDX-License-Identifier: MIT
 *
 * The environment that the program was started with. Hidden from the recorded program.
 */
#ifndef AB_RECORD_PRELOAD_PRELOAD_ENVIRONMENT_H
#define AB_RECORD_PRELOAD_PRELOAD_ENVIRONMENT_H

#include "record/preload/preload_files.h"

/* The value of a variable, or NULL: also where the program has more rights than its user. */
const char *ab_environment(const char *name) AB_HIDDEN;

#endif
