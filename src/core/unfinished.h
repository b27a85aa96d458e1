/* SPDX-License-Identifier: MIT
 *
 * Names of temporary files and folders that must be gone when a signal ends the process. A name is
 * entered before the file is made, so that there is no instant at which it could be left over.
 */
#ifndef AB_CORE_UNFINISHED_H
#define AB_CORE_UNFINISHED_H

#include <stdbool.h>

/* `directory` is a descriptor that stays open until `forget`; `name` is below 64 bytes. With the
 * first name SIGINT, SIGTERM, SIGHUP and SIGQUIT, as far as they have their default action, remove
 * what is entered before they end the process. False when there is no room for the name. */
bool ab_unfinished_enter(int directory, const char *name);
/* The same for a folder, which goes with what is in it. */
bool ab_unfinished_enter_folder(int directory, const char *name);
void ab_unfinished_forget(int directory, const char *name);

/* Removes all that is entered. Safe in a signal handler; does nothing in a forked child. */
void ab_unfinished_remove(void);

/* Removes a folder with what is in it, or a file. Safe in a signal handler. */
void ab_unfinished_remove_folder(int directory, const char *name);

#endif
