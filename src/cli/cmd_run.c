/* SPDX-License-Identifier: MIT
 *
 * `run`: one workload.
 */
#include "app/run_workload.h"
#include "cli/commands.h"

enum ab_status ab_cmd_run(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    return ab_run_workload(o, NULL, NULL, exit_code, err);
}
