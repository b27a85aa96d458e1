/* SPDX-License-Identifier: MIT
 *
 * The tables of commands and options as text for people.
 */
#ifndef AB_CLI_OPTIONS_HELP_H
#define AB_CLI_OPTIONS_HELP_H

#include "cli/commands.h"

#include <stdbool.h>
#include <stdio.h>

/* Lines, indented. */
extern const char ab_options_exit_codes[];

/* With all options, or with the usual ones; no line is wider than AB_HELP_WIDTH. `word`: what follows
 * the command, NULL = nothing: of `trace` the help is then that of its command of this name. */
void ab_options_print_help(FILE *to, enum ab_command_id command, const char *word, bool is_all);
/* The whole tool: commands, examples, exit codes. */
void ab_options_print_overview(FILE *to);

/* Text within a number of columns. */

enum { AB_HELP_WIDTH = 80 }; /* no line of help is wider */

/* Columns on the screen: characters, not bytes. */
int ab_paragraph_columns(const char *text);

/* Breaks `text` at blanks into lines from column `indent` to before AB_HELP_WIDTH; the first begins
 * in column `at`, where the cursor is. A line break of the text is a blank, unless the line after it
 * begins with a blank: such a line stays as it is. Ends with a line break. */
void ab_paragraph_print(FILE *to, const char *text, int indent, int at);

#endif
