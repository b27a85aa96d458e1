/* SPDX-License-Identifier: MIT
 *
 * Table of temporary files and folders that must be gone when a signal ends the process. A name is
 * registered before its file is made, so that no signal can leave the file behind.
 */
#ifndef AB_CORE_UNFINISHED_H
#define AB_CORE_UNFINISHED_H

#include "core/status.h"

#include <signal.h>
#include <stdbool.h>

/* Registers the file `name` (below 64 bytes) in `directory`, a descriptor that stays open until
 * ab_unfinished_forget(). Also sets handlers for those of SIGINT, SIGTERM, SIGHUP and SIGQUIT that
 * have their default action. The handlers remove all registered files before the process ends.
 * Returns false if the table is full. */
bool ab_unfinished_enter(int directory, const char *name);
void ab_unfinished_forget(int directory, const char *name);

/* Removes all registered files and folders. Safe in a signal handler. Does nothing in a forked
 * child. */
void ab_unfinished_remove(void);

/* ---- temporary folders ----
 *
 * Their names are "allocbench-USE-XXXXXXXX" in $TMPDIR. Each folder contains a lock file, which its
 * process holds as long as it lives. So a later start can tell a folder that SIGKILL has left from
 * a folder that is in use. */

/* Returns the folder in which temporary folders are made. */
const char *ab_temporary_place(void);

struct ab_temporary { /* a temporary folder; {0} = none */
    char path[1024];
    char name[64]; /* the last part of `path` */
    int parent;    /* descriptor of the folder that contains `path` */
    int lock;      /* descriptor of the lock file; -1 = the file system has no locks */
};

/* Creates a private folder. The folder is removed when a signal or a lack of memory ends this
 * process. */
enum ab_status ab_temporary_make(const char *use, struct ab_temporary *out, struct ab_err *err);

/* Removes the folder and its contents. Does nothing if *t is {0}. */
void ab_temporary_remove(struct ab_temporary *t);

/* Puts the lock file into a folder that the caller has made. The folder's name must begin with
 * "allocbench-". Returns the descriptor of the lock file, to be kept open while the folder is used;
 * -1 = the file system has no locks. */
int ab_temporary_own(const char *folder);

/* Removes the folders in $TMPDIR that dead processes of this user and host have left. Keeps a
 * folder that contains something called `kept` at any depth, and calls `visit` with the path of the
 * folder that `kept` is in. */
void ab_temporary_sweep(const char *kept, void (*visit)(const char *path, void *user), void *user);

/* Signal that asked this process to stop; 0 = none. runner/supervise.c sets it. */
extern volatile sig_atomic_t ab_stop_signal;

#endif
