/* SPDX-License-Identifier: MIT
 *
 * Makes other command lines from one. A command line is a text with its words quoted as
 * ab_text_add_shell() does.
 */
#ifndef AB_CORE_COMMAND_LINE_H
#define AB_CORE_COMMAND_LINE_H

#include "core/text.h"

#include <stddef.h>

/* Returns the beginning of the arguments, after the names of the program and of the command. */
const char *ab_command_line_arguments(const char *line);

/* Appends the words from `line` on, without the `n` options `names` and their values. Keeps words
 * after "--", because they belong to another program. */
void ab_command_line_add_without(struct ab_text *t, const char *line, const char *const *names,
                                 size_t n);

#endif
