/* SPDX-License-Identifier: MIT
 *
 * Reads a trace in batches, follows its blocks, and calls a visitor for the part that was asked
 * for.
 */
#include "trace_tools/walk.h"

#include "core/text.h"
#include "trace/reader.h"

#include <stdlib.h>

enum {
    BATCH = 512, /* small enough to stay in the cache */
    PREFETCH = 12
};

struct state {
    const struct ab_walk *walk;
    struct ab_trace_reader *reader;
    struct ab_trace_book book;
    uint64_t first; /* calls before the batch */
    bool has_begun;
    struct ab_event events[BATCH];
    struct ab_live_block blocks[BATCH];
};

/* Errors of the reader carry file and place; those of the book and of visitors get them here. */
static enum ab_status place_error(const struct state *s, struct ab_err *err)
{
    return ab_err_context(err, "%s: byte %llu: ", AB_SHOWN(600, s->walk->path),
                          (unsigned long long)ab_trace_reader_offset(s->reader));
}

static enum ab_status visit(struct state *s, enum ab_walk_where where, size_t n, struct ab_err *err)
{
    struct ab_walk_batch batch = {.where = where,
                                  .events = s->events,
                                  .blocks = s->blocks,
                                  .n = n,
                                  .first = s->first,
                                  .book = &s->book,
                                  .info = ab_trace_reader_info(s->reader)};
    enum ab_status status = s->walk->visit(s->walk->user, &batch, err);
    if (status == AB_OK && s->walk->progress != NULL)
        s->walk->progress(s->walk->progress_user, s->book.totals.events);
    return status == AB_INPUT ? place_error(s, err) : status;
}

/* How many events to ask for: a batch lies on one side of `begin` and before `end`. */
static size_t room(const struct state *s)
{
    uint64_t at = s->book.totals.events;
    uint64_t stop = at < s->walk->begin ? s->walk->begin : s->walk->end;
    return stop - at < BATCH ? (size_t)(stop - at) : BATCH;
}

static enum ab_status take_batch(struct state *s, size_t n, struct ab_err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (i + PREFETCH < n)
            ab_trace_book_prefetch(&s->book, s->events[i + PREFETCH].slot);
        const char *wrong = ab_trace_book_take(&s->book, &s->events[i], &s->blocks[i]);
        if (wrong != NULL) {
            ab_fail(err, AB_INPUT, "event %llu: %s", (unsigned long long)s->book.totals.events,
                    wrong);
            return place_error(s, err);
        }
    }
    return AB_OK;
}

/* A mark before the call that comes next may be in the chunk ahead of that call's. */
static enum ab_status read_marks_of_end(struct state *s, struct ab_err *err)
{
    enum ab_status status;
    size_t n;
    do
        status = ab_trace_next(s->reader, s->events, 1, &n, err);
    while (status == AB_OK && n == 1 && s->events[0].kind == AB_EVENT_THREAD_END);
    return status;
}

static enum ab_status walk_events(struct state *s, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    for (;;) {
        bool is_inside = s->book.totals.events >= s->walk->begin;
        s->first = s->book.totals.events;
        if (is_inside && !s->has_begun) {
            s->has_begun = true;
            if ((status = visit(s, AB_WALK_BEGIN, 0, err)) != AB_OK)
                return status;
        }
        size_t n = room(s);
        if (n == 0)
            return s->walk->marks != NULL ? read_marks_of_end(s, err) : AB_OK;
        if ((status = ab_trace_next(s->reader, s->events, n, &n, err)) != AB_OK || n == 0 ||
            (status = take_batch(s, n, err)) != AB_OK)
            return status;
        if (is_inside && (status = visit(s, AB_WALK_EVENTS, n, err)) != AB_OK)
            return status;
    }
}

static enum ab_status check_range(const struct state *s, struct ab_err *err)
{
    if (s->book.totals.events > s->walk->begin || s->walk->begin == 0)
        return AB_OK;
    return ab_fail(err, AB_USAGE, "%s: no event %llu: the trace has %llu, counted from 0",
                   AB_SHOWN(600, s->walk->path), (unsigned long long)s->walk->begin,
                   (unsigned long long)s->book.totals.events);
}

enum ab_status ab_trace_walk(const struct ab_walk *walk, struct ab_trace_info *info,
                             struct ab_err *err)
{
    struct state *s = calloc(1, sizeof *s);
    enum ab_status status = AB_OK;
    if (s == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    s->walk = walk;
    struct ab_trace_options options = {.is_partial = walk->is_partial,
                                       .has_thread_ends = walk->has_thread_ends,
                                       .sites = walk->sites,
                                       .marks = walk->marks,
                                       .has_digest = walk->digest != NULL};
    if ((status = ab_trace_open_with(walk->path, &options, &s->reader, err)) != AB_OK ||
        (status = walk_events(s, err)) != AB_OK || (status = check_range(s, err)) != AB_OK ||
        (status = visit(s, AB_WALK_END, 0, err)) != AB_OK)
        goto out;
    if (info != NULL)
        *info = *ab_trace_reader_info(s->reader);
    if (walk->digest != NULL)
        ab_trace_reader_digest(s->reader, walk->digest);
out:
    ab_trace_close(s->reader);
    ab_trace_book_fini(&s->book);
    free(s);
    return status;
}
