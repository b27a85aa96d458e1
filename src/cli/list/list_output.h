/* SPDX-License-Identifier: MIT
 *
 * How the topics of `list` write.
 */
#ifndef AB_CLI_LIST_LIST_OUTPUT_H
#define AB_CLI_LIST_LIST_OUTPUT_H

#include "core/status.h"

#include <jansson.h>
#include <stdbool.h>

/* Writes the document to the file `path`, - is standard output; takes it. `is_short_of_memory`: it
 * is not whole, and is not written. */
enum ab_status ab_list_write(const char *path, json_t *document, bool is_short_of_memory,
                             struct ab_err *err);

/* One entry: `head`, then `text` beside it from column `indent` on, in lines of at most 80
 * characters. */
void ab_list_print_entry(const char *head, int indent, const char *text);

#endif
