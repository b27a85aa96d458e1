/* SPDX-License-Identifier: MIT
 *
 * Reads all traces at once, a batch of each, and writes the event that comes next.
 */
#include "trace_tools/merge.h"

#include "core/grow.h"
#include "core/text.h"
#include "trace/reader.h"
#include "trace_tools/rewrite.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 256 };

struct input {
    struct ab_trace_reader *reader;
    struct ab_original original;
    struct ab_site_table sites;
    struct ab_rewrite_marks marks;
    uint32_t *stacks; /* by stack: its number in the merged trace; 0 = not met yet */
    size_t cap_stacks;
    struct ab_event events[BATCH];
    size_t at, n;
    uint64_t n_done, n_all; /* events, ends of threads too */
    uint64_t n_calls;       /* done */
};

struct state {
    const struct ab_merge_request *merge;
    struct input *inputs;
    struct input **heap; /* side by side: those that have events; the one that is next on top */
    size_t n_heap;
    size_t first; /* of a serial merge: the one that is being read */
    bool has_time;
    uint64_t base_us, last_us; /* serial: where the one that is being read begins */
    struct ab_rewrite out;
    struct ab_site_table sites; /* of the merged trace */
    struct ab_mark_table marks;
    uint64_t n_written;
    struct ab_merge_report report;
};

/* wants_all: call sites and marks too. */
static enum ab_status open_one(const struct state *s, size_t i, bool wants_all,
                               struct ab_trace_reader **out, struct ab_err *err)
{
    struct ab_trace_options options = {.is_partial = s->merge->is_partial,
                                       .has_thread_ends = true,
                                       .sites = wants_all ? &s->inputs[i].sites : NULL,
                                       .marks = wants_all ? &s->inputs[i].marks.from : NULL};
    return ab_trace_open_with(s->merge->paths[i], &options, out, err);
}

/* How many events there are is known at the end of a file only. */
static enum ab_status count(struct state *s, size_t i, struct ab_err *err)
{
    struct ab_trace_reader *r;
    struct input *in = &s->inputs[i];
    size_t n = 1;
    if (strcmp(s->merge->paths[i], "-") == 0)
        return ab_fail(err, AB_USAGE,
                       "side by side the traces are read twice: give files, or --serial");
    AB_TRY(open_one(s, i, false, &r, err));
    enum ab_status status = AB_OK;
    while (status == AB_OK && n > 0) {
        status = ab_trace_next(r, in->events, BATCH, &n, err);
        if (status == AB_OK)
            in->n_all += n;
    }
    ab_trace_close(r);
    return status;
}

static enum ab_status fill(struct input *in, struct ab_err *err)
{
    in->at = 0;
    return ab_trace_next(in->reader, in->events, BATCH, &in->n, err);
}

/* Is the next event of a before that of b? Of equal ones that of the trace that was named first. */
static bool is_before(const struct state *s, const struct input *a, const struct input *b)
{
    __uint128_t at_a = a->events[a->at].time_us, at_b = b->events[b->at].time_us;
    if (!s->has_time) {
        at_a = (__uint128_t)(a->n_done + 1) * b->n_all;
        at_b = (__uint128_t)(b->n_done + 1) * a->n_all;
    }
    return at_a < at_b || (at_a == at_b && a < b);
}

/* Below place i all is in order. */
static void sift_down(struct state *s, size_t i)
{
    struct input *moved = s->heap[i];
    for (size_t child; (child = 2 * i + 1) < s->n_heap; i = child) {
        if (child + 1 < s->n_heap && is_before(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (!is_before(s, s->heap[child], moved))
            break;
        s->heap[i] = s->heap[child];
    }
    s->heap[i] = moved;
}

static enum ab_status begin_heap(struct state *s, struct ab_err *err)
{
    s->heap = calloc(s->merge->n, sizeof(struct input *));
    if (s->heap == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    for (size_t i = 0; i < s->merge->n; i++)
        if (s->inputs[i].n > 0)
            s->heap[s->n_heap++] = &s->inputs[i];
    for (size_t i = s->n_heap / 2; i-- > 0;)
        sift_down(s, i);
    return AB_OK;
}

/* NULL when all is written. */
static struct input *next_input(struct state *s)
{
    if (!s->merge->is_serial)
        return s->n_heap > 0 ? s->heap[0] : NULL;
    while (s->first < s->merge->n && s->inputs[s->first].n == 0) {
        s->first++;
        s->base_us = s->last_us;
    }
    return s->first < s->merge->n ? &s->inputs[s->first] : NULL;
}

/* The one on top has gone on. */
static void settle_next(struct state *s)
{
    if (s->merge->is_serial)
        return;
    if (s->heap[0]->n == 0)
        s->heap[0] = s->heap[--s->n_heap];
    if (s->n_heap > 0)
        sift_down(s, 0);
}

/* Programs that have files in common share the call sites in them. */
static void find_site(struct state *s, struct input *in, uint32_t *site)
{
    AB_GROW_ZEROED(in->stacks, in->cap_stacks, *site);
    uint32_t *known = &in->stacks[*site];
    if (*known == 0)
        *known = ab_site_know_stack_of(&s->sites, &in->sites, *site);
    *site = *known;
}

/* Those ahead of the next call; call UINT64_MAX: all that are left. */
static enum ab_status put_marks(struct state *s, struct input *in, uint64_t call,
                                struct ab_err *err)
{
    in->marks.has_time = s->has_time;
    in->marks.to_us = s->base_us;
    return ab_rewrite_marks_put(&in->marks, &s->out, &in->original, call, &s->marks, err);
}

static enum ab_status put_next(struct state *s, struct input *in, struct ab_err *err)
{
    enum { TELL_EVERY = 1 << 16 };
    struct ab_event e = in->events[in->at++];
    e.time_us = s->has_time ? s->base_us + e.time_us : 0;
    s->last_us = e.time_us;
    in->n_done++;
    if (e.site != 0)
        find_site(s, in, &e.site);
    if (e.kind != AB_EVENT_THREAD_END)
        AB_TRY(put_marks(s, in, in->n_calls++, err));
    AB_TRY(ab_rewrite_put(&s->out, &in->original, &e, err));
    if (++s->n_written % TELL_EVERY == 0 && s->merge->progress != NULL)
        s->merge->progress(s->merge->user, s->n_written);
    if (in->at == in->n)
        AB_TRY(fill(in, err));
    return in->n > 0 ? AB_OK : put_marks(s, in, UINT64_MAX, err);
}

/* "a+b", or one name where all have the same; "" where one is unknown. */
static void name_program(const struct state *s, char *name, size_t cap)
{
    name[0] = 0;
    for (size_t i = 0; i < s->merge->n; i++) {
        const char *program = ab_trace_reader_info(s->inputs[i].reader)->program;
        if (program[0] == 0) {
            name[0] = 0;
            return;
        }
        if (i == 0 || strcmp(program, ab_trace_reader_info(s->inputs[0].reader)->program) != 0)
            ab_text_join(name, cap, "+", program);
    }
}

static enum ab_status open_all(struct state *s, struct ab_err *err)
{
    char program[256];
    bool any_time = false;
    s->has_time = true;
    for (size_t i = 0; i < s->merge->n; i++) {
        if (!s->merge->is_serial)
            AB_TRY(count(s, i, err));
        AB_TRY(open_one(s, i, true, &s->inputs[i].reader, err));
        bool has_time = ab_trace_reader_info(s->inputs[i].reader)->has_time;
        s->has_time = s->has_time && has_time;
        any_time = any_time || has_time;
        AB_TRY(fill(&s->inputs[i], err));
    }
    s->report.is_by_time = s->has_time && !s->merge->is_serial;
    s->report.has_lost_times = any_time && !s->has_time;
    name_program(s, program, sizeof program);
    struct ab_trace_writer_options options = {
        .program = program, .sites = &s->sites, .marks = &s->marks, .has_time = s->has_time};
    return ab_trace_writer_open_with(s->merge->to, &options, &s->out.writer, err);
}

static enum ab_status merge_all(struct state *s, struct ab_err *err)
{
    struct input *in;
    AB_TRY(open_all(s, err));
    if (!s->merge->is_serial)
        AB_TRY(begin_heap(s, err));
    while ((in = next_input(s)) != NULL) {
        AB_TRY(put_next(s, in, err));
        settle_next(s);
    }
    enum ab_status status = ab_trace_writer_close(s->out.writer, &s->report.info, err);
    s->out.writer = NULL;
    s->report.n_lost_marks = s->marks.n_lost;
    return status;
}

enum ab_status ab_trace_merge(const struct ab_merge_request *merge, struct ab_merge_report *report,
                              struct ab_err *err)
{
    struct state s = {.merge = merge,
                      .inputs = calloc(merge->n, sizeof s.inputs[0]),
                      .marks.most = merge->most_marks};
    if (s.inputs == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    enum ab_status status = merge_all(&s, err);
    if (status == AB_OK)
        *report = s.report;
    for (size_t i = 0; i < merge->n; i++) {
        ab_trace_close(s.inputs[i].reader);
        ab_original_fini(&s.inputs[i].original);
        ab_site_table_fini(&s.inputs[i].sites);
        ab_rewrite_marks_fini(&s.inputs[i].marks);
        free(s.inputs[i].stacks);
    }
    ab_trace_writer_abandon(s.out.writer);
    ab_site_table_fini(&s.sites);
    ab_mark_table_fini(&s.marks);
    free((void *)s.heap);
    free(s.inputs);
    return status;
}
