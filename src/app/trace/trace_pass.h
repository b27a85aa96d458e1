/* SPDX-License-Identifier: MIT
 *
 * Prepares reading a trace from beginning to end (a pass), for the use cases of traces.
 */
#ifndef AB_APP_TRACE_TRACE_PASS_H
#define AB_APP_TRACE_TRACE_PASS_H

#include "core/file_progress.h"
#include "trace_tools/walk.h"

struct ab_trace_pass {
    const char *path;    /* file of the trace; "-" = standard input */
    bool is_partial;     /* True to accept a file without its end */
    uint64_t begin, end; /* range of events [begin, end); end UINT64_MAX = all */
    struct ab_file_progress progress;
};

/* Sets `walk` from the pass, except for its visitor, and begins to report progress. The caller ends
 * the report with ab_file_progress_end(). */
void ab_trace_pass_begin(const struct ab_trace_pass *pass, struct ab_walk *walk);
/* Checks a trace as `trace check` does. Sets *info to the totals of the trace. */
static inline enum ab_status ab_trace_pass_check(const struct ab_trace_pass *pass,
                                                 struct ab_trace_info *info, struct ab_err *err)
{
    struct ab_walk walk = {0};
    ab_trace_pass_begin(pass, &walk);
    enum ab_status status = ab_trace_check(&walk, info, err);
    ab_file_progress_end(&pass->progress);
    return status;
}

#endif
