/* SPDX-License-Identifier: MIT
 *
 * A pass over a trace with its progress line.
 */
#include "cli/trace/trace_watch.h"

void ab_trace_watch_show(void *user, uint64_t n_events)
{
    struct ab_trace_watch *w = user;
    ab_progress_show_events(&w->line, w->path, n_events, 0);
}

void ab_trace_watch_begin(struct ab_trace_watch *w, const struct ab_options *o, const char *path,
                          struct ab_walk *walk)
{
    w->path = path;
    ab_progress_begin(&w->line, o->is_quiet);
    walk->path = path;
    walk->is_partial = o->is_partial;
    walk->begin = o->first_event;
    walk->end = o->end_event;
    walk->progress = w->line.is_on ? ab_trace_watch_show : NULL;
    walk->progress_user = w;
}

void ab_trace_watch_end(struct ab_trace_watch *w)
{
    ab_progress_end(&w->line);
}
