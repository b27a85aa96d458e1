/* SPDX-License-Identifier: MIT
 *
 * Names of temporary files and folders that must be gone when a signal ends the process. A name is
 * entered before the file is made, so that there is no instant at which it could be left over.
 */
#ifndef AB_CORE_UNFINISHED_H
#define AB_CORE_UNFINISHED_H

#include "core/status.h"

#include <stdbool.h>

/* `directory` is a descriptor that stays open until `forget`; `name` is below 64 bytes. With the
 * first name SIGINT, SIGTERM, SIGHUP and SIGQUIT, as far as they have their default action, remove
 * what is entered before they end the process. False when there is no room for the name. */
bool ab_unfinished_enter(int directory, const char *name);
void ab_unfinished_forget(int directory, const char *name);

/* Removes all that is entered. Safe in a signal handler; does nothing in a forked child. */
void ab_unfinished_remove(void);

/* ---- temporary folders ----
 *
 * "allocbench-USE-XXXXXXXX" in $TMPDIR. Each contains a lock file, which its process holds as long as
 * it lives. So a later start can tell a folder that SIGKILL has left from one that is in use. */

/* A variable that stands in front of $TMPDIR in a process of ours that another of ours has started.
 * Programs that we start do not get it. */
#define AB_TEMPORARY_PLACE "ALLOCBENCH_TEMPORARY_PLACE"

/* Returns the folder in which temporary folders are made. */
const char *ab_temporary_place(void);

struct ab_temporary { /* {0}: there is no folder */
    char path[1024];
    char name[64]; /* the last part of `path` */
    int parent;    /* descriptor of the folder above it */
    int lock;      /* descriptor of the lock file; -1 = the file system has no locks */
};

/* Makes a private folder, which is gone when a signal or the lack of memory ends this process. */
enum ab_status ab_temporary_make(const char *use, struct ab_temporary *out, struct ab_err *err);

/* Removes the folder with all that is in it. Does nothing where there is none. */
void ab_temporary_remove(struct ab_temporary *t);

/* Puts the lock file into a folder that the caller has made under a name that begins as above.
 * Returns its descriptor, which is to stay open as long as the folder is used; -1 = no locks. */
int ab_temporary_own(const char *folder);

/* Removes the folders in $TMPDIR that processes of this user and host have left. A folder in which
 * something called `kept` is found, at whatever depth, stays: `visit` gets the path of the folder that
 * `kept` is in. */
void ab_temporary_sweep(const char *kept, void (*visit)(const char *path, void *user), void *user);

#endif
