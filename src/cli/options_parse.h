/* SPDX-License-Identifier: MIT
 *
 * Parses the command line with the option table. Parsing has no side effects, and checks every
 * value.
 */
#ifndef AB_CLI_OPTIONS_PARSE_H
#define AB_CLI_OPTIONS_PARSE_H

#include "cli/commands.h"
#include "cli/options.h"

/* Parses argv[1..argc) of the command. Fails with AB_USAGE and suggests the nearest spelling. */
enum ab_status ab_options_parse(enum ab_command_id command, int argc, char **argv,
                                struct ab_options *out, struct ab_err *err);

/* Frees the lists of the options, but not the strings in them. */
void ab_options_fini(struct ab_options *o);

#endif
