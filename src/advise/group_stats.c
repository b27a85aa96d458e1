/* SPDX-License-Identifier: MIT
 *
 * Sums up lives by group: sizes, ends by scope, order of frees, threads, survivors.
 */
#include "advise/group_stats.h"

#include "advise/lives.h"
#include "base/bits.h"

#include <stdio.h>
#include <stdlib.h>

struct survey {
    struct ab_site_groups *groups;
    struct ab_lives lives;
};

static bool owner_of(void *user, const struct ab_event *e, uint32_t *owner)
{
    struct survey *s = user;
    *owner = ab_site_groups_of(s->groups, e);
    return *owner != UINT32_MAX;
}

static void count_size(struct ab_advice_group *g, uint64_t size)
{
    uint32_t n = g->n_sizes > AB_ADVICE_SIZES ? AB_ADVICE_SIZES : g->n_sizes;
    for (uint32_t i = 0; i < n; i++)
        if (g->sizes[i].bytes == size) {
            g->sizes[i].calls++;
            return;
        }
    if (n < AB_ADVICE_SIZES)
        g->sizes[n] = (struct ab_advice_size){size, 1};
    g->n_sizes = n + 1;
}

static void given(void *user, const struct ab_event *e, uint32_t owner)
{
    struct survey *s = user;
    struct ab_advice_group *g = &s->groups->items[owner];
    g->size_least = g->calls == 0 || e->size < g->size_least ? e->size : g->size_least;
    g->size_most = e->size > g->size_most ? e->size : g->size_most;
    if (e->kind == AB_EVENT_ALLOC_ALIGNED && e->align > g->align_most)
        g->align_most = e->align;
    if (g->n_threads == 0)
        g->thread = e->thread;
    g->n_threads = g->n_threads == 0 || (g->n_threads == 1 && g->thread == e->thread) ? 1 : 2;
    g->resizes += e->kind == AB_EVENT_RESIZE;
    g->calls++;
    g->bytes += e->size;
    count_size(g, e->size);
}

static void note_survivor(struct survey *s, struct ab_advice_group *g, const struct ab_life *life,
                          bool is_freed)
{
    if (g->n_survivors < AB_ADVICE_SURVIVORS)
        g->survivors[g->n_survivors] = (struct ab_advice_survivor){
            life->size, life->scope,
            is_freed ? ab_lives_scope(&s->lives, life->thread) : AB_ADVICE_NEVER};
    g->n_survivors++;
}

/* Ends of scopes are where the program said so or where nothing short-lived is left: what still lives
 * when the trace ends has outlived all that. */
static void count_scope(struct survey *s, struct ab_advice_group *g, const struct ab_life *life,
                        bool is_freed)
{
    uint64_t scopes = ab_lives_outlived(&s->lives, life);
    if (is_freed && scopes == 0) {
        g->in_scope++;
        return;
    }
    if (is_freed && scopes == 1)
        g->in_next++;
    else
        g->later++;
    if (s->lives.n_scope_ends > 0 && scopes != UINT64_MAX)
        note_survivor(s, g, life, is_freed);
}

static void ended(void *user, const struct ab_life *life, bool is_youngest,
                  const struct ab_event *e, uint64_t call)
{
    struct survey *s = user;
    struct ab_advice_group *g = &s->groups->items[life->owner - 1];
    count_scope(s, g, life, e != NULL);
    if (e == NULL) {
        g->never_freed++;
        return;
    }
    uint64_t age = call - life->born - 1;
    unsigned class = age == 0 ? 0 : ab_log2(age) + 1;
    class = class < AB_ADVICE_LIVES ? class : AB_ADVICE_LIVES - 1;
    g->lives[class] += g->lives[class] < UINT32_MAX;
    g->frees++;
    g->lifo += is_youngest;
    g->remote += e->thread != life->thread;
}

static int by_calls(const void *a, const void *b)
{
    const struct ab_advice_size *x = a, *y = b;
    return x->calls != y->calls ? (x->calls < y->calls ? 1 : -1) : AB_COMPARE(x->bytes, y->bytes);
}

static void finish(struct survey *s)
{
    for (size_t i = 0; i < s->groups->n; i++) {
        struct ab_advice_group *g = &s->groups->items[i];
        uint32_t n = g->n_sizes > AB_ADVICE_SIZES ? AB_ADVICE_SIZES : g->n_sizes;
        qsort(g->sizes, n, sizeof g->sizes[0], by_calls);
        if (i < s->lives.n_owners) {
            const struct ab_life_owner *o = &s->lives.owners[i];
            g->live_most_blocks = o->most_blocks;
            g->live_most_bytes = o->most_bytes;
            g->scope_most_blocks = o->scope_most_blocks;
            g->scope_most_bytes = o->scope_most_bytes;
        }
        if (s->groups->of_site == NULL && g->n_sizes == 1)
            snprintf(g->key, sizeof g->key, "size:%llu", (unsigned long long)g->size_most);
    }
}

enum ab_status ab_group_stats(const struct ab_advise_plan *plan, struct ab_site_groups *groups,
                              struct ab_advice *out, struct ab_err *err)
{
    struct ab_trace_info info;
    struct ab_site_table table = {0};
    struct survey s = {.groups = groups,
                       .lives = {.is_by_birth = groups->of_site != NULL,
                                 .owner_of = owner_of,
                                 .given = given,
                                 .ended = ended}};
    s.lives.user = &s;
    ab_lives_follow(&s.lives, plan);
    /* sites[] of the events only come with a table */
    const struct ab_walk walk = {.path = plan->path,
                                 .is_partial = plan->is_partial,
                                 .end = UINT64_MAX,
                                 .sites = groups->of_site != NULL ? &table : NULL,
                                 .visit = ab_lives_visit,
                                 .user = &s.lives};
    enum ab_status status = ab_trace_walk(&walk, &info, err);
    if (status == AB_OK) {
        finish(&s);
        for (size_t i = 0; i < groups->n; i++)
            out->calls += groups->items[i].calls;
        out->n_events = info.events;
        out->n_threads = (uint32_t)info.threads;
        out->time_us = info.has_time ? info.time_us : 0;
        snprintf(out->program, sizeof out->program, "%.255s", info.program);
    }
    ab_lives_fini(&s.lives);
    ab_site_table_fini(&table);
    return status;
}
