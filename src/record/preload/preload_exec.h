/* SPDX-License-Identifier: MIT
 *
 * Notes of programs that are started, for those that take no recorder in. Hidden from the recorded
 * program, but for the calls that start one.
 */
#ifndef AB_RECORD_PRELOAD_PRELOAD_EXEC_H
#define AB_RECORD_PRELOAD_PRELOAD_EXEC_H

#include "record/preload/preload_files.h"

/* Before the first of them is called. */
void ab_exec_find_real(void) AB_HIDDEN;
/* Are starts noted? Only where children are recorded. */
extern bool ab_exec_is_noted AB_HIDDEN;
/* This program has begun, and is being recorded. */
void ab_exec_forget_start(void) AB_HIDDEN;
/* This process is to be recorded, and cannot be. */
void ab_exec_note_failure(const char *program, enum ab_spool_stop why) AB_HIDDEN;

#endif
