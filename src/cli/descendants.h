/* SPDX-License-Identifier: MIT
 *
 * The processes that one has started, and those that they have started: what /proc says of them.
 */
#ifndef AB_CLI_DESCENDANTS_H
#define AB_CLI_DESCENDANTS_H

#include <stdbool.h>
#include <sys/types.h>

/* Has `pid` mapped this file: of this name, in whatever folder, and of this inode? */
bool ab_process_maps(pid_t pid, const char *name, ino_t inode);

/* Calls `visit` for each descendant of `pid`, a process ahead of its children, until it returns true.
 * Returns whether it did: false also where the system does not list children. */
bool ab_descendants_each(pid_t pid, bool (*visit)(void *user, pid_t pid), void *user);

#endif
