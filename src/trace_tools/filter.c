/* SPDX-License-Identifier: MIT
 *
 * Keeps the events of the blocks that a filter lets through.
 */
#include "trace_tools/filter.h"

#include "core/text.h"
#include "trace_tools/rewrite.h"

#include <string.h>

struct state {
    const struct ab_filter *filter;
    FILE *to;
    struct ab_rewrite out;
    struct ab_original in;
    struct ab_site_table sites; /* of the whole original */
    struct ab_rewrite_marks marks;
    struct ab_mark_table kept_marks; /* all: they stand between other calls */
    bool has_first;
    uint64_t first_us;
};

static bool is_within(struct ab_extent span, uint64_t x)
{
    return x >= span.first && (x < span.end || span.end == UINT64_MAX);
}

static bool has_thread(const struct ab_filter *f, uint32_t thread)
{
    for (size_t i = 0; i < f->n_threads; i++)
        if (is_within(f->threads[i], thread))
            return true;
    return f->n_threads == 0;
}

static bool is_wanted(const struct state *s, const struct ab_event *e, uint64_t number)
{
    const struct ab_filter *f = s->filter;
    return (f->has_site == NULL || f->has_site(f->site_user, &s->sites, e->site)) &&
           has_thread(f, e->thread) && is_within(f->sizes, e->size) &&
           is_within(f->events, number) && (!f->has_times || is_within(f->times_us, e->time_us));
}

static bool is_alloc(const struct ab_event *e)
{
    return e->kind <= AB_EVENT_ALLOC_ALIGNED;
}

static enum ab_status take(struct state *s, const struct ab_event *e, uint64_t number,
                           struct ab_err *err)
{
    struct ab_event own = *e;
    if (is_alloc(e) ? !is_wanted(s, e, number) : !ab_original_knows(&s->in, e))
        return AB_OK;
    if (!s->has_first)
        s->first_us = s->marks.from_us = e->time_us;
    s->has_first = true;
    own.time_us = e->time_us - s->first_us;
    return ab_rewrite_put(&s->out, &s->in, &own, err);
}

static bool is_all(const struct ab_filter *f)
{
    return f->has_site == NULL && f->n_threads == 0 && f->sizes.first == 0 &&
           f->sizes.end == UINT64_MAX && f->events.first == 0 && f->events.end == UINT64_MAX &&
           !f->has_times;
}

/* Inherited blocks are the first ones; of some of them a trace cannot say it. */
static enum ab_status begin(struct state *s, const struct ab_trace_info *info, struct ab_err *err)
{
    struct ab_trace_writer_options options = {.program = s->filter->is_anonymous ? ""
                                                                                 : info->program,
                                              .sites = s->filter->is_anonymous ? NULL : &s->sites,
                                              .marks = &s->kept_marks,
                                              .has_time = info->has_time};
    s->marks.is_anonymous = s->filter->is_anonymous;
    s->marks.has_time = info->has_time || is_all(s->filter);
    s->marks.from_us = info->has_time ? UINT64_MAX : 0; /* until an event is kept */
    if (s->filter->has_times && !info->has_time)
        return ab_fail(err, AB_USAGE, "--time: the trace has no times");
    return ab_trace_writer_open_with(s->to, &options, &s->out.writer, err);
}

static enum ab_status put_marks(struct state *s, uint64_t call, struct ab_err *err)
{
    return ab_rewrite_marks_put(&s->marks, &s->out, &s->in, call, &s->kept_marks, err);
}

static enum ab_status visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct state *s = user;
    enum ab_status status = AB_OK;
    if (batch->where == AB_WALK_BEGIN)
        return begin(s, batch->info, err);
    if (batch->where == AB_WALK_EVENTS && batch->first == 0 && batch->info->inherited > 0 &&
        !s->has_first && is_all(s->filter))
        status = ab_trace_writer_inherit(s->out.writer, batch->info->inherited, err);
    uint64_t number = batch->first;
    for (size_t i = 0; i < batch->n && status == AB_OK; i++) {
        bool is_call = batch->events[i].kind != AB_EVENT_THREAD_END;
        if (is_call)
            status = put_marks(s, number, err);
        if (status == AB_OK)
            status = take(s, &batch->events[i], number, err);
        number += is_call;
    }
    if (status == AB_OK && batch->where == AB_WALK_END)
        status = put_marks(s, UINT64_MAX, err);
    return status;
}

static enum ab_status check_kept(const struct ab_walk *walk, const struct state *s,
                                 const struct ab_trace_info *info, struct ab_err *err)
{
    if (s->has_first || info->events == 0)
        return AB_OK;
    return ab_fail(err, AB_USAGE, "%s: none of its %llu events passes the filter",
                   AB_SHOWN(600, walk->path), (unsigned long long)info->events);
}

static enum ab_status check_threads(const struct ab_walk *walk, const struct ab_filter *f,
                                    const struct ab_trace_info *info, struct ab_err *err)
{
    for (size_t i = 0; i < f->n_threads; i++)
        if (f->threads[i].end > info->threads)
            return ab_fail(err, AB_USAGE, "%s: no thread %llu: the trace has %llu, counted from 0",
                           AB_SHOWN(600, walk->path), (unsigned long long)f->threads[i].end - 1,
                           (unsigned long long)info->threads);
    return AB_OK;
}

static enum ab_status check_sites(const struct ab_walk *walk, const struct ab_filter *f,
                                  const struct ab_trace_info *info, struct ab_err *err)
{
    if (f->has_site == NULL || info->has_sites)
        return AB_OK;
    return ab_fail(err, AB_USAGE, "%s: --site: the trace has no call sites; record with --sites",
                   AB_SHOWN(600, walk->path));
}

enum ab_status ab_trace_filter(const struct ab_walk *walk, const struct ab_filter *filter, FILE *to,
                               struct ab_filter_report *report, struct ab_err *err)
{
    struct state s = {.filter = filter, .to = to};
    struct ab_walk own = *walk;
    struct ab_filter_report r = {.info.events = 0};
    own.begin = 0;
    own.end = UINT64_MAX;
    own.has_thread_ends = true;
    own.visit = visit;
    own.user = &s;
    own.marks = &s.marks.from;
    own.sites = filter->is_anonymous ? NULL : &s.sites;
    enum ab_status status = ab_trace_walk(&own, &r.before, err);
    if (status == AB_OK)
        status = check_threads(walk, filter, &r.before, err);
    if (status == AB_OK)
        status = check_sites(walk, filter, &r.before, err);
    if (status == AB_OK)
        status = check_kept(walk, &s, &r.before, err);
    if (status == AB_OK) {
        status = ab_trace_writer_close(s.out.writer, &r.info, err);
        s.out.writer = NULL;
    }
    if (status == AB_OK)
        *report = r;
    ab_trace_writer_abandon(s.out.writer);
    ab_original_fini(&s.in);
    ab_site_table_fini(&s.sites);
    ab_rewrite_marks_fini(&s.marks);
    ab_mark_table_fini(&s.kept_marks);
    return status;
}
