/* SPDX-License-Identifier: MIT
 *
 * Resolves the arguments of every command. Replaces names that begin with '@' by the files that
 * they mean. Refuses a file of the wrong kind, and names the right command. A file whose name
 * begins with '@' is written ./@NAME.
 */
#ifndef AB_CLI_ARGUMENTS_H
#define AB_CLI_ARGUMENTS_H

#include "cli/commands.h"

struct ab_arguments { /* resolved arguments; the options borrow these strings */
    char **owned;
    size_t n, cap;
};

/* Replaces names in o->args, o->resume, o->baseline and o->trace by paths, as the command allows.
 * Adds the rows of o->sweeps to o->backends. Prints on stderr which file @last is, unless
 * o->is_quiet. `out` begins as {0}; release it after a failure too. */
enum ab_status ab_arguments_settle(enum ab_command_id command, struct ab_options *o,
                                   struct ab_arguments *out, struct ab_err *err);
void ab_arguments_fini(struct ab_arguments *arguments);

#endif
