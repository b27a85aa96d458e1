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
    for (size_t i = 0; i < batch->n; i++) {
        const struct ab_event *e = &batch->events[i];
        if (!AB_GROW_ZEROED(c->allocs, c->cap, e->thread))
            return ab_fail(err, AB_SYSTEM, "out of memory for the scopes of threads");
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
    if (!AB_GROW(s->ends, s->cap, s->n))
        return false;
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
                          ab_scope_search_choose(c.searches[i], &choice);
        ab_scope_search_close(c.searches[i]);
        if (has_scopes)
            status = find_ends(trace_path, is_partial, c.threads[i], &choice, out, err);
    }
    free(counts.allocs);
    return status;
}

/* ---- whose scopes are they? ---- */

/* So many times as many scopes of all as one thread has are not those of threads that work on the
 * same. */
static const double MORE = 1.5;
enum {
    CROSSING_LEAST = 64
}; /* one in so many scopes: more than a block that lives on by mistake */

struct birth { /* of the block in a slot */
    uint64_t of_all, of_own;
    uint32_t place; /* of its thread in the list + 1; 0 = it has no scopes */
};

struct crossing {
    const struct ab_scopes *all;
    const struct ab_scopes_of_threads *threads;
    struct birth *births;
    size_t cap;
    uint64_t of_all, of_own[AB_SCOPES_OF_THREADS_MAX]; /* scopes, now */
    uint64_t n_all,
        n_own; /* blocks that outlive a scope of all, and none of their thread; and back */
};

static uint64_t go_on(uint64_t scope, const uint64_t *ends, size_t n, uint64_t call)
{
    while (scope < n && ends[scope] <= call)
        scope++;
    return scope;
}

static uint64_t own_scope(struct crossing *c, uint32_t place, uint64_t call)
{
    const struct ab_thread_scopes *t = &c->threads->items[place - 1];
    c->of_own[place - 1] = go_on(c->of_own[place - 1], t->ends, t->n, call);
    return c->of_own[place - 1];
}

static void note_end(struct crossing *c, struct birth *b, uint64_t call)
{
    if (b->place != 0) {
        bool outlives_all = c->of_all != b->of_all;
        bool outlives_own = own_scope(c, b->place, call) != b->of_own;
        c->n_all += outlives_all && !outlives_own;
        c->n_own += outlives_own && !outlives_all;
    }
    *b = (struct birth){0};
}

static uint32_t place_of(const struct ab_scopes_of_threads *threads, uint32_t thread)
{
    for (uint32_t i = 0; i < threads->n; i++)
        if (threads->items[i].thread == thread)
            return i + 1;
    return 0;
}

static enum ab_status count_crossing(void *user, const struct ab_walk_batch *batch,
                                     struct ab_err *err)
{
    struct crossing *c = user;
    for (size_t i = 0; i < batch->n; i++) {
        const struct ab_event *e = &batch->events[i];
        uint64_t call = batch->first + i;
        if (!AB_GROW_ZEROED(c->births, c->cap, e->slot))
            return ab_fail(err, AB_SYSTEM, "out of memory for the scopes of threads");
        struct birth *b = &c->births[e->slot];
        c->of_all = go_on(c->of_all, c->all->ends, c->all->n, call);
        if (e->kind == AB_EVENT_FREE || e->released)
            note_end(c, b, call);
        else if (e->kind != AB_EVENT_RESIZE && ab_event_gives_block(e)) {
            *b = (struct birth){.of_all = c->of_all, .place = place_of(c->threads, e->thread)};
            b->of_own = b->place != 0 ? own_scope(c, b->place, call) : 0;
        }
    }
    return AB_OK;
}

static enum ab_status are_of_threads(const char *path, bool is_partial,
                                     const struct ab_scopes *scopes,
                                     const struct ab_scopes_of_threads *threads, bool *out,
                                     struct ab_err *err)
{
    struct crossing c = {.all = scopes, .threads = threads};
    size_t n = 0, most = 0;
    for (size_t i = 0; i < threads->n; i++) {
        n += threads->items[i].n;
        most = threads->items[i].n > most ? threads->items[i].n : most;
    }
    *out = threads->n > 1 && (double)scopes->n > MORE * (double)most && n + n / 16 >= scopes->n;
    if (threads->n < 2 || *out)
        return AB_OK;
    enum ab_status status = walk(path, is_partial, count_crossing, &c, err);
    *out = c.n_all * CROSSING_LEAST > scopes->n && c.n_all > 2 * c.n_own;
    free(c.births);
    return status;
}

static void take_first(struct ab_scopes *scopes, struct ab_scopes_of_threads *threads)
{
    ab_scopes_fini(scopes);
    *scopes = (struct ab_scopes){.ends = threads->items[0].ends,
                                 .n = threads->items[0].n,
                                 .from = AB_SCOPES_FOUND,
                                 .is_of_thread = true,
                                 .thread = threads->items[0].thread};
    for (size_t i = 1; i < threads->n; i++)
        threads->items[i - 1] = threads->items[i];
    threads->n--;
}

enum ab_status ab_scopes_part_threads(const char *trace_path, bool is_partial,
                                      struct ab_scopes *scopes, struct ab_scopes_of_threads *out,
                                      struct ab_err *err)
{
    if (scopes->from != AB_SCOPES_FOUND)
        return AB_OK;
    AB_TRY(ab_scopes_of_threads_find(trace_path, is_partial,
                                     scopes->is_of_thread ? scopes->thread : AB_SCOPES_OF_ALL, out,
                                     err));
    if (scopes->is_of_thread)
        return AB_OK;
    bool is_of_threads;
    AB_TRY(are_of_threads(trace_path, is_partial, scopes, out, &is_of_threads, err));
    if (is_of_threads)
        take_first(scopes, out);
    else
        ab_scopes_of_threads_fini(out);
    return AB_OK;
}

void ab_scopes_of_threads_fini(struct ab_scopes_of_threads *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->items[i].ends);
    *s = (struct ab_scopes_of_threads){0};
}
