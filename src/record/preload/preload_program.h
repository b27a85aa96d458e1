/* SPDX-License-Identifier: MIT
 *
 * What the program that is recorded is called, and the file that stands for it. Hidden from the
 * recorded program.
 */
#ifndef AB_RECORD_PRELOAD_PRELOAD_PROGRAM_H
#define AB_RECORD_PRELOAD_PRELOAD_PROGRAM_H

#include "record/preload/preload_files.h"

/* At the start: later the program may have no way to know it. */
void ab_program_find(void) AB_HIDDEN;
const char *ab_program_name(void) AB_HIDDEN;
void ab_program_note(struct ab_spool_image *image) AB_HIDDEN;
/* The image of this program: PID.K, the first K that is free (exec keeps the pid). */
struct ab_spool_image *ab_program_make_image(uint32_t *generation,
                                             enum ab_spool_stop *why) AB_HIDDEN;
/* "17" or "17+"; 0 = neither. */
uint32_t ab_program_read_command(const char *text, bool *is_plus) AB_HIDDEN;

#endif
