/* SPDX-License-Identifier: MIT
 *
 * Finds the descendants of a process through /proc.
 */
#ifndef AB_APP_RECORD_DESCENDANTS_H
#define AB_APP_RECORD_DESCENDANTS_H

#include <stdbool.h>
#include <sys/types.h>

/* True if `pid` has mapped a file with this base name and inode, in any folder. */
bool ab_process_maps(pid_t pid, const char *name, ino_t inode);

/* Calls `visit` for each descendant of `pid`, parents before children, until `visit` returns true.
 * Returns true if `visit` did. Returns false if it did not, or if the system does not list
 * children. */
bool ab_descendants_each(pid_t pid, bool (*visit)(void *user, pid_t pid), void *user);

#endif
