/* SPDX-License-Identifier: MIT
 *
 * Prepares reading a trace as a request says, with progress.
 */
#include "app/trace/trace_pass.h"

static void count(void *pass, uint64_t n_events)
{
    const struct ab_trace_pass *p = pass;
    ab_file_progress_count(&p->progress, n_events, 0);
}

void ab_trace_pass_begin(const struct ab_trace_pass *pass, struct ab_walk *walk)
{
    walk->path = pass->path;
    walk->is_partial = pass->is_partial;
    walk->begin = pass->begin;
    walk->end = pass->end;
    walk->progress = pass->progress.count != NULL ? count : NULL;
    walk->progress_user = (void *)pass;
    ab_file_progress_begin(&pass->progress, pass->path);
}
