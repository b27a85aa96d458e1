/* SPDX-License-Identifier: MIT
 *
 * Implements `run` for one or several workloads.
 */
#include "app/run_workload.h"

#include "cli/commands.h"
#include "cli/requests.h"
#include "cli/suite_output.h"

enum ab_status ab_cmd_run(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    const struct ab_measure_request request = ab_measure_request_of(o);
    return ab_suite_is_asked(o) ? ab_show_suite(o, AB_SESSION_WORKLOAD, exit_code, err)
                                : ab_run_workload(&request, exit_code, err);
}
