/* SPDX-License-Identifier: MIT
 *
 * A trace as a tape: the producer that stands beside the workload compiler.
 */
#include "trace/reader.h"

#include <stdlib.h>

enum { BATCH = 4096 };

static enum ab_status push_event(struct ab_tape_builder *b, const struct ab_event *e,
                                 const struct ab_trace_tape_options *options, struct ab_err *err)
{
    struct ab_request request = {
        .size = e->size,
        .is_zeroed = e->kind == AB_EVENT_ALLOC_ZEROED,
        .align = e->kind == AB_EVENT_ALLOC_ALIGNED ? e->align : 0,
        .may_fail = e->failed,
        .touch = options->touch,
        .touch_bytes = options->touch_bytes,
    };
    if (e->kind == AB_EVENT_FREE || e->released)
        return ab_tape_free(b, e->slot, err); /* realloc(p, 0) freed: what it means differs between
                                                 libraries, so the free it was is what is replayed */
    if (e->kind != AB_EVENT_RESIZE)
        return ab_tape_alloc(b, e->slot, &request, err);
    if (e->size == 0)
        request.size = 1; /* realloc(p, 0) that kept a block: every library keeps one of size 1 */
    return ab_tape_resize(b, e->slot, &request, err);
}

static enum ab_status push_all(struct ab_trace_reader *r, struct ab_tape_builder *b,
                               const struct ab_trace_tape_options *options, struct ab_err *err)
{
    struct ab_event *events = malloc(BATCH * sizeof events[0]);
    enum ab_status status = events == NULL ? ab_fail(err, AB_SYSTEM, "out of memory") : AB_OK;
    for (size_t n = 1; status == AB_OK && n > 0;) {
        status = ab_trace_next(r, events, BATCH, &n, err);
        for (size_t i = 0; status == AB_OK && i < n; i++)
            status = push_event(b, &events[i], options, err);
    }
    free(events);
    return status;
}

enum ab_status ab_trace_to_tape(const char *path, const struct ab_trace_tape_options *options,
                                struct ab_tape *out, struct ab_trace_info *info,
                                struct ab_err *err)
{
    struct ab_trace_reader *r = NULL;
    struct ab_tape_builder *b = NULL;
    enum ab_status status = ab_trace_open(path, &r, err);
    if (status != AB_OK)
        return status;
    if ((b = ab_tape_begin()) == NULL)
        status = ab_fail(err, AB_SYSTEM, "out of memory");
    if (status != AB_OK || (status = ab_tape_phase(b, "replay", true, err)) != AB_OK ||
        (status = push_all(r, b, options, err)) != AB_OK)
        goto out;
    struct ab_trace_info totals = *ab_trace_reader_info(r);
    if (totals.threads > 1)
        status = ab_fail(err, AB_INPUT, "%s: recorded from %llu threads; this version replays "
                         "single-threaded programs only", path, (unsigned long long)totals.threads);
    else if (totals.events == 0)
        status = ab_fail(err, AB_INPUT, "%s: a trace without a single event", path);
    if (status != AB_OK)
        goto out;
    status = ab_tape_end(b, out, err);
    b = NULL;
    if (status == AB_OK)
        *info = totals;
out:
    ab_tape_abandon(b);
    ab_trace_close(r);
    return status;
}
