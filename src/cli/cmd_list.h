/* SPDX-License-Identifier: MIT
 *
 * The topics of `list`.
 */
#ifndef AB_CLI_CMD_LIST_H
#define AB_CLI_CMD_LIST_H

#include <stddef.h>

/* Returns the i-th topic, such as "backends"; NULL past the end. */
const char *ab_list_topic(size_t i);

#endif
