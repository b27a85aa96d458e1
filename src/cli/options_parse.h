/* SPDX-License-Identifier: MIT
 *
 * The command line against the table of options. Parsing has no side effects; what it yields is
 * validated and complete.
 */
#ifndef AB_CLI_OPTIONS_PARSE_H
#define AB_CLI_OPTIONS_PARSE_H

#include "app/options.h"
#include "cli/commands.h"

/* Reads argv[1..argc) of the command. Fails with AB_USAGE and the nearest right spelling. */
enum ab_status ab_options_parse(enum ab_command_id command, int argc, char **argv,
                                struct ab_options *out, struct ab_err *err);

/* Adds to a list of `struct ab_options`, which ends with NULL. */
void ab_options_add(const char ***list, size_t *n, const char *value);
/* Frees the lists, not what is in them. */
void ab_options_fini(struct ab_options *o);

#endif
