/* SPDX-License-Identifier: MIT
 *
 * The tables of commands and options as text for people.
 */
#ifndef AB_CLI_OPTIONS_OPTIONS_HELP_H
#define AB_CLI_OPTIONS_OPTIONS_HELP_H

#include "cli/commands.h"

#include <stdio.h>

/* Lines, indented. */
extern const char ab_options_exit_codes[];

void ab_options_print_help(FILE *to, enum ab_command_id command);
/* The whole tool: commands, examples, exit codes. */
void ab_options_print_overview(FILE *to);

#endif
