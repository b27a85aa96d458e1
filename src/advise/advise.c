/* SPDX-License-Identifier: MIT
 *
 * The steps from a trace to an advice: groups, what they did, kinds, heaps, and names for these.
 */
#include "advise/advise.h"

#include "advise/heaps.h"
#include "advise/lives.h"
#include "advise/nests.h"
#include "advise/proposal.h"
#include "advise/site_groups.h"
#include "base/bits.h"
#include "symbols/site_match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[AB_ADVICE_KIND_COUNT] = {"keep",   "stack", "frame", "nested",
                                                        "double", "pool",  "slab"};

const char *ab_advice_kind_name(enum ab_advice_kind kind)
{
    return kinds[kind];
}

const char *ab_advice_call_name(enum ab_advice_call call)
{
    static const char *const calls[] = {"malloc", "new", "std"};
    return calls[call];
}

void ab_advice_fini(struct ab_advice *a)
{
    free(a->groups);
    free(a->heap_of_site);
    ab_site_table_fini(&a->sites);
    *a = (struct ab_advice){0};
}

static struct ab_site_named no_name(void *user, const struct ab_site_table *table,
                                    const struct ab_site_frame *frame)
{
    (void)user, (void)table, (void)frame;
    return ab_site_names_none();
}

struct rules { /* of the groups that have a heap */
    struct ab_site_matcher *matcher;
    uint32_t groups[AB_SITE_PATTERNS_MAX];
    size_t n;
};

static enum ab_status add_rules(struct rules *r, const struct ab_site_groups *groups,
                                struct ab_err *err)
{
    for (uint32_t i = 0; i < groups->n; i++) {
        if (groups->items[i].heap == AB_ADVICE_NO_HEAP)
            continue;
        AB_TRY(ab_site_matcher_add(r->matcher, groups->items[i].key + strlen("site:"), err));
        r->groups[r->n++] = i;
    }
    return AB_OK;
}

/* Asks of each stack whom a replay with these rules would give its blocks to. A group whose rule takes
 * others, or not all of its own, is no group's; returns whether there was one. */
static bool drop_wrong_rules(const struct rules *r, struct ab_site_groups *groups, size_t n_stacks)
{
    bool has_dropped = false;
    for (uint32_t stack = 1; stack <= n_stacks; stack++) {
        uint64_t mask = ab_site_matcher_mask(r->matcher, stack);
        for (size_t i = 0; i < r->n; i++) {
            struct ab_advice_group *g = &groups->items[r->groups[i]];
            if (((mask >> i & 1) != 0) == (groups->of_site[stack] == r->groups[i]))
                continue;
            g->key[0] = 0;
            g->is_shadowed = has_dropped = true;
        }
    }
    return has_dropped;
}

static enum ab_status check_rules(const struct ab_advise_plan *plan, struct ab_site_groups *groups,
                                  const struct ab_advice *a, bool *has_dropped, struct ab_err *err)
{
    struct rules r = {.n = 0};
    *has_dropped = false;
    if (groups->of_site == NULL) /* classes of sizes are apart */
        return AB_OK;
    r.matcher = ab_site_matcher_open(&a->sites, plan->name != NULL ? plan->name : no_name,
                                     plan->user);
    if (r.matcher == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory for the rules");
    enum ab_status status = add_rules(&r, groups, err);
    if (status == AB_OK)
        *has_dropped = drop_wrong_rules(&r, groups, a->sites.n_stacks);
    ab_site_matcher_close(r.matcher);
    return status;
}

/* Groups one by one may each be a stack and together be none: then they are not. Each further turn
 * drops a group at least. */
static enum ab_status find_heaps(const struct ab_advise_plan *plan, struct ab_site_groups *groups,
                                 struct ab_advice *out, struct ab_err *err)
{
    bool is_stack_allowed = true;
    for (;;) {
        bool has_broken_stack = false, has_dropped;
        for (size_t i = 0; i < groups->n; i++)
            ab_proposal_find(out, &groups->items[i], is_stack_allowed);
        if (!plan->is_flat)
            AB_TRY(ab_nests_find(plan, groups, out, err));
        AB_TRY(ab_heaps_make(plan, groups, out, &has_broken_stack, err));
        AB_TRY(check_rules(plan, groups, out, &has_dropped, err));
        if (!has_dropped && (!has_broken_stack || !is_stack_allowed))
            return AB_OK;
        is_stack_allowed = is_stack_allowed && !has_broken_stack;
    }
}

static int by_calls(const void *a, const void *b)
{
    const struct ab_advice_group *x = a, *y = b;
    return x->calls != y->calls ? (x->calls < y->calls ? 1 : -1)
                                : AB_COMPARE(x->address, y->address);
}

/* One in so many calls may come after the last scope and not be measured with it. */
enum { FEW_AFTER = 10 };

static void find_end(const struct ab_advise_plan *plan, struct ab_advice *a)
{
    uint64_t last = plan->n_scope_ends > 0 ? plan->scope_ends[plan->n_scope_ends - 1] : 0;
    for (size_t i = 0; i < plan->n_others; i++) {
        const struct ab_advise_scopes *s = &plan->others[i];
        last = s->n > 0 && s->ends[s->n - 1] > last ? s->ends[s->n - 1] : last;
    }
    bool are_few = last < a->n_events && a->n_events - last <= a->n_events / FEW_AFTER;
    a->n_before_end = are_few ? last : a->n_events;
}

/* Heaps were made in the order of their largest group. */
static void sort_heaps(struct ab_advice *a)
{
    size_t order[AB_ADVICE_HEAPS_MAX];
    struct ab_advice_heap sorted[AB_ADVICE_HEAPS_MAX];
    uint32_t new_[AB_ADVICE_HEAPS_MAX];
    for (size_t i = 0; i < a->n_heaps; i++) {
        size_t at = i;
        for (; at > 0 && a->heaps[order[at - 1]].calls < a->heaps[i].calls; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (uint32_t i = 0; i < a->n_heaps; i++) {
        sorted[i] = a->heaps[order[i]];
        new_[order[i]] = i;
        snprintf(sorted[i].name, sizeof sorted[i].name, "%c", (char)('A' + (int)i));
    }
    for (size_t i = 0; i < a->n_heaps; i++)
        a->heaps[i] = sorted[i];
    for (size_t i = 0; i < a->n_groups; i++)
        if (a->groups[i].heap != AB_ADVICE_NO_HEAP)
            a->groups[i].heap = new_[a->groups[i].heap];
    for (size_t i = 0; a->heap_of_site != NULL && i <= a->sites.n_stacks; i++)
        if (a->heap_of_site[i] != AB_ADVICE_NO_HEAP)
            a->heap_of_site[i] = new_[a->heap_of_site[i]];
}

/* Before groups are sorted: sites have their numbers. */
static enum ab_status note_sites(const struct ab_site_groups *groups, struct ab_advice *out,
                                 struct ab_err *err)
{
    if (groups->of_site == NULL)
        return AB_OK;
    out->heap_of_site = calloc(out->sites.n_stacks + 1, sizeof out->heap_of_site[0]);
    if (out->heap_of_site == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory for the call sites");
    for (size_t i = 0; i <= out->sites.n_stacks; i++)
        out->heap_of_site[i] = groups->items[groups->of_site[i]].heap;
    return AB_OK;
}

/* Sums up lives by group: sizes, ends by scope, order of frees, threads, survivors. */

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

static int group_stats_by_calls(const void *a, const void *b)
{
    const struct ab_advice_size *x = a, *y = b;
    return x->calls != y->calls ? (x->calls < y->calls ? 1 : -1) : AB_COMPARE(x->bytes, y->bytes);
}

static void finish(struct survey *s)
{
    for (size_t i = 0; i < s->groups->n; i++) {
        struct ab_advice_group *g = &s->groups->items[i];
        uint32_t n = g->n_sizes > AB_ADVICE_SIZES ? AB_ADVICE_SIZES : g->n_sizes;
        qsort(g->sizes, n, sizeof g->sizes[0], group_stats_by_calls);
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

/* Fills the groups; makes them where they are classes of sizes. Sets calls, events and threads of
 * *out as well, and the name of the program. */
static enum ab_status group_stats(const struct ab_advise_plan *plan, struct ab_site_groups *groups,
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

enum ab_status ab_advise(const struct ab_advise_plan *plan, struct ab_advice *out,
                         struct ab_err *err)
{
    struct ab_site_groups groups = {0};
    *out = (struct ab_advice){.n_scopes = plan->n_scope_ends, .is_marked = plan->is_marked};
    out->n_scope_threads = plan->is_of_thread ? (uint32_t)plan->n_others + 1 : 0;
    for (size_t i = 0; i < plan->n_others; i++)
        out->n_scopes += plan->others[i].n;
    enum ab_status status = ab_site_groups_make(plan, &out->sites, &groups, err);
    if (status == AB_OK && (status = group_stats(plan, &groups, out, err)) == AB_OK &&
        (status = find_heaps(plan, &groups, out, err)) == AB_OK &&
        (status = note_sites(&groups, out, err)) == AB_OK) {
        out->has_sites = groups.of_site != NULL;
        out->groups = groups.items;
        out->n_groups = groups.n;
        groups.items = NULL;
        qsort(out->groups, out->n_groups, sizeof out->groups[0], by_calls);
        while (out->n_groups > 0 && out->groups[out->n_groups - 1].calls == 0)
            out->n_groups--; /* stacks of calls that gave no block */
        sort_heaps(out);
        find_end(plan, out);
    }
    ab_site_groups_fini(&groups);
    return status;
}
