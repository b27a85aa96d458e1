/* SPDX-License-Identifier: MIT
 *
 * Implements `exec`: measures a real program.
 */
#include "app/exec.h"
#include "cli/commands.h"
#include "cli/requests.h"

static struct ab_exec_request request_of(const struct ab_options *o)
{
    struct ab_exec_request r = {
        .measure = ab_measure_request_of(o), .program = o->program, .server = o->server};
    if (o->program.trace != NULL)
        /* name of this stage, which follows the replays of the trace */
        r.measure.talk.stage.name = "program";
    return r;
}

enum ab_status ab_cmd_exec(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    const struct ab_exec_request request = request_of(o);
    return ab_exec(&request, exit_code, err);
}
