/* SPDX-License-Identifier: MIT
 *
 * A pass over a trace with its progress line.
 */
#ifndef AB_CLI_TRACE_TRACE_WATCH_H
#define AB_CLI_TRACE_TRACE_WATCH_H

#include "app/options.h"
#include "cli/progress.h"
#include "trace_tools/walk.h"

struct ab_trace_watch { /* a pass that is being watched on a terminal */
    struct ab_progress_line line;
    const char *path;
};

/* Fills `walk` from the options (--partial, --events) and makes it report its progress; end takes
 * the line off the terminal again. */
void ab_trace_watch_begin(struct ab_trace_watch *w, const struct ab_options *o, const char *path,
                          struct ab_walk *walk);
void ab_trace_watch_end(struct ab_trace_watch *w);
/* Shows how far it is; user: the watch. */
void ab_trace_watch_show(void *user, uint64_t n_events);

#endif
