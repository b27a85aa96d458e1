/* SPDX-License-Identifier: MIT
 *
 * Maps blocks, threads and marks of an original to those of the new trace. Selects the events of
 * one trace, or orders those of several.
 */
#include "trace_tools/rewrite.h"

#include "base/bits.h"
#include "core/alloc.h"
#include "core/text.h"
#include "trace/reader.h"
#include "trace/writer.h"

#include <stdlib.h>
#include <string.h>

struct rewrite { /* the new trace */
    struct ab_trace_writer *writer;
    uint32_t n_threads;
    uint64_t n_calls;
};

struct original { /* a trace that is read; zero-initialize it */
    /* number in the new trace + 1 of the block in a slot, by slot; 0 = not in the new trace */
    uint64_t *numbers;
    size_t cap_numbers;
    /* number of a thread in the new trace + 1, by thread; 0 = not in the new trace */
    uint32_t *threads;
    size_t cap_threads;
};

static void forget_original(struct original *from)
{
    free(from->numbers);
    free(from->threads);
    *from = (struct original){0};
}

static bool is_on_block(const struct ab_event *e)
{
    return e->kind == AB_EVENT_FREE || e->kind == AB_EVENT_RESIZE;
}

/* True if the block of the event, or the thread that ends, is in the new trace. Always true for
 * allocations. */
static bool knows(const struct original *from, const struct ab_event *e)
{
    if (e->kind == AB_EVENT_THREAD_END)
        return e->thread < from->cap_threads && from->threads[e->thread] != 0;
    return !is_on_block(e) || (e->slot < from->cap_numbers && from->numbers[e->slot] != 0);
}

static void find_thread(struct rewrite *to, struct original *from, uint32_t thread, uint32_t *out)
{
    AB_GROW_ZEROED(from->threads, from->cap_threads, thread);
    if (from->threads[thread] == 0)
        from->threads[thread] = ++to->n_threads;
    *out = from->threads[thread] - 1;
}

/* Writes one event whose block is in the new trace. `slot` and `thread` of the event are those of
 * the original. */
static enum ab_status put_event(struct rewrite *to, struct original *from, const struct ab_event *e,
                                struct ab_err *err)
{
    struct ab_event own = *e;
    uint64_t number = AB_NO_BLOCK;
    find_thread(to, from, e->thread, &own.thread);
    AB_GROW_ZEROED(from->numbers, from->cap_numbers, e->slot);
    if (is_on_block(e)) {
        own.block = from->numbers[e->slot] - 1;
        if (e->kind == AB_EVENT_FREE || e->released)
            from->numbers[e->slot] = 0;
    }
    enum ab_status status = ab_trace_write(to->writer, &own, &number, err);
    to->n_calls += e->kind != AB_EVENT_THREAD_END;
    if (status == AB_OK && number != AB_NO_BLOCK)
        from->numbers[e->slot] = number + 1;
    return status;
}

/* ---- marks: they stay between the same calls, of which some may be gone ---- */

/* Marks of an original that are copied to the new trace. */
struct marks {                 /* zero-initialize it, except where noted */
    struct ab_mark_table from; /* marks of the original; passed to its reader as an option */
    size_t next;               /* index in `from` of the next mark */
    bool is_anonymous;         /* True to rename marks to "mark-1", "mark-2" … */
    /* number of a name in the new trace + 1, by name; 0 = not there yet */
    uint32_t *numbers;
    size_t cap_numbers;
    bool has_time; /* True if times of the original are valid in the new trace */
    /* `from_us` in the original is `to_us` in the new trace; earlier marks have no time */
    uint64_t from_us, to_us;
};

static void forget_marks(struct marks *m)
{
    ab_mark_table_fini(&m->from);
    free(m->numbers);
    m->numbers = NULL;
    m->next = m->cap_numbers = 0;
}

/* Skips the marks before call `call` of the original. */
static void skip_marks(struct marks *m, uint64_t call)
{
    while (m->next < m->from.n && m->from.marks[m->next].call <= call)
        m->next++;
}

static bool is_library_call(const char *name)
{
#define NAME(shown, symbol, how) shown,
    static const char *const names[] = {
#include "base/library_calls.def"
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* True if the name must be hidden. Functions of malloc libraries are public. */
static bool hides_name(const struct marks *m, uint32_t name)
{
    return m->is_anonymous && !(m->from.is_of_requests && is_library_call(m->from.names[name]));
}

/* Returns the number in the new trace of name `name` of the original. Searches once per name, not
 * once per mark, because there may be many marks and many names. */
static uint32_t know_name(struct marks *m, uint32_t name, struct ab_mark_table *out)
{
    char anonymous[32];
    AB_GROW_ZEROED(m->numbers, m->cap_numbers, name);
    if (m->numbers[name] == 0) {
        AB_FIT(anonymous, out->is_of_requests ? "call_%u" : "mark-%u", name + 1);
        m->numbers[name] =
            ab_mark_know_name(out, hides_name(m, name) ? anonymous : m->from.names[name]) + 1;
    }
    return m->numbers[name] - 1;
}

static void put_mark(struct marks *m, const struct ab_trace_mark *mark, const struct rewrite *to,
                     const struct original *original, struct ab_mark_table *out)
{
    struct ab_trace_mark own = {.call = to->n_calls, .thread = AB_MARK_NO_THREAD};
    if (mark->thread < original->cap_threads && original->threads[mark->thread] != 0)
        own.thread = original->threads[mark->thread] - 1;
    if (out->is_of_requests)
        own.argument = mark->argument;
    else if (m->has_time && mark->time_us >= m->from_us)
        own.time_us = mark->time_us - m->from_us + m->to_us;
    own.name = know_name(m, mark->name, out);
    ab_mark_add(out, own);
}

/* Adds the marks before call `call` of the original to `out`, the table of the new trace, at the
 * current end of that trace. */
static void put_marks(struct marks *m, const struct rewrite *to, const struct original *original,
                      uint64_t call, struct ab_mark_table *out)
{
    for (; m->next < m->from.n && m->from.marks[m->next].call <= call; m->next++)
        put_mark(m, &m->from.marks[m->next], to, original, out);
}

/* ---- a part of one trace ---- */

/* Blocks that are live at the beginning and kept become allocations. These have the current size of
 * the block, the alignment unless the block was resized since, and the thread that made the
 * block. */

struct part {
    const struct ab_filter *filter; /* NULL = a range */
    bool is_keeping_live;
    FILE *to;
    struct rewrite out;
    struct original whole;
    /* call sites of the whole file; allocations for kept blocks have none */
    struct ab_site_table sites;
    struct ab_site_table own_sites; /* call sites of an anonymous part */
    /* number of a stack in own_sites, by stack; 0 = not there yet */
    uint32_t *stacks;
    size_t cap_stacks;
    struct marks marks, requests;
    /* all marks and requests of the part, at their new positions */
    struct ab_mark_table kept_marks, kept_requests;
    struct ab_trace_whole program;
    struct ab_walk walk;
    bool has_first;    /* True if an event of the part has been written */
    uint64_t first_us; /* time in the original of the first event, which becomes 0 */
    struct ab_cut_report report;
};

struct kept {
    uint64_t number;
    uint32_t slot;
};

static int by_number(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    return AB_COMPARE(x->number, y->number);
}

static enum ab_status keep_live(struct part *p, const struct ab_trace_book *book,
                                struct ab_err *err)
{
    size_t n = 0;
    enum ab_status status = AB_OK;
    struct kept *kept = ab_alloc((size_t)book->totals.live_end_blocks * sizeof kept[0] + 1);
    for (uint32_t slot = 0; slot < book->n_slots; slot++)
        if (book->slots[slot].is_live)
            kept[n++] = (struct kept){book->slots[slot].number, slot};
    qsort(kept, n, sizeof kept[0], by_number);
    for (size_t i = 0; i < n && status == AB_OK; i++) {
        const struct ab_live_block *block = &book->slots[kept[i].slot];
        struct ab_event alloc = {.kind = block->kind,
                                 .slot = kept[i].slot,
                                 .thread = block->thread,
                                 .size = block->size,
                                 .align = block->align,
                                 .known_pages = block->known_pages,
                                 .written_pages = block->written_pages};
        status = put_event(&p->out, &p->whole, &alloc, err);
    }
    p->report.n_kept = n;
    free(kept);
    return status;
}

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

/* True if an event belongs to the part. A call on a block belongs to it if the block's allocation
 * does. */
static bool is_wanted(const struct part *p, const struct ab_event *e, uint64_t number)
{
    const struct ab_filter *f = p->filter;
    if (f == NULL || e->kind > AB_EVENT_ALLOC_ALIGNED)
        return knows(&p->whole, e);
    return (f->has_site == NULL || f->has_site(f->site_user, &p->sites, e->site)) &&
           has_thread(f, e->thread) && is_within(f->sizes, e->size) &&
           is_within(f->events, number) && (!f->has_times || is_within(f->times_us, e->time_us));
}

/* Returns how many of the file's first events can be in the part. If only some of the inherited
 * blocks are, the new trace cannot call them inherited. */
static uint64_t first_events(const struct part *p)
{
    const struct ab_filter *f = p->filter;
    if (f == NULL)
        return p->walk.begin == 0 ? p->walk.end : 0;
    bool is_all = f->has_site == NULL && f->n_threads == 0 && f->sizes.first == 0 &&
                  f->sizes.end == UINT64_MAX && f->events.first == 0 &&
                  f->events.end == UINT64_MAX && !f->has_times;
    return is_all ? UINT64_MAX : 0;
}

static bool has_own_sites(const struct part *p)
{
    return p->marks.is_anonymous && p->filter->know_site != NULL;
}

static enum ab_status begin_part(struct part *p, const struct ab_walk_batch *batch,
                                 struct ab_err *err)
{
    bool is_anonymous = p->marks.is_anonymous, has_time = batch->info->has_time;
    struct ab_trace_writer_options options = {.program = is_anonymous ? "" : batch->info->program,
                                              .sites = has_own_sites(p) ? &p->own_sites
                                                       : is_anonymous   ? NULL
                                                                        : &p->sites,
                                              .marks = &p->kept_marks,
                                              .requests = &p->kept_requests,
                                              .whole = &p->program,
                                              .has_time = has_time};
    if (p->filter != NULL && p->filter->has_times && !has_time)
        return ab_fail(err, AB_USAGE, "--time: the trace has no times");
    p->marks.has_time = has_time || first_events(p) > 0;
    p->marks.from_us = has_time ? UINT64_MAX : 0; /* set when an event is written */
    /* marks directly before the range end what was before it */
    if (p->walk.begin > 0)
        skip_marks(&p->marks, p->walk.begin);
    if (p->walk.begin > 0) /* requests directly before the range belong to it */
        skip_marks(&p->requests, p->walk.begin - 1);
    p->kept_requests.is_of_requests = true;
    AB_TRY(ab_trace_writer_open_with(p->to, &options, &p->out.writer, err));
    return p->is_keeping_live ? keep_live(p, batch->book, err) : AB_OK;
}

static uint32_t find_own_site(struct part *p, uint32_t stack)
{
    AB_GROW_ZEROED(p->stacks, p->cap_stacks, stack);
    if (p->stacks[stack] == 0)
        p->stacks[stack] = p->filter->know_site(p->filter->site_user, &p->sites, stack,
                                                &p->own_sites);
    return p->stacks[stack];
}

static enum ab_status take_event(struct part *p, const struct ab_event *e, uint64_t number,
                                 struct ab_err *err)
{
    struct ab_event own = *e;
    if (!is_wanted(p, e, number)) {
        p->report.n_dropped += e->kind != AB_EVENT_THREAD_END;
        return AB_OK;
    }
    if (!p->has_first)
        p->first_us = p->marks.from_us = e->time_us;
    p->has_first = true;
    own.time_us = e->time_us - p->first_us;
    if (has_own_sites(p) && e->site != 0)
        own.site = find_own_site(p, e->site);
    return put_event(&p->out, &p->whole, &own, err);
}

/* Copies the numbers about calls that bypassed the recorder, but not the names of libraries. */
static void keep_bypass(struct part *p, const struct ab_trace_bypass *bypass)
{
    struct ab_trace_bypass nameless = *bypass;
    memset(nameless.names, 0, sizeof nameless.names);
    nameless.n_names = 0;
    ab_trace_writer_bypass(p->out.writer, &nameless);
}

/* Adds the marks and requests before call `call` of the original. */
static void keep_marks(struct part *p, uint64_t call)
{
    put_marks(&p->marks, &p->out, &p->whole, call, &p->kept_marks);
    put_marks(&p->requests, &p->out, &p->whole, call, &p->kept_requests);
}

static enum ab_status take_part(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct part *p = user;
    uint64_t number = batch->first, n = batch->info->inherited, most = first_events(p);
    if (batch->where == AB_WALK_BEGIN)
        return begin_part(p, batch, err);
    if (batch->where == AB_WALK_EVENTS && number == 0 && !p->has_first && n > 0 && most > 0)
        AB_TRY(ab_trace_writer_inherit(p->out.writer, n < most ? n : most, err));
    for (size_t i = 0; i < batch->n; i++) {
        bool is_call = batch->events[i].kind != AB_EVENT_THREAD_END;
        if (is_call)
            keep_marks(p, number);
        AB_TRY(take_event(p, &batch->events[i], number, err));
        number += is_call;
    }
    if (batch->where == AB_WALK_END)
        keep_marks(p, p->walk.end);
    if (batch->where == AB_WALK_END && p->filter != NULL) /* a cut does not read to the end */
        p->program = batch->info->whole;
    if (batch->where == AB_WALK_END && p->marks.is_anonymous)
        keep_bypass(p, &batch->info->bypass);
    return AB_OK;
}

static enum ab_status check_filtered(const struct part *p, const struct ab_trace_info *before,
                                     struct ab_err *err)
{
    const struct ab_filter *f = p->filter;
    const char *path = AB_SHOWN(600, p->walk.path);
    for (size_t i = 0; i < f->n_threads; i++)
        if (f->threads[i].end > before->threads)
            return ab_fail(err, AB_USAGE, "%s: no thread %llu: the trace has %llu, counted from 0",
                           path, (unsigned long long)f->threads[i].end - 1,
                           (unsigned long long)before->threads);
    if (f->has_site != NULL && !before->has_sites)
        return ab_fail(err, AB_USAGE,
                       "%s: --site: the trace has no call sites; record with --sites", path);
    if (p->has_first || before->events == 0)
        return AB_OK;
    return ab_fail(err, AB_USAGE, "%s: none of its %llu events passes the filter", path,
                   (unsigned long long)before->events);
}

/* Writes the part. Sets *before to the totals of the whole file. */
static enum ab_status write_part(struct part *p, struct ab_trace_info *before, struct ab_err *err)
{
    p->walk.has_thread_ends = true;
    p->walk.visit = take_part;
    p->walk.user = p;
    p->walk.sites = p->marks.is_anonymous && !has_own_sites(p) ? NULL : &p->sites;
    p->walk.marks = &p->marks.from;
    p->walk.requests = &p->requests.from;
    enum ab_status status = ab_trace_walk(&p->walk, before, err);
    if (status == AB_OK && p->filter != NULL)
        status = check_filtered(p, before, err);
    if (status == AB_OK) {
        status = ab_trace_writer_close(p->out.writer, &p->report.info, err);
        p->out.writer = NULL;
    }
    ab_trace_writer_abandon(p->out.writer);
    forget_original(&p->whole);
    ab_site_table_fini(&p->sites);
    ab_site_table_fini(&p->own_sites);
    free(p->stacks);
    forget_marks(&p->marks);
    forget_marks(&p->requests);
    ab_mark_table_fini(&p->kept_marks);
    ab_mark_table_fini(&p->kept_requests);
    return status;
}

enum ab_status ab_trace_cut(const struct ab_walk *walk, bool is_keeping_live, FILE *to,
                            struct ab_cut_report *report, struct ab_err *err)
{
    struct part p = {.is_keeping_live = is_keeping_live, .to = to, .walk = *walk};
    AB_TRY(write_part(&p, NULL, err));
    *report = p.report;
    return AB_OK;
}

enum ab_status ab_trace_filter(const struct ab_walk *walk, const struct ab_filter *filter, FILE *to,
                               struct ab_filter_report *report, struct ab_err *err)
{
    struct part p = {.filter = filter,
                     .to = to,
                     .walk = *walk,
                     .marks.is_anonymous = filter->is_anonymous,
                     .requests.is_anonymous = filter->is_anonymous};
    struct ab_filter_report r;
    p.walk.begin = 0;
    p.walk.end = UINT64_MAX;
    AB_TRY(write_part(&p, &r.before, err));
    r.info = p.report.info;
    *report = r;
    return AB_OK;
}

/* ---- merging: reads all traces in parallel, in batches, and writes the earliest of their next
 * events ---- */

enum { BATCH = 256 };

struct input {
    struct ab_trace_reader *reader;
    struct original original;
    struct ab_site_table sites;
    struct marks marks, requests;
    uint32_t *stacks; /* number of a stack in the merged trace, by stack; 0 = not there yet */
    size_t cap_stacks;
    struct ab_event events[BATCH];
    size_t at, n;
    /* n_done: events written; n_all: events of the input; both include ends of threads */
    uint64_t n_done, n_all;
    uint64_t n_calls; /* number of calls written */
};

struct state {
    const struct ab_merge_request *merge;
    struct input *inputs;
    /* for merging side by side: heap of the inputs that have events, the one with the next event on
     * top */
    struct input **heap;
    size_t n_heap;
    size_t first; /* for serial merging: index of the current input */
    bool has_time;
    /* for serial merging: base_us is the time at which the current input begins */
    uint64_t base_us, last_us;
    struct rewrite out;
    struct ab_site_table sites; /* of the merged trace */
    struct ab_mark_table marks, requests;
    uint64_t n_written;
    struct ab_merge_report report;
};

/* Opens input i. If wants_all, its call sites and marks are read too. */
static enum ab_status open_one(const struct state *s, size_t i, bool wants_all,
                               struct ab_trace_reader **out, struct ab_err *err)
{
    struct ab_trace_options options = {.is_partial = s->merge->is_partial,
                                       .has_thread_ends = true,
                                       .sites = wants_all ? &s->inputs[i].sites : NULL,
                                       .marks = wants_all ? &s->inputs[i].marks.from : NULL,
                                       .requests = wants_all ? &s->inputs[i].requests.from : NULL};
    return ab_trace_open_with(s->merge->paths[i], &options, out, err);
}

/* Counts the events of input i in a pass over the file, because a file has their number only at its
 * end. */
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

/* True if the next event of `a` comes before that of `b`. If both come at the same time, the input
 * that was named first wins. */
static bool is_before(const struct state *s, const struct input *a, const struct input *b)
{
    __uint128_t at_a = a->events[a->at].time_us, at_b = b->events[b->at].time_us;
    if (!s->has_time) {
        at_a = (__uint128_t)(a->n_done + 1) * b->n_all;
        at_b = (__uint128_t)(b->n_done + 1) * a->n_all;
    }
    return at_a < at_b || (at_a == at_b && a < b);
}

/* Restores the order of the heap if only entry i may be out of order with the entries below it. */
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

static void begin_heap(struct state *s)
{
    s->heap = ab_alloc_zeroed(s->merge->n, sizeof(struct input *));
    for (size_t i = 0; i < s->merge->n; i++)
        if (s->inputs[i].n > 0)
            s->heap[s->n_heap++] = &s->inputs[i];
    for (size_t i = s->n_heap / 2; i-- > 0;)
        sift_down(s, i);
}

/* Returns the input that has the next event; NULL at the end. */
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

/* Restores the heap after the top input has moved on. */
static void settle_next(struct state *s)
{
    if (s->merge->is_serial)
        return;
    if (s->heap[0]->n == 0)
        s->heap[0] = s->heap[--s->n_heap];
    if (s->n_heap > 0)
        sift_down(s, 0);
}

/* Converts the site of an event to the merged table, in which programs with common files share
 * their sites. */
static void find_site(struct state *s, struct input *in, uint32_t *site)
{
    AB_GROW_ZEROED(in->stacks, in->cap_stacks, *site);
    uint32_t *known = &in->stacks[*site];
    if (*known == 0)
        *known = ab_site_know_stack_of(&s->sites, &in->sites, *site);
    *site = *known;
}

/* Adds the marks of an input before its call `call`; UINT64_MAX = all that are left. */
static void merge_marks(struct state *s, struct input *in, uint64_t call)
{
    in->marks.has_time = s->has_time;
    in->marks.to_us = s->base_us;
    put_marks(&in->marks, &s->out, &in->original, call, &s->marks);
    put_marks(&in->requests, &s->out, &in->original, call, &s->requests);
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
        merge_marks(s, in, in->n_calls++);
    AB_TRY(put_event(&s->out, &in->original, &e, err));
    if (++s->n_written % TELL_EVERY == 0 && s->merge->progress != NULL)
        s->merge->progress(s->merge->user, s->n_written);
    if (in->at == in->n)
        AB_TRY(fill(in, err));
    if (in->n == 0)
        merge_marks(s, in, UINT64_MAX);
    return AB_OK;
}

/* Names the merged program: "a+b", one name if all inputs have the same, "" if one is unknown. */
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
    struct ab_trace_writer_options options = {.program = program,
                                              .sites = &s->sites,
                                              .marks = &s->marks,
                                              .requests = &s->requests,
                                              .has_time = s->has_time};
    return ab_trace_writer_open_with(s->merge->to, &options, &s->out.writer, err);
}

static enum ab_status merge_all(struct state *s, struct ab_err *err)
{
    struct input *in;
    AB_TRY(open_all(s, err));
    if (!s->merge->is_serial)
        begin_heap(s);
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
                      .requests.is_of_requests = true,
                      .inputs = ab_alloc_zeroed(merge->n, sizeof s.inputs[0]),
                      .marks.most = merge->most_marks};
    enum ab_status status = merge_all(&s, err);
    if (status == AB_OK)
        *report = s.report;
    for (size_t i = 0; i < merge->n; i++) {
        ab_trace_close(s.inputs[i].reader);
        forget_original(&s.inputs[i].original);
        ab_site_table_fini(&s.inputs[i].sites);
        forget_marks(&s.inputs[i].marks);
        forget_marks(&s.inputs[i].requests);
        free(s.inputs[i].stacks);
    }
    ab_trace_writer_abandon(s.out.writer);
    ab_site_table_fini(&s.sites);
    ab_mark_table_fini(&s.marks);
    ab_mark_table_fini(&s.requests);
    free((void *)s.heap);
    free(s.inputs);
    return status;
}
