/* SPDX-License-Identifier: MIT
 *
 * Reads a trace in batches, follows its blocks, and calls a visitor for the requested part.
 */
#include "trace_tools/walk.h"

#include "base/bits.h"
#include "core/alloc.h"
#include "core/text.h"
#include "trace/format.h"
#include "trace/reader.h"

#include <stdlib.h>

enum {
    BATCH = 512, /* small enough for the cache */
    PREFETCH = 12
};

struct state {
    const struct ab_walk *walk;
    struct ab_trace_reader *reader;
    struct ab_trace_book book;
    uint64_t first; /* number of calls before the batch */
    uint64_t end;
    bool has_begun;
    struct ab_event events[BATCH];
    struct ab_live_block blocks[BATCH];
};

/* Adds file and position to an error of the book or of a visitor; errors of the reader have them
 * already. */
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

/* Returns the number of events to read next, so that a batch does not cross `begin` or `end`. */
static size_t room(const struct state *s)
{
    uint64_t at = s->book.totals.events;
    uint64_t stop = at < s->walk->begin ? s->walk->begin : s->end;
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

/* Reads one event beyond the end, because a mark before the call `end` may be in the chunk of that
 * call. */
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
            return s->walk->marks != NULL || s->walk->requests != NULL ? read_marks_of_end(s, err)
                                                                       : AB_OK;
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
    struct state *s = ab_alloc_zeroed(1, sizeof *s);
    enum ab_status status = AB_OK;
    s->walk = walk;
    s->end = walk->end != 0 ? walk->end : UINT64_MAX;
    struct ab_trace_options options = {.is_partial = walk->is_partial,
                                       .has_thread_ends = walk->has_thread_ends,
                                       .sites = walk->sites,
                                       .marks = walk->marks,
                                       .requests = walk->requests,
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

/* ---- the book: follows blocks by slot, and finds every impossible call ---- */

void ab_trace_book_fini(struct ab_trace_book *b)
{
    free(b->slots);
    free(b->ended);
    *b = (struct ab_trace_book){0};
}

/* Adds a slot. Slots are numbered without gaps, so that the first unknown one is new. */
static void add_slot(struct ab_trace_book *b)
{
    AB_GROW(b->slots, b->cap_slots, b->n_slots);
    b->slots[b->n_slots++] = (struct ab_live_block){0};
    b->totals.slots = b->n_slots;
}

static void note_live(struct ab_trace_info *t, uint64_t old_size, uint64_t new_size)
{
    t->live_end_bytes += new_size - old_size;
    t->total_bytes += new_size;
    if (t->live_end_bytes > t->live_peak_bytes)
        t->live_peak_bytes = t->live_end_bytes;
    if (t->live_end_blocks > t->live_peak_blocks)
        t->live_peak_blocks = t->live_end_blocks;
}

static const char *take_alloc(struct ab_trace_book *b, const struct ab_event *e,
                              struct ab_live_block *was)
{
    if (e->slot > b->n_slots)
        return "an allocation in a slot past the next new one";
    if (e->slot == b->n_slots)
        add_slot(b);
    struct ab_live_block *block = &b->slots[e->slot];
    if (block->is_live)
        return "an allocation of a block that is live";
    if (e->block != b->next_number)
        return "an allocation whose number is not the next";
    *block = (struct ab_live_block){
        .number = b->next_number++,
        .size = e->size,
        .align = e->align,
        .born_event = b->totals.events,
        .born_bytes = b->totals.total_bytes + e->size,
        .known_pages = e->known_pages,
        .written_pages = e->written_pages,
        .thread = e->thread,
        .kind = e->kind,
        .is_live = true,
    };
    *was = *block;
    b->totals.live_end_blocks++;
    note_live(&b->totals, 0, e->size);
    return NULL;
}

static const char *take_known(struct ab_trace_book *b, const struct ab_event *e,
                              struct ab_live_block *was)
{
    bool is_free = e->kind == AB_EVENT_FREE;
    if (e->slot >= b->n_slots || !b->slots[e->slot].is_live)
        return is_free ? "a free of a block that is not live"
                       : "a resize of a block that is not live";
    struct ab_live_block *block = &b->slots[e->slot];
    if (e->block != block->number)
        return "a block with the number of another";
    *was = *block;
    if (is_free || e->released) {
        block->is_live = false;
        b->totals.live_end_blocks--;
        note_live(&b->totals, block->size, 0);
    } else if (!e->failed) {
        note_live(&b->totals, block->size, e->size);
        block->size = e->size;
        block->align = 0;
        block->known_pages = e->known_pages;
        block->written_pages = e->written_pages;
        block->kind = AB_EVENT_ALLOC;
        block->thread = e->thread;
    }
    return NULL;
}

static bool has_ended(const struct ab_trace_book *b, uint32_t thread)
{
    return thread / 8 < b->cap_ended && (b->ended[thread / 8] >> thread % 8 & 1) != 0;
}

static const char *end_thread(struct ab_trace_book *b, uint32_t thread)
{
    if (thread >= b->totals.threads)
        return "the end of a thread without calls";
    AB_GROW_ZEROED(b->ended, b->cap_ended, thread / 8);
    b->ended[thread / 8] |= (uint8_t)(1u << thread % 8);
    b->totals.thread_ends++;
    return NULL;
}

static const char *check_order(const struct ab_trace_book *b, const struct ab_event *e)
{
    if (e->thread > b->totals.threads)
        return "a thread whose number is not the next new one";
    if (has_ended(b, e->thread))
        return "an event of a thread that has ended";
    return e->time_us < b->totals.time_us ? "a time before that of the event before" : NULL;
}

const char *ab_trace_book_take(struct ab_trace_book *b, const struct ab_event *e,
                               struct ab_live_block *was)
{
    const char *wrong = e->kind > AB_EVENT_THREAD_END ? "an event of unknown kind"
                                                      : check_order(b, e);
    was->is_live = false;
    if (wrong != NULL)
        return wrong;
    b->totals.time_us = e->time_us;
    if (e->kind == AB_EVENT_THREAD_END)
        return end_thread(b, e->thread);
    if (e->kind == AB_EVENT_FREE || e->kind == AB_EVENT_RESIZE)
        wrong = take_known(b, e, was);
    else if (!e->failed)
        wrong = take_alloc(b, e, was);
    if (wrong != NULL)
        return wrong;
    if (e->thread == b->totals.threads)
        b->totals.threads++;
    b->totals.events++;
    b->totals.ops[e->kind]++;
    b->totals.failed += e->failed;
    return NULL;
}

/* ---- comparing the totals of the events with those in the file ---- */

static const struct {
    const char *name;
    size_t offset;
} totals[] = {
#define ROW(field, name) {name, offsetof(struct ab_trace_info, field)},
    AB_TRACE_TOTALS(ROW)
#undef ROW
        {"slots", offsetof(struct ab_trace_info, slots)},
};

static uint64_t value_of(const struct ab_trace_info *info, size_t i)
{
    return *(const uint64_t *)(const void *)((const char *)info + totals[i].offset);
}

const char *ab_trace_totals_differ(const struct ab_trace_info *reckoned,
                                   const struct ab_trace_info *stated, uint64_t values[2])
{
    for (size_t i = 0; i < AB_ARRAY_LEN(totals); i++) {
        values[0] = value_of(reckoned, i);
        values[1] = value_of(stated, i);
        if (values[0] != values[1])
            return totals[i].name;
    }
    return NULL;
}

static enum ab_status check_trace_visit(void *user, const struct ab_walk_batch *batch,
                                        struct ab_err *err)
{
    uint64_t values[2];
    (void)user;
    if (batch->where != AB_WALK_END)
        return AB_OK;
    const char *differs = ab_trace_totals_differ(&batch->book->totals, batch->info, values);
    if (differs == NULL)
        return AB_OK;
    return ab_fail(err, AB_INPUT, "the end mark declares %llu %s; the events have %llu",
                   (unsigned long long)values[1], differs, (unsigned long long)values[0]);
}

enum ab_status ab_trace_check(const struct ab_walk *walk, struct ab_trace_info *info,
                              struct ab_err *err)
{
    struct ab_walk own = *walk;
    struct ab_site_table sites = {0};
    struct ab_mark_table marks = {0}, requests = {0};
    own.begin = own.end = 0;
    own.has_thread_ends = true;
    own.visit = check_trace_visit;
    own.sites = &sites;
    own.marks = &marks;
    own.requests = &requests;
    enum ab_status status = ab_trace_walk(&own, info, err);
    ab_site_table_fini(&sites);
    ab_mark_table_fini(&marks);
    ab_mark_table_fini(&requests);
    return status;
}
