/* SPDX-License-Identifier: MIT
 *
 * Prepares reading traces as the options say, with a progress line.
 */
#include "cli/trace.h"

struct ab_trace_pass ab_trace_pass_of(const struct ab_options *o, const char *path,
                                      struct ab_progress_files *files)
{
    *files = (struct ab_progress_files){.is_quiet = o->talk.is_quiet};
    return (struct ab_trace_pass){
        .path = path,
        /* --partial of advise sets the member that belongs to replay */
        .is_partial = o->is_partial || o->replay.is_partial,
        .begin = o->filter.first_event,
        .end = o->filter.end_event,
        .progress = ab_progress_of_files(files),
    };
}
