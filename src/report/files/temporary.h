/* SPDX-License-Identifier: MIT
 *
 * Files that are written before they have their name. Where the file system can, such a file has
 * no name at all, and whatever ends the process leaves nothing; elsewhere it has a temporary name
 * (".allocbench-….tmp", in its target's folder, because only there a rename is atomic), which is
 * removed when SIGINT, SIGTERM, SIGHUP or SIGQUIT ends the process. The name does not contain the
 * target's, which may be as long as names can be.
 */
#ifndef AB_REPORT_TEMPORARY_H
#define AB_REPORT_TEMPORARY_H

#include <sys/types.h>

enum { AB_TEMPORARY_NAME = 64 };

/* Opened for writing; `name` gets the temporary name, "" = none. −1 with errno on failure. */
int ab_temporary_create(int directory, mode_t mode, char name[AB_TEMPORARY_NAME]);
/* Removes the name, where there is one (NULL or "": none). */
void ab_temporary_remove(int directory, const char *temporary);

/* Gives the file its name, one that is not taken. 0, or an errno: EEXIST when it is. */
int ab_temporary_name(int fd, int directory, const char *temporary, const char *name);
/* The same, in place of what has the name. What was there is there until the new file is. */
int ab_temporary_replace(int fd, int directory, const char *temporary, const char *name);

#endif
