/* SPDX-License-Identifier: MIT
 *
 * Which modules of a process call another malloc than the recorder's: those that were loaded with
 * RTLD_DEEPBIND or into a namespace of their own, and programs with a malloc of their own. Looked
 * for from outside, while the process waits, in what the dynamic linker has bound; the process
 * itself would need the linker's locks.
 */
#ifndef AB_RECORD_BINDINGS_H
#define AB_RECORD_BINDINGS_H

#include <stdint.h>
#include <sys/types.h>

#define AB_BYPASS_FILE "bypass" /* of a spool: bypass.PID.K */

/* Writes what was found into a new file of the folder, for bypass.h: nothing where the process may
 * not be looked into. */
void ab_bindings_look(pid_t pid, int folder, const char *name);

#endif
