/* SPDX-License-Identifier: MIT
 *
 * Implements `exec`: measures a real program.
 */
#include "app/exec.h"
#include "cli/commands.h"

enum ab_status ab_cmd_exec(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    return ab_exec(o, exit_code, err);
}
