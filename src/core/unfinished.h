/* SPDX-License-Identifier: MIT
 *
 * Names of temporary files and folders that must be gone when a signal ends the process. A name is
 * registered before the file is made, so that there is no moment at which the file could be left
 * over.
 */
#ifndef AB_CORE_UNFINISHED_H
#define AB_CORE_UNFINISHED_H

#include "core/status.h"

#include <signal.h>
#include <stdbool.h>

/* Registers the file `name` (below 64 bytes) in `directory`, a descriptor that stays open until
 * `forget`. With the first name, handlers are set for those of SIGINT, SIGTERM, SIGHUP and SIGQUIT
 * that have their default action. They remove all registered files before they end the process.
 * Returns false if the table is full. */
bool ab_unfinished_enter(int directory, const char *name);
void ab_unfinished_forget(int directory, const char *name);

/* Removes all registered files. Safe in a signal handler; does nothing in a forked child. */
void ab_unfinished_remove(void);

/* ---- temporary folders ----
 *
 * "allocbench-USE-XXXXXXXX" in $TMPDIR. Each contains a lock file, which its process holds as long
 * as it lives. So a later start can tell a folder that SIGKILL has left from one that is in use. */

/* Returns the folder in which temporary folders are made. */
const char *ab_temporary_place(void);

struct ab_temporary { /* {0}: no folder */
    char path[1024];
    char name[64]; /* the last part of `path` */
    int parent;    /* descriptor of its parent folder */
    int lock;      /* descriptor of the lock file; -1 = the file system has no locks */
};

/* Makes a private folder, which is removed when a signal or the lack of memory ends this
 * process. */
enum ab_status ab_temporary_make(const char *use, struct ab_temporary *out, struct ab_err *err);

/* Removes the folder and its contents. Does nothing if there is no folder. */
void ab_temporary_remove(struct ab_temporary *t);

/* Puts the lock file into a folder that the caller has made, with a name that begins as above.
 * Returns the lock's descriptor, to be kept open while the folder is used; -1 = no locks. */
int ab_temporary_own(const char *folder);

/* Removes the folders in $TMPDIR that dead processes of this user and host have left. A folder
 * stays if it contains something called `kept` at any depth: then `visit` gets the path of the
 * folder that `kept` is in. */
void ab_temporary_sweep(const char *kept, void (*visit)(const char *path, void *user), void *user);

/* The signal that asked this process to stop; 0 = none. runner/supervise.c sets it. */
extern volatile sig_atomic_t ab_stop_signal;

#endif
