/* SPDX-License-Identifier: MIT
 *
 * Runs a pass over a trace with its progress line, and opens outputs that replace no input.
 */
#include "cli/trace.h"

#include "app/one_file.h"

static void show(void *user, uint64_t n_events)
{
    struct ab_trace_watch *w = user;
    ab_progress_show_counted(&w->line, w->path, "events", n_events, 0);
}

void ab_trace_watch_begin(struct ab_trace_watch *w, const struct ab_options *o, const char *path,
                          struct ab_walk *walk)
{
    w->path = path;
    ab_progress_begin(&w->line, o->talk.is_quiet);
    walk->path = path;
    walk->is_partial = o->is_partial;
    walk->begin = o->filter.first_event;
    walk->end = o->filter.end_event;
    walk->progress = w->line.is_on ? show : NULL;
    walk->progress_user = w;
}

void ab_trace_watch_end(struct ab_trace_watch *w)
{
    ab_progress_end(&w->line);
}

enum ab_status ab_trace_open_file(const struct ab_options *o, size_t first, const char *path,
                                  struct ab_output *out, struct ab_err *err)
{
    AB_TRY(ab_output_open(path, out, err));
    enum ab_status status = ab_spare_inputs(o, first, out, path, err);
    if (status != AB_OK)
        ab_output_abandon(out);
    return status;
}
