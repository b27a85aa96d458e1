/* SPDX-License-Identifier: MIT
 *
 * The table of commands, expanded from commands.def.
 */
#include "cli/commands.h"

#include "app/catalogue.h"

#define AB_FORMAT_LINE(id, name, ...) "                   " name "\n"

const struct ab_command ab_commands[AB_COMMAND_COUNT] = {
#define AB_COMMAND(id, name, synopsis, summary, examples) \
    [AB_COMMAND_##id] = {#name, synopsis, summary, examples, ab_cmd_##name},
#include "cli/commands.def"
#undef AB_COMMAND
};
