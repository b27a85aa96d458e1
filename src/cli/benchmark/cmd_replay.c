/* SPDX-License-Identifier: MIT
 *
 * `replay`: one trace, or several.
 */
#include "cli/benchmark/replay.h"
#include "cli/benchmark/replay_several.h"
#include "cli/commands.h"

enum ab_status ab_cmd_replay(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    static const struct ab_replay_watch unwatched;
    return o->n_args > 1 ? ab_replay_several(o, exit_code, err)
                         : ab_replay(o, &unwatched, exit_code, err);
}
