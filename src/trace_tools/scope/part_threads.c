/* SPDX-License-Identifier: MIT
 *
 * Scopes of all threads together, or of each by itself? By how many there are, and by the blocks that
 * live on at the ends of the ones and not at those of the others.
 */
#include "trace_tools/scope/part_threads.h"

#include "core/grow.h"
#include "trace_tools/walk.h"

#include <stdlib.h>

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
    (void)err;
    for (size_t i = 0; i < batch->n; i++) {
        const struct ab_event *e = &batch->events[i];
        uint64_t call = batch->first + i;
        AB_GROW_ZEROED(c->births, c->cap, e->slot);
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
    const struct ab_walk walk = {.path = path,
                                 .is_partial = is_partial,
                                 .end = UINT64_MAX,
                                 .visit = count_crossing,
                                 .user = &c};
    enum ab_status status = ab_trace_walk(&walk, NULL, err);
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
