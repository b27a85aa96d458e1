/* SPDX-License-Identifier: MIT
 *
 * The calls that start a program: each is noted.
 */
#ifndef AB_RECORD_PRELOAD_PRELOAD_EXEC_H
#define AB_RECORD_PRELOAD_PRELOAD_EXEC_H

#include "record/preload/preload_files.h"

/* Before the first of them is called. */
void ab_exec_find_real(void) AB_HIDDEN;

#endif
