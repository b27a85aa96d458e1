/* SPDX-License-Identifier: MIT
 *
 * Goes over a trace for a format, and turns what it does not keep into what it does.
 */
#include "exchange/outlet.h"

#include "core/text.h"
#include "exchange/formats.h"

#include <string.h>

struct state {
    const struct ab_format *format;
    struct ab_outlet outlet;
    struct ab_outlet_report report;
};

static bool keeps(const struct state *s, unsigned what)
{
    return (s->format->keeps & what) != 0;
}

static void put(struct state *s, const struct ab_event *e)
{
    s->report.n_written++;
    s->format->writes->put(&s->outlet, e);
}

/* A resize to size 0 that failed did nothing; in every format it would read as one that freed. */
static void put_event(struct state *s, const struct ab_event *e, const struct ab_live_block *block)
{
    struct ab_event own = *e;
    if (own.kind == AB_EVENT_THREAD_END) {
        if (keeps(s, AB_KEEPS_THREADS))
            s->format->writes->put(&s->outlet, &own);
        return;
    }
    bool is_idle = own.failed && own.kind == AB_EVENT_RESIZE && own.size == 0;
    if (is_idle || (own.failed && !keeps(s, AB_KEEPS_FAILURES))) {
        s->report.n_failed++;
        return;
    }
    if ((own.kind == AB_EVENT_ALLOC_ALIGNED && !keeps(s, AB_KEEPS_ALIGNMENTS)) ||
        (own.kind == AB_EVENT_ALLOC_ZEROED && !keeps(s, AB_KEEPS_ZEROED))) {
        own.kind = AB_EVENT_ALLOC;
        s->report.n_plain++;
    }
    if (own.released && !keeps(s, AB_KEEPS_RELEASES)) {
        own.kind = AB_EVENT_FREE;
        own.released = false;
        s->report.n_released++;
    }
    s->outlet.block = block->is_live ? block->number : AB_NO_BLOCK;
    if (own.kind == AB_EVENT_RESIZE && !own.failed && !keeps(s, AB_KEEPS_RESIZES)) {
        s->report.n_split++;
        own.kind = AB_EVENT_FREE;
        put(s, &own);
        own.kind = AB_EVENT_ALLOC;
    }
    put(s, &own);
}

static void begin(struct state *s, const struct ab_trace_info *info)
{
    s->outlet.has_time = info->has_time && keeps(s, AB_KEEPS_TIMES);
    s->report.has_lost_times = info->has_time && !s->outlet.has_time;
    s->outlet.program = info->program;
    if (s->format->writes->begin != NULL)
        s->format->writes->begin(&s->outlet);
}

static enum ab_status visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct state *s = user;
    if (batch->where == AB_WALK_BEGIN)
        begin(s, batch->info);
    for (size_t i = 0; i < batch->n; i++)
        put_event(s, &batch->events[i], &batch->blocks[i]);
    if (batch->where == AB_WALK_END && s->format->writes->end != NULL)
        s->format->writes->end(&s->outlet);
    if (batch->where == AB_WALK_END && !keeps(s, AB_KEEPS_THREADS) && batch->info->threads > 1)
        s->report.n_threads = batch->info->threads;
    return ferror(s->outlet.to) ? ab_fail_errno(err, AB_SYSTEM, "cannot write the file") : AB_OK;
}

static enum ab_status visit_nothing(void *user, const struct ab_walk_batch *batch,
                                    struct ab_err *err)
{
    (void)user, (void)batch, (void)err;
    return AB_OK;
}

enum ab_status ab_export(const struct ab_walk *walk, const struct ab_format *format, FILE *to,
                         struct ab_outlet_report *report, struct ab_err *err)
{
    struct state s = {.format = format, .outlet.to = to};
    struct ab_walk own = *walk;
    struct ab_trace_info totals;
    own.begin = 0;
    own.end = UINT64_MAX;
    own.user = &s;
    if (format->writes->needs_totals) {
        if (strcmp(walk->path, "-") == 0)
            return ab_fail(err, AB_USAGE,
                           "%s begins with how many calls there are: give the trace as a file, not "
                           "as standard input",
                           format->name);
        own.visit = visit_nothing;
        AB_TRY(ab_trace_walk(&own, &totals, err));
        s.outlet.totals = &totals;
    }
    own.has_thread_ends = true;
    own.visit = visit;
    AB_TRY(ab_trace_walk(&own, NULL, err));
    *report = s.report;
    return AB_OK;
}
