/* SPDX-License-Identifier: MIT
 *
 * What a heap must hold is the most that it held, and a margin: a program's next run is not quite
 * like the recorded one.
 */
#include "advise/heaps.h"

#include "advise/lives.h"
#include "advise/proposal.h"
#include "base/bits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RULES_MOST = 60,   /* of a mapping, which has 64, one of them for the rest */
    TEXT_MOST = 1900,  /* of its rules, which may have 2047 characters */
    BACKEND_MOST = 40, /* characters of a back end */
    MARGIN = 4,        /* a quarter more */
    ARENA_STEP = 1 << 16,
    NESTED_STEP = 1 << 12,
    POOL_STEP = 16
};

struct fitting {
    struct ab_site_groups *groups;
    struct ab_advice *advice;
    struct ab_lives lives;
    size_t n_rules, n_text; /* of the mapping of all */
    bool has_broken_stack, has_survivor;
};

/* ---- which heap ---- */

static bool is_of_heap(const struct ab_advice_heap *h, const struct ab_advice_group *g)
{
    return h->kind == g->kind && h->nest == g->nest &&
           (g->kind != AB_ADVICE_POOL || h->size_most == ab_proposal_slot(g));
}

/* Groups come with the most calls first: where heaps run out, those with few stay where they are. */
static void place(struct fitting *f, struct ab_advice_group *g)
{
    struct ab_advice *a = f->advice;
    size_t i = 0, text = strlen(g->key) + BACKEND_MOST;
    if (g->kind == AB_ADVICE_KEEP)
        return;
    while (i < a->n_heaps && !is_of_heap(&a->heaps[i], g))
        i++;
    if (i == AB_ADVICE_HEAPS_MAX || f->n_rules == RULES_MOST || f->n_text + text > TEXT_MOST) {
        g->kind = AB_ADVICE_KEEP;
        g->why = "a mapping has no room for more";
        return;
    }
    f->n_rules++;
    f->n_text += text;
    struct ab_advice_heap *h = &a->heaps[i];
    if (i == a->n_heaps) {
        *h = (struct ab_advice_heap){.kind = g->kind, .nest = g->nest};
        a->n_heaps++;
    }
    g->heap = (uint32_t)i;
    h->n_groups++;
    h->calls += g->calls;
    h->bytes += g->bytes;
    uint64_t size = g->kind == AB_ADVICE_POOL ? ab_proposal_slot(g) : g->size_most;
    h->size_most = size > h->size_most ? size : h->size_most;
    h->align = g->align_most > h->align ? g->align_most : h->align;
    if (h->n_groups == 1)
        h->thread = g->thread;
    h->n_threads = g->n_threads > 1 || h->n_threads > 1 || g->thread != h->thread ? 2 : 1;
    h->is_of_thread_scopes = a->n_scope_threads > 1 &&
                             (g->kind == AB_ADVICE_FRAME || g->kind == AB_ADVICE_DOUBLE);
    if (h->is_of_thread_scopes) /* any of them may end its scope */
        h->n_threads = 2;
    h->frees += g->frees;
    h->n_remote += g->remote;
    h->is_local = h->n_remote == 0;
}

static int by_calls(const void *a, const void *b)
{
    const struct ab_advice_group *x = *(struct ab_advice_group *const *)a,
                                 *y = *(struct ab_advice_group *const *)b;
    return x->calls != y->calls ? (x->calls < y->calls ? 1 : -1) : AB_COMPARE(x, y);
}

static bool place_all(struct fitting *f)
{
    struct ab_advice_group **order = calloc(f->groups->n + 1, sizeof(struct ab_advice_group *));
    if (order == NULL)
        return false;
    for (size_t i = 0; i < f->groups->n; i++)
        order[i] = &f->groups->items[i];
    qsort(order, f->groups->n, sizeof(struct ab_advice_group *), by_calls);
    f->advice->n_heaps = 0;
    for (size_t i = 0; i < f->groups->n; i++)
        place(f, order[i]);
    free(order);
    return true;
}

/* ---- what they hold ---- */

static bool owner_of(void *user, const struct ab_event *e, uint32_t *owner)
{
    struct fitting *f = user;
    uint32_t group = ab_site_groups_of(f->groups, e);
    if (group == UINT32_MAX)
        return false;
    *owner = f->groups->items[group].heap; /* AB_ADVICE_NO_HEAP is nobody's */
    return true;
}

static void ended(void *user, const struct ab_life *life, bool is_youngest,
                  const struct ab_event *e, uint64_t call)
{
    struct fitting *f = user;
    enum ab_advice_kind kind = f->advice->heaps[life->owner - 1].kind;
    uint64_t scopes = e == NULL ? UINT64_MAX : ab_lives_outlived(&f->lives, life);
    (void)call;
    if (kind == AB_ADVICE_STACK && !is_youngest)
        f->has_broken_stack = true;
    bool is_of_one = kind == AB_ADVICE_FRAME || kind == AB_ADVICE_NESTED;
    if ((is_of_one && scopes > 0) || (kind == AB_ADVICE_DOUBLE && scopes > 1))
        f->has_survivor = true;
}

static enum ab_status follow(const struct ab_advise_plan *plan, struct fitting *f,
                             struct ab_err *err)
{
    struct ab_site_table table = {0};
    f->lives = (struct ab_lives){.is_by_birth = f->groups->of_site != NULL,
                                 .rounds = true,
                                 .owner_of = owner_of,
                                 .ended = ended,
                                 .user = f};
    ab_lives_follow(&f->lives, plan);
    const struct ab_walk walk = {.path = plan->path,
                                 .is_partial = plan->is_partial,
                                 .end = UINT64_MAX,
                                 .sites = f->groups->of_site != NULL ? &table : NULL,
                                 .visit = ab_lives_visit,
                                 .user = &f->lives};
    enum ab_status status = ab_trace_walk(&walk, NULL, err);
    ab_site_table_fini(&table);
    if (status == AB_OK && f->has_survivor)
        status = ab_fail(err, AB_INPUT, "%s changed while it was read", plan->path);
    return status;
}

/* ---- capacities ---- */

static uint64_t with_margin(uint64_t n, uint64_t step)
{
    return n > UINT64_MAX / 4 ? n : ab_align_up(n + n / MARGIN + 1, step);
}

static void size_heap(const struct ab_life_owner *o, struct ab_advice_heap *h)
{
    bool is_arena = h->kind == AB_ADVICE_FRAME || h->kind == AB_ADVICE_DOUBLE;
    h->most_blocks = is_arena ? o->scope_most_blocks : o->most_blocks;
    h->most_bytes = is_arena ? o->scope_most_bytes : o->most_bytes;
    if (h->kind == AB_ADVICE_POOL) {
        h->capacity_blocks = with_margin(h->most_blocks, POOL_STEP);
        h->capacity_bytes = h->capacity_blocks * h->size_most;
    } else if (h->kind == AB_ADVICE_NESTED) {
        h->most_blocks = o->fill_most_blocks;
        h->most_bytes = o->fill_most_bytes;
        h->n_nested = o->n_fills;
        h->capacity_bytes = with_margin(h->most_bytes, NESTED_STEP);
    } else if (h->kind != AB_ADVICE_SLAB) {
        h->capacity_bytes = with_margin(h->most_bytes, ARENA_STEP);
    }
}

/* What a program gets that includes its header. */
bool ab_advice_is_shared(const struct ab_advice_heap *h)
{
    bool is_freed = h->kind == AB_ADVICE_POOL || h->kind == AB_ADVICE_SLAB;
    return h->n_threads > 1 || (is_freed && !h->is_local);
}

/* A stack keeps what it has: a replay resets it where it is empty, a program goes back to a mark long
 * before. What one thread has for itself takes no lock in a replay either. */
static void name_backend(struct ab_advice_heap *h)
{
    const char *threads = ab_advice_is_shared(h) || !h->is_local ? ":threads=local" : "";
    switch (h->kind) {
    case AB_ADVICE_POOL:
        snprintf(h->backend, sizeof h->backend, "pool:slot=%llu%s",
                 (unsigned long long)h->size_most, threads);
        break;
    case AB_ADVICE_SLAB:
        snprintf(h->backend, sizeof h->backend, "slab%s", threads);
        break;
    case AB_ADVICE_STACK:
        snprintf(h->backend, sizeof h->backend, "arena%s", threads);
        break;
    default:
        snprintf(h->backend, sizeof h->backend, "%sarena:keep=%lluKiB%s",
                 h->kind == AB_ADVICE_DOUBLE ? "2*" : "",
                 (unsigned long long)(h->capacity_bytes >> 10), threads);
    }
}

static void name_compiled(const struct ab_advice *a, struct ab_advice_heap *h)
{
    const char *turns = h->kind == AB_ADVICE_DOUBLE ? "2*" : "";
    if (a->n_threads > 1)
        return;
    int n = snprintf(h->compiled, sizeof h->compiled, "%sinline+%s", turns,
                     h->backend + strlen(turns));
    if (h->kind == AB_ADVICE_POOL)
        snprintf(h->compiled + n, sizeof h->compiled - (size_t)n, ":slots=%llu",
                 (unsigned long long)h->capacity_blocks);
}

/* Heaps of one name would be one in a mapping. */
static void part_nested(struct ab_advice *a)
{
    for (size_t i = 0; i < a->n_heaps; i++) {
        struct ab_advice_heap *h = &a->heaps[i];
        for (size_t k = 0; h->kind == AB_ADVICE_NESTED && k < a->n_heaps; k++) {
            if (k == i || strcmp(a->heaps[k].backend, h->backend) != 0)
                continue;
            h->capacity_bytes += NESTED_STEP;
            name_backend(h);
            k = SIZE_MAX; /* from the first one again */
        }
    }
}

enum ab_status ab_heaps_make(const struct ab_advise_plan *plan, struct ab_site_groups *groups,
                             struct ab_advice *out, bool *has_broken_stack, struct ab_err *err)
{
    struct fitting f = {.groups = groups, .advice = out};
    if (!place_all(&f))
        return ab_fail(err, AB_SYSTEM, "out of memory for the proposals");
    enum ab_status status = follow(plan, &f, err);
    for (size_t i = 0; status == AB_OK && i < out->n_heaps; i++) {
        struct ab_advice_heap *h = &out->heaps[i];
        if (i < f.lives.n_owners)
            size_heap(&f.lives.owners[i], h);
        name_backend(h);
    }
    if (status == AB_OK) {
        part_nested(out);
        for (size_t i = 0; i < out->n_heaps; i++)
            name_compiled(out, &out->heaps[i]);
        *has_broken_stack = f.has_broken_stack;
    }
    ab_lives_fini(&f.lives);
    return status;
}
