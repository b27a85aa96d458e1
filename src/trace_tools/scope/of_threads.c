/* SPDX-License-Identifier: MIT
 *
 * One pass counts what each thread allocates, one looks for scopes of those that allocate most, all in
 * it; then one for each says where they end: where many calls are looked at, that takes memory.
 */
#include "trace_tools/scope/of_threads.h"

#include "core/grow.h"
#include "trace_tools/scope/search.h"

#include <stdlib.h>

struct counts {
    uint64_t *allocs; /* by thread */
    size_t n, cap;
};

struct candidates {
    struct ab_scope_search *searches[AB_SCOPES_OF_THREADS_MAX];
    uint32_t threads[AB_SCOPES_OF_THREADS_MAX];
    size_t n;
};

static enum ab_status count(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct counts *c = user;
    (void)err;
    for (size_t i = 0; i < batch->n; i++) {
        const struct ab_event *e = &batch->events[i];
        AB_GROW_ZEROED(c->allocs, c->cap, e->thread);
        c->n = e->thread >= c->n ? e->thread + (size_t)1 : c->n;
        c->allocs[e->thread] += ab_event_gives_block(e);
    }
    return AB_OK;
}

static enum ab_status walk(const char *path, bool is_partial,
                           enum ab_status (*visit)(void *, const struct ab_walk_batch *,
                                                   struct ab_err *),
                           void *user, struct ab_err *err)
{
    const struct ab_walk walk = {
        .path = path, .is_partial = is_partial, .end = UINT64_MAX, .visit = visit, .user = user};
    return ab_trace_walk(&walk, NULL, err);
}

static enum ab_status choose_threads(struct counts *c, uint32_t first, struct candidates *out,
                                     struct ab_err *err)
{
    uint64_t least = first < c->n ? c->allocs[first] / AB_SCOPES_OF_THREADS_PART : 0;
    while (out->n < AB_SCOPES_OF_THREADS_MAX) {
        uint32_t best = 0;
        for (uint32_t i = 0; i < c->n; i++)
            if (i != first && (best == first || c->allocs[i] > c->allocs[best]))
                best = i;
        if (c->n == 0 || best == first || c->allocs[best] <= least)
            return AB_OK;
        if (first >= c->n && out->n == 0)
            least = c->allocs[best] / AB_SCOPES_OF_THREADS_PART;
        c->allocs[best] = 0;
        out->searches[out->n] = ab_scope_search_open(best);
        if (out->searches[out->n] == NULL)
            return ab_fail(err, AB_SYSTEM, "out of memory for the scopes of threads");
        out->threads[out->n++] = best;
    }
    return AB_OK;
}

static enum ab_status visit_all(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    const struct candidates *c = user;
    for (size_t i = 0; i < c->n; i++)
        AB_TRY(ab_scope_search_visit(c->searches[i], batch, err));
    return AB_OK;
}

static bool take_end(void *user, uint64_t end)
{
    struct ab_thread_scopes *s = user;
    AB_GROW(s->ends, s->cap, s->n);
    s->ends[s->n++] = end;
    return true;
}

static enum ab_status find_ends(const char *path, bool is_partial, uint32_t thread,
                                const struct ab_scope_choice *choice,
                                struct ab_scopes_of_threads *out, struct ab_err *err)
{
    struct ab_thread_scopes *s = &out->items[out->n++];
    struct ab_scope_search *search = ab_scope_search_open(thread);
    if (search == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory for the scopes of threads");
    s->thread = thread;
    ab_scope_search_emit(search, choice, take_end, s);
    enum ab_status status = walk(path, is_partial, ab_scope_search_visit, search, err);
    ab_scope_search_close(search);
    return status;
}

enum ab_status ab_scopes_of_threads_find(const char *trace_path, bool is_partial, uint32_t first,
                                         struct ab_scopes_of_threads *out, struct ab_err *err)
{
    struct counts counts = {0};
    struct candidates c = {.n = 0};
    enum ab_status status = walk(trace_path, is_partial, count, &counts, err);
    if (status == AB_OK)
        status = choose_threads(&counts, first, &c, err);
    bool is_asked = status == AB_OK && c.n > (first == AB_SCOPES_OF_ALL); /* one alone is all */
    if (is_asked)
        status = walk(trace_path, is_partial, visit_all, &c, err);
    for (size_t i = 0; i < c.n; i++) {
        struct ab_scope_choice choice;
        bool has_scopes = is_asked && status == AB_OK &&
                          ab_scope_search_choose(c.searches[i], AB_SCOPES_BEST, &choice);
        ab_scope_search_close(c.searches[i]);
        if (has_scopes)
            status = find_ends(trace_path, is_partial, c.threads[i], &choice, out, err);
    }
    free(counts.allocs);
    return status;
}

void ab_scopes_of_threads_fini(struct ab_scopes_of_threads *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->items[i].ends);
    *s = (struct ab_scopes_of_threads){0};
}
