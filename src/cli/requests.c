/* SPDX-License-Identifier: MIT
 *
 * Copies the parts of the options that a use case needs.
 */
#include "cli/requests.h"

#include "cli/show.h"

struct ab_measure_request ab_measure_request_of(const struct ab_options *o)
{
    return (struct ab_measure_request){
        .talk = o->talk,
        .command = o->command,
        .args = o->args,
        .n_args = o->n_args,
        .backends = o->backends,
        .maps = o->maps,
        .settings = o->settings,
        .rules = o->rules,
        .passes = o->passes,
        .conditions = o->conditions,
        .replay = o->replay,
        .scopes_wish = o->scopes_wish,
        .verdicts = o->verdicts,
        .outputs = o->outputs,
        .store = o->store,
        .resume = o->resume,
        .show = ab_show_measured,
        .user = (void *)(uintptr_t)o,
    };
}

struct ab_inputs ab_inputs_of(const struct ab_options *o)
{
    return (struct ab_inputs){.files = o->args, .n = o->n_args};
}
