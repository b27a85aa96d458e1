/* SPDX-License-Identifier: MIT
 *
 * Makes an advice from a trace. Groups the blocks by the place that requests them, computes
 * statistics of each group, chooses a kind of heap for each group, and joins groups in heaps.
 */
#include "advise/advise.h"

#include "advise/lives.h"
#include "advise/nests.h"
#include "advise/site_groups.h"
#include "base/bits.h"
#include "core/alloc.h"
#include "core/text.h"

#include <math.h>
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

struct rules { /* the rules of --map for the groups that have a heap */
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

/* Checks, for each call stack, which groups these rules would assign its blocks to in a replay. A
 * group loses its rule if the rule takes blocks of other groups or misses some of its own. Returns
 * true if any group lost its rule. */
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
    if (groups->of_site == NULL) /* groups are size classes, whose rules never overlap */
        return AB_OK;
    r.matcher = ab_site_matcher_open(&a->sites, plan->name != NULL ? plan->name : no_name,
                                     plan->user);
    enum ab_status status = add_rules(&r, groups, err);
    if (status == AB_OK)
        *has_dropped = drop_wrong_rules(&r, groups, a->sites.n_stacks);
    ab_site_matcher_close(r.matcher);
    return status;
}

/* ---- choosing a kind of heap for each group ---- */

/* A heap's capacity is its peak in the recorded run plus a margin, because the next run of the
 * program will differ a little. */
enum {
    /* largest number of rules in a mapping; the limit of --map is 64, one of which is for the
     * rest */
    RULES_MOST = 60,
    TEXT_MOST = 1900,  /* largest number of characters of a mapping; the limit of --map is 2047 */
    BACKEND_MOST = 40, /* characters reserved for the name of a back end */
    MARGIN = 4,        /* the margin is 1/MARGIN of the peak */
    ARENA_STEP = 1 << 16,
    NESTED_STEP = 1 << 12,
    POOL_STEP = 16
};

struct fitting {
    struct ab_site_groups *groups;
    struct ab_advice *advice;
    struct ab_lives lives;
    size_t n_rules, n_text; /* rules and characters of the mapping with all heaps */
    bool has_broken_stack, has_survivor;
};

/* Limits for choosing a kind, from the kind with the strictest promise to the weakest. A group gets
 * a kind only if all its blocks in the trace kept the promise, because a heap that frees in bulk
 * must not contain a block that is still in use. */
enum {
    CALLS_LEAST = 64, /* least number of calls that are worth a heap */
    /* a group with fewer than 1/SHARE_LEAST of all calls gets a heap only if it has one call per
     * scope */
    SHARE_LEAST = 1000,
    SCOPES_LEAST = 4,      /* least number of scopes that show a regularity */
    POOL_BLOCKS_LEAST = 8, /* least number of blocks that are live at one time */
    POOL_SIZE_MOST = 1 << 16,
    SLAB_SIZES_MOST = 8,
    SLAB_SIZE_MOST = 4096, /* largest size class of a slab */
    ALIGN_MOST = 16,       /* largest alignment of pool and slab */
};

/* Returns the slot size that a pool for the group's blocks has, in bytes. */
static uint64_t slot_of(const struct ab_advice_group *g)
{
    return g->size_most < 16 ? 16 : ab_align_up(g->size_most, 16);
}

static bool is_rare(const struct ab_advice *a, const struct ab_advice_group *g)
{
    return g->calls < CALLS_LEAST ||
           (g->calls < a->calls / SHARE_LEAST && (a->n_scopes == 0 || g->calls < a->n_scopes));
}

/* True if each free is of the group's youngest block, and one thread does all calls. If the trace
 * has scopes, no block may outlive its scope. A scope must also request at least twice as many
 * bytes as are live at a time; otherwise a stack saves no memory over an arena. */
static bool is_stack(const struct ab_advice *a, const struct ab_advice_group *g)
{
    if (g->lifo != g->frees || g->never_freed > 0 || g->remote > 0 || g->n_threads > 1)
        return false;
    return a->n_scopes == 0 ||
           (g->in_next == 0 && g->later == 0 && g->live_most_bytes <= g->scope_most_bytes / 2);
}

/* True if the group's blocks are small and keep many pages resident. Such a group is worth a heap
 * even if it has many sizes. */
static bool is_pinner(const struct ab_advice *a, const struct ab_advice_group *g)
{
    return g->pinned_bytes >= a->least_pinned && g->size_most <= SLAB_SIZE_MOST &&
           g->align_most <= ALIGN_MOST && g->live_most_blocks >= POOL_BLOCKS_LEAST;
}

static bool is_of_one_size(const struct ab_advice_group *g)
{
    uint64_t slot = slot_of(g);
    return (g->size_least + 16 > slot || g->n_sizes == 1) && slot <= POOL_SIZE_MOST &&
           g->align_most <= ALIGN_MOST;
}

static enum ab_advice_kind kind_of(const struct ab_advice *a, const struct ab_advice_group *g,
                                   bool is_stack_allowed, const char **why)
{
    bool has_scopes = a->n_scopes >= SCOPES_LEAST;
    if (g->is_shadowed)
        return *why = "other places ask through the same call: a rule would take their blocks too",
               AB_ADVICE_KEEP;
    if (g->key[0] == 0)
        return *why = "the trace does not say who asked", AB_ADVICE_KEEP;
    if (is_rare(a, g) && !is_pinner(a, g))
        return *why = "too few calls", AB_ADVICE_KEEP;
    if (is_stack_allowed && is_stack(a, g))
        return *why = "freed youngest first", AB_ADVICE_STACK;
    if (has_scopes && g->in_next == 0 && g->later == 0)
        return *why = "dies in its scope", AB_ADVICE_FRAME;
    if (has_scopes && g->later == 0)
        return *why = "dies by the end of the next scope", AB_ADVICE_DOUBLE;
    if (is_of_one_size(g) && g->live_most_blocks >= POOL_BLOCKS_LEAST)
        return *why = "one size, many at a time", AB_ADVICE_POOL;
    if (g->n_sizes <= SLAB_SIZES_MOST && g->size_most <= SLAB_SIZE_MOST &&
        g->align_most <= ALIGN_MOST && g->live_most_blocks >= POOL_BLOCKS_LEAST)
        return *why = "few small sizes", AB_ADVICE_SLAB;
    if (is_pinner(a, g))
        return *why = "its blocks pin pages", AB_ADVICE_SLAB;
    return *why = "no pattern that a simpler allocator could use", AB_ADVICE_KEEP;
}

/* Sets g->kind and g->why, using the numbers of calls and scopes in `a`. is_stack_allowed is false
 * if the groups that share the stack were found not to free youngest first together; then no group
 * becomes a stack. */
static void find_kind(const struct ab_advice *a, struct ab_advice_group *g, bool is_stack_allowed)
{
    g->kind = kind_of(a, g, is_stack_allowed, &g->why);
    g->heap = AB_ADVICE_NO_HEAP;
    g->nest = 0;
    g->n_stragglers = g->straggler_size = 0;
}

/* ---- which heap ---- */

static bool is_of_heap(const struct ab_advice_heap *h, const struct ab_advice_group *g)
{
    return h->kind == g->kind && h->nest == g->nest &&
           (g->kind != AB_ADVICE_POOL || h->size_most == slot_of(g));
}

/* Assigns the group to a heap, or adds a heap for it. Groups come with the most calls first, so if
 * there is no room for more heaps, groups with few calls stay in malloc. */
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
    h->pinned_bytes += g->pinned_bytes;
    uint64_t size = g->kind == AB_ADVICE_POOL ? slot_of(g) : g->size_most;
    h->size_most = size > h->size_most ? size : h->size_most;
    h->align = g->align_most > h->align ? g->align_most : h->align;
    if (h->n_groups == 1)
        h->thread = g->thread;
    h->n_threads = g->n_threads > 1 || h->n_threads > 1 || g->thread != h->thread ? 2 : 1;
    h->is_of_thread_scopes = a->n_scope_threads > 1 &&
                             (g->kind == AB_ADVICE_FRAME || g->kind == AB_ADVICE_DOUBLE);
    if (h->is_of_thread_scopes) /* each of these threads may end a scope */
        h->n_threads = 2;
    h->frees += g->frees;
    h->n_remote += g->remote;
    h->is_local = h->n_remote == 0;
}

static int most_calls_first(const void *a, const void *b)
{
    const struct ab_advice_group *x = *(struct ab_advice_group *const *)a,
                                 *y = *(struct ab_advice_group *const *)b;
    return x->calls != y->calls ? (x->calls < y->calls ? 1 : -1) : AB_COMPARE(x, y);
}

static void place_all(struct fitting *f)
{
    struct ab_advice_group **order = ab_alloc_zeroed(f->groups->n + 1,
                                                     sizeof(struct ab_advice_group *));
    for (size_t i = 0; i < f->groups->n; i++)
        order[i] = &f->groups->items[i];
    qsort(order, f->groups->n, sizeof(struct ab_advice_group *), most_calls_first);
    f->advice->n_heaps = 0;
    for (size_t i = 0; i < f->groups->n; i++)
        place(f, order[i]);
    free(order);
}

/* ---- contents of the heaps ---- */

static uint32_t heap_of_request(void *user, const struct ab_event *e)
{
    const struct fitting *f = user;
    return f->groups->items[ab_site_groups_of(f->groups, e)]
        .heap; /* AB_ADVICE_NO_HEAP equals AB_LIVES_NO_OWNER */
}

static void heap_block_ended(void *user, const struct ab_life *life, bool is_youngest,
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
    f->lives = (struct ab_lives){.is_by_birth = f->groups->of_site != NULL,
                                 .rounds = true,
                                 .owner_of = heap_of_request,
                                 .ended = heap_block_ended,
                                 .user = f};
    AB_TRY(ab_lives_read(&f->lives, plan, NULL, err));
    return f->has_survivor ? ab_fail(err, AB_INPUT, "%s changed while it was read", plan->path)
                           : AB_OK;
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

bool ab_advice_is_shared(const struct ab_advice_heap *h)
{
    bool is_freed = h->kind == AB_ADVICE_POOL || h->kind == AB_ADVICE_SLAB;
    return h->n_threads > 1 || (is_freed && !h->is_local);
}

/* Sets the name of the heap's back end. A stack has no keep=, so that it keeps all its memory: a
 * replay resets it only when it is empty, but a program goes back to a save point long before. A
 * heap of one thread takes no lock in a replay either. */
static void name_backend(struct ab_advice_heap *h)
{
    const char *threads = ab_advice_is_shared(h) || !h->is_local ? ":threads=local" : "";
    switch (h->kind) {
    case AB_ADVICE_POOL:
        AB_FIT(h->backend, "pool:slot=%llu%s", (unsigned long long)h->size_most, threads);
        break;
    case AB_ADVICE_SLAB:
        AB_FIT(h->backend, "slab%s", threads);
        break;
    case AB_ADVICE_STACK:
        AB_FIT(h->backend, "arena%s", threads);
        break;
    default:
        AB_FIT(h->backend, "%sarena:keep=%lluKiB%s", h->kind == AB_ADVICE_DOUBLE ? "2*" : "",
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

/* Makes the names of the nested heaps' back ends unique by changing their capacities, because a
 * mapping merges heaps with the same name. */
static void part_nested(struct ab_advice *a)
{
    for (size_t i = 0; i < a->n_heaps; i++) {
        struct ab_advice_heap *h = &a->heaps[i];
        for (size_t k = 0; h->kind == AB_ADVICE_NESTED && k < a->n_heaps; k++) {
            if (k == i || strcmp(a->heaps[k].backend, h->backend) != 0)
                continue;
            h->capacity_bytes += NESTED_STEP;
            name_backend(h);
            k = SIZE_MAX; /* becomes 0 in the next iteration: compare with all heaps again */
        }
    }
}

/* Sets out->heaps and the heap of each group, according to the kinds of the groups. Sets
 * *has_broken_stack if the groups of the stack do not free the youngest block first together. The
 * other results are invalid then. */
static enum ab_status make_heaps(const struct ab_advise_plan *plan, struct ab_site_groups *groups,
                                 struct ab_advice *out, bool *has_broken_stack, struct ab_err *err)
{
    struct fitting f = {.groups = groups, .advice = out};
    place_all(&f);
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

/* Finds kinds and heaps. If each stack group frees its youngest block first, but the groups
 * together do not, no group becomes a stack. The loop ends, because each iteration but the last
 * drops a group's rule or forbids stacks. */
static enum ab_status find_heaps(const struct ab_advise_plan *plan, struct ab_site_groups *groups,
                                 struct ab_advice *out, struct ab_err *err)
{
    bool is_stack_allowed = true;
    for (;;) {
        bool has_broken_stack = false, has_dropped;
        for (size_t i = 0; i < groups->n; i++)
            find_kind(out, &groups->items[i], is_stack_allowed);
        if (!plan->is_flat)
            AB_TRY(ab_nests_find(plan, groups, out, err));
        AB_TRY(make_heaps(plan, groups, out, &has_broken_stack, err));
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

/* At most 1/FEW_AFTER of the calls may follow the last scope; then measurements leave these calls
 * out. */
enum { FEW_AFTER = 10 };

static void find_end(const struct ab_advise_plan *plan, struct ab_advice *a)
{
    const struct ab_scopes *first = plan->scopes;
    uint64_t last = first->n > 0 ? first->ends[first->n - 1] : 0;
    for (size_t i = 0; i < plan->threads->n; i++) {
        const struct ab_thread_scopes *s = &plan->threads->items[i];
        last = s->n > 0 && s->ends[s->n - 1] > last ? s->ends[s->n - 1] : last;
    }
    bool are_few = last < a->n_events && a->n_events - last <= a->n_events / FEW_AFTER;
    a->n_before_end = are_few ? last : a->n_events;
}

/* Sorts the heaps, the most calls first, and names them. Before, they are in the order of their
 * groups with the most calls. */
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
        AB_FIT(sorted[i].name, "%c", (char)('A' + (int)i));
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

/* Sets out->heap_of_site. Call it before the groups are sorted, because groups->of_site has their
 * numbers. */
static void note_sites(const struct ab_site_groups *groups, struct ab_advice *out)
{
    if (groups->of_site == NULL)
        return;
    out->heap_of_site = ab_alloc_zeroed(out->sites.n_stacks + 1, sizeof out->heap_of_site[0]);
    for (size_t i = 0; i <= out->sites.n_stacks; i++)
        out->heap_of_site[i] = groups->items[groups->of_site[i]].heap;
}

/* ---- statistics of groups ----
 *
 * Sums up the blocks of each group: sizes, in which scope they ended, order of frees, threads,
 * survivors. */

struct survey {
    struct ab_site_groups *groups;
    struct ab_lives lives;
};

static uint32_t owner_of(void *user, const struct ab_event *e)
{
    const struct survey *s = user;
    return ab_site_groups_of(s->groups, e);
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

/* Counts whether a block ended in its scope, in the next scope or later. A scope ends at a mark of
 * the program, or where no short-lived block is left. A block that is live at the end of the trace
 * has outlived its scope. */
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
    if (s->lives.scopes->n > 0 && scopes != UINT64_MAX)
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

/* True if another group is in the same function and neither group has a line number. The pinned
 * bytes are known for the whole function, so they must not be counted for each of its groups. */
static bool is_one_of_several(const struct ab_site_groups *groups, size_t i)
{
    const struct ab_advice_group *g = &groups->items[i];
    for (size_t k = 0; g->line == 0 && g->function[0] != 0 && k < groups->n; k++)
        if (k != i && groups->items[k].line == 0 &&
            strcmp(groups->items[k].function, g->function) == 0)
            return true;
    return false;
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
            AB_FIT(g->key, "size:%llu", (unsigned long long)g->size_most);
    }
}

/* Sets the statistics of the groups; if groups are size classes, also makes the groups. Also sets
 * calls, n_events, n_threads, time_us and program in *out. */
static enum ab_status group_stats(const struct ab_advise_plan *plan, struct ab_site_groups *groups,
                                  struct ab_advice *out, struct ab_err *err)
{
    struct ab_trace_info info;
    struct survey s = {.groups = groups,
                       .lives = {.is_by_birth = groups->of_site != NULL,
                                 .owner_of = owner_of,
                                 .given = given,
                                 .ended = ended}};
    s.lives.user = &s;
    enum ab_status status = ab_lives_read(&s.lives, plan, &info, err);
    if (status == AB_OK) {
        finish(&s);
        for (size_t i = 0; i < groups->n; i++)
            groups->items[i].pinned_bytes = plan->pinned_by != NULL && !is_one_of_several(groups, i)
                                                ? plan->pinned_by(plan->pins, &groups->items[i])
                                                : (double)NAN;
        for (size_t i = 0; i < groups->n; i++)
            out->calls += groups->items[i].calls;
        out->n_events = info.events;
        out->n_threads = (uint32_t)info.threads;
        out->time_us = info.has_time ? info.time_us : 0;
        AB_COPY(out->program, info.program);
    }
    ab_lives_fini(&s.lives);
    return status;
}

enum ab_status ab_advise(const struct ab_advise_plan *asked, struct ab_advice *out,
                         struct ab_err *err)
{
    static const struct ab_scopes_of_threads none;
    struct ab_advise_plan own = *asked, *plan = &own;
    struct ab_site_groups groups = {0};
    if (own.threads == NULL)
        own.threads = &none;
    *out = (struct ab_advice){.n_scopes = own.scopes->n,
                              .is_marked = own.scopes->from == AB_SCOPES_MARKS,
                              .least_pinned = own.least_pinned};
    out->n_scope_threads = own.scopes->is_of_thread ? (uint32_t)own.threads->n + 1 : 0;
    for (size_t i = 0; i < own.threads->n; i++)
        out->n_scopes += own.threads->items[i].n;
    enum ab_status status = ab_site_groups_make(plan, &out->sites, &groups, err);
    if (status == AB_OK && (status = group_stats(plan, &groups, out, err)) == AB_OK &&
        (status = find_heaps(plan, &groups, out, err)) == AB_OK) {
        note_sites(&groups, out);
        out->has_sites = groups.of_site != NULL;
        out->groups = groups.items;
        out->n_groups = groups.n;
        groups.items = NULL;
        qsort(out->groups, out->n_groups, sizeof out->groups[0], by_calls);
        while (out->n_groups > 0 && out->groups[out->n_groups - 1].calls == 0)
            out->n_groups--; /* groups whose calls returned no block */
        sort_heaps(out);
        find_end(plan, out);
    }
    ab_site_groups_fini(&groups);
    return status;
}
