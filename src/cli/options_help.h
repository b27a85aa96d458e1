/* SPDX-License-Identifier: MIT
 *
 * Prints the tables of commands and options as help.
 */
#ifndef AB_CLI_OPTIONS_HELP_H
#define AB_CLI_OPTIONS_HELP_H

#include "cli/commands.h"

#include <stdbool.h>
#include <stdio.h>

/* Indented lines that explain the exit codes. */
extern const char ab_options_exit_codes[];

/* Prints the help of a command in at most AB_HELP_WIDTH columns, with all options or the usual
 * ones. If `word` is not NULL and the command is `trace`, prints the help of its subcommand
 * `word`. */
void ab_options_print_help(FILE *to, enum ab_command_id command, const char *word, bool is_all);
/* Prints the overview of all commands, with examples and exit codes. */
void ab_options_print_overview(FILE *to);

enum { AB_HELP_WIDTH = 80 }; /* columns */

/* Returns the width of the text on the screen, in characters and not in bytes. */
int ab_paragraph_columns(const char *text);

/* Prints `text`, broken at blanks into lines from column `indent` to before AB_HELP_WIDTH. The
 * first line begins at the cursor, in column `at`. A newline counts as a blank, unless the next
 * line begins with a blank: such a line is printed unchanged. Ends with a newline. */
void ab_paragraph_print(FILE *to, const char *text, int indent, int at);

#endif
