/* SPDX-License-Identifier: MIT
 *
 * Table of the commands. commands.def has a row for each command, and cmd_NAME.c has its function.
 */
#ifndef AB_CLI_COMMANDS_H
#define AB_CLI_COMMANDS_H

#include "cli/options.h"

enum ab_command_id {
#define AB_COMMAND(id, ...) AB_COMMAND_##id,
#include "cli/commands.def"
#undef AB_COMMAND
    AB_COMMAND_COUNT
};

struct ab_command {
    const char *name, *synopsis, *summary, *examples;
    /* Runs the command. *exit_code counts only if AB_OK is returned. If not, the exit code is that
     * of the error. */
    enum ab_status (*run)(const struct ab_options *options, int *exit_code, struct ab_err *err);
};
extern const struct ab_command ab_commands[AB_COMMAND_COUNT];

#define AB_COMMAND(id, name, ...) \
    enum ab_status ab_cmd_##name(const struct ab_options *o, int *exit_code, struct ab_err *err);
#include "cli/commands.def"
#undef AB_COMMAND

#endif
