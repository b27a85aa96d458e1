/* SPDX-License-Identifier: MIT
 *
 * Notes of programs that are started, for those that take no recorder in. Hidden from the recorded
 * program.
 */
#ifndef AB_RECORD_PRELOAD_PRELOAD_STARTS_H
#define AB_RECORD_PRELOAD_PRELOAD_STARTS_H

#include "record/preload/preload_files.h"

/* Are starts noted? Only where children are recorded. */
extern bool ab_exec_is_noted AB_HIDDEN;
/* The process is about to become `path`, or cannot be recorded: `why`. NULL: there is no room. */
struct ab_spool_start *ab_exec_note(uint32_t pid, const char *path,
                                    enum ab_spool_stop why) AB_HIDDEN;
/* This program has begun, and is being recorded. */
void ab_exec_forget_start(void) AB_HIDDEN;
/* This process is to be recorded, and cannot be. */
void ab_exec_note_failure(const char *program, enum ab_spool_stop why) AB_HIDDEN;

#endif
