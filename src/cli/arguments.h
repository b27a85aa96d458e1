/* SPDX-License-Identifier: MIT
 *
 * Resolves the arguments of every command in one place: names that begin with '@' become the files
 * they mean, and a file that another command is for is refused with the name of that command. A
 * file whose name begins with '@' is ./@NAME.
 */
#ifndef AB_CLI_ARGUMENTS_H
#define AB_CLI_ARGUMENTS_H

#include "cli/commands.h"

struct ab_arguments { /* what the options borrow afterwards */
    char **owned;
    size_t n, cap;
};

/* Replaces names in o->args, o->resume, o->baseline and o->trace, as the command takes them, and
 * adds the rows of o->sweeps to o->backends; says on stderr which file @last is, unless the command
 * is quiet. `out` begins as zeroes and is valid, to be released, after a failure too. */
enum ab_status ab_arguments_settle(enum ab_command_id command, struct ab_options *o,
                                   struct ab_arguments *out, struct ab_err *err);
void ab_arguments_fini(struct ab_arguments *arguments);

#endif
