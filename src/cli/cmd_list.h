/* SPDX-License-Identifier: MIT
 *
 * The topics of `list`.
 */
#ifndef AB_CLI_CMD_LIST_H
#define AB_CLI_CMD_LIST_H

#include <stddef.h>

/* "backends" …; NULL past the end. */
const char *ab_list_topic(size_t i);

#endif
