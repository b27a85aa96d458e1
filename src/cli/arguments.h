/* SPDX-License-Identifier: MIT
 *
 * Resolves the arguments of every command. Names that begin with '@' become the files that they
 * mean. A file of the wrong kind is refused with the name of the right command. A file whose name
 * begins with '@' is written ./@NAME.
 */
#ifndef AB_CLI_ARGUMENTS_H
#define AB_CLI_ARGUMENTS_H

#include "cli/commands.h"

struct ab_arguments { /* strings that the options borrow */
    char **owned;
    size_t n, cap;
};

/* Replaces names in o->args, o->resume, o->baseline and o->trace, as the command allows, and adds
 * the rows of o->sweeps to o->backends. Prints on stderr which file @last is, unless o->is_quiet.
 * `out` begins as {0}; release it after a failure too. */
enum ab_status ab_arguments_settle(enum ab_command_id command, struct ab_options *o,
                                   struct ab_arguments *out, struct ab_err *err);
void ab_arguments_fini(struct ab_arguments *arguments);

#endif
