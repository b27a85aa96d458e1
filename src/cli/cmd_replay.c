/* SPDX-License-Identifier: MIT
 *
 * Implements `replay` for one or several traces.
 */
#include "app/replay.h"

#include "cli/commands.h"
#include "cli/requests.h"
#include "cli/suite_output.h"

enum ab_status ab_cmd_replay(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    const struct ab_measure_request request = ab_measure_request_of(o);
    return ab_suite_is_asked(o) ? ab_show_suite(o, AB_SESSION_TRACE, exit_code, err)
                                : ab_replay(&request, exit_code, err);
}
