/* SPDX-License-Identifier: MIT
 *
 * Keeps the live blocks by age. What outlives an end says how far back the span goes: ends whose youngest
 * survivor is younger than that of a later one lie within the span of that one.
 */
#include "trace_tools/scope/spans.h"

#include "base/bits.h"
#include "core/grow.h"
#include "trace_tools/scope/search.h"
#include "trace_tools/walk.h"

#include <stdlib.h>
#include <string.h>

struct block {       /* by slot + 1; [0]: the youngest is older than it, the oldest younger */
    uint64_t after;  /* the call behind that which made it; 0 = there is none */
    uint64_t allocs; /* so far, then */
    uint32_t older, younger;
};

struct passed { /* an end, and behind which call all that outlives it is older */
    uint64_t end, after, allocs;
};

struct state {
    const struct ab_scopes *scopes;
    struct ab_scope_spans *out;
    uint64_t *ends; /* all, ascending */
    size_t n_ends, at;
    struct block *blocks;
    size_t cap_blocks;
    struct passed
        *passed; /* the youngest survivor of each is younger than that of the one before */
    size_t n_passed, cap_passed;
    uint64_t allocs;
    uint32_t thread; /* the one that is looked at; of all threads, the only one */
    bool has_thread, has_others;
};

void ab_scope_spans_fini(struct ab_scope_spans *s)
{
    free(s->items);
    *s = (struct ab_scope_spans){0};
}

static void leave(struct state *s, uint32_t i)
{
    struct block *b = &s->blocks[i];
    if (b->after == 0)
        return;
    s->blocks[b->older].younger = b->younger;
    s->blocks[b->younger].older = b->older;
    b->after = 0;
}

static void join(struct state *s, uint32_t i, uint64_t call)
{
    uint32_t youngest = s->blocks[0].older;
    s->blocks[i] = (struct block){call + 1, s->allocs, youngest, 0};
    s->blocks[youngest].younger = s->blocks[0].older = i;
}

static bool end_span(struct state *s, uint64_t end)
{
    const struct block *survivor = &s->blocks[s->blocks[0].older];
    struct passed begin = {.end = survivor->after, .allocs = survivor->allocs};
    while (s->n_passed > 0 && s->passed[s->n_passed - 1].after > survivor->after)
        s->n_passed--;
    if (s->n_passed > 0 && s->passed[s->n_passed - 1].after == survivor->after)
        begin = s->passed[--s->n_passed];
    AB_GROW(s->passed, s->cap_passed, s->n_passed);
    AB_GROW(s->out->items, s->out->cap, s->out->n);
    s->passed[s->n_passed++] = (struct passed){end, survivor->after, s->allocs};
    if (s->allocs - begin.allocs >= AB_SCOPE_ALLOCS_LEAST)
        s->out->items[s->out->n++] = (struct ab_scope_span){begin.end, end};
    return true;
}

static bool take(struct state *s, const struct ab_event *e, uint64_t call)
{
    uint32_t i = e->slot + 1;
    AB_GROW_ZEROED(s->blocks, s->cap_blocks, i);
    for (; s->at < s->n_ends && s->ends[s->at] <= call; s->at++)
        if (!end_span(s, s->ends[s->at]))
            return false;
    if (!s->has_thread)
        s->thread = e->thread;
    s->has_thread = true;
    s->has_others = s->has_others || e->thread != s->thread;
    if (e->kind == AB_EVENT_FREE || e->released) {
        leave(s, i);
    } else if (e->thread == s->thread && (e->kind == AB_EVENT_RESIZE || ab_event_gives_block(e))) {
        s->allocs += e->kind != AB_EVENT_RESIZE;
        leave(s, i); /* a resize may move it */
        join(s, i, call);
    }
    return true;
}

static enum ab_status visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct state *s = user;
    bool ok = true;
    for (size_t i = 0; i < batch->n && ok; i++)
        ok = take(s, &batch->events[i], batch->first + i);
    for (; batch->where == AB_WALK_END && s->at < s->n_ends && ok; s->at++)
        ok = end_span(s, s->ends[s->at]);
    return ok ? AB_OK : ab_fail(err, AB_SYSTEM, "out of memory for the scopes");
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return AB_COMPARE(*x, *y);
}

static int by_begin(const void *a, const void *b)
{
    const struct ab_scope_span *x = a, *y = b;
    return x->begin != y->begin ? AB_COMPARE(x->begin, y->begin) : AB_COMPARE(y->end, x->end);
}

static bool begin(struct state *s)
{
    const struct ab_scopes *from = s->scopes;
    size_t n = from->n + from->n_more;
    s->ends = malloc((n + 1) * sizeof s->ends[0]);
    if (s->ends == NULL)
        return false;
    AB_GROW_ZEROED(s->blocks, s->cap_blocks, 0);
    memcpy(s->ends, from->ends, from->n * sizeof s->ends[0]);
    if (from->n_more > 0)
        memcpy(s->ends + from->n, from->more, from->n_more * sizeof s->ends[0]);
    qsort(s->ends, n, sizeof s->ends[0], by_value);
    for (size_t i = 0; i < n; i++)
        if (s->n_ends == 0 || s->ends[i] != s->ends[s->n_ends - 1])
            s->ends[s->n_ends++] = s->ends[i];
    return true;
}

enum ab_status ab_scope_spans_find(const char *trace_path, bool is_partial,
                                   const struct ab_scopes *scopes, struct ab_scope_spans *out,
                                   struct ab_err *err)
{
    struct state s = {
        .scopes = scopes, .out = out, .has_thread = scopes->is_of_thread, .thread = scopes->thread};
    const struct ab_walk walk = {.path = trace_path,
                                 .is_partial = is_partial,
                                 .end = UINT64_MAX,
                                 .visit = visit,
                                 .user = &s};
    if (scopes->n == 0)
        return AB_OK;
    enum ab_status status = begin(&s) ? ab_trace_walk(&walk, NULL, err)
                                      : ab_fail(err, AB_SYSTEM, "out of memory for the scopes");
    if (s.has_others && !scopes->is_of_thread)
        out->n = 0;
    if (out->n > 0)
        qsort(out->items, out->n, sizeof out->items[0], by_begin);
    free(s.ends);
    free(s.blocks);
    free(s.passed);
    return status;
}
