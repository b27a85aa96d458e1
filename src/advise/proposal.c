/* SPDX-License-Identifier: MIT
 *
 * The rules, from the strictest promise to the weakest. Each is one that the trace has kept without
 * exception: what frees in bulk may not have one block that lives on.
 */
#include "advise/proposal.h"

#include "base/bits.h"

enum {
    CALLS_LEAST = 64,      /* fewer are not worth a heap */
    SHARE_LEAST = 1000,    /* one in so many calls, or one in each scope */
    SCOPES_LEAST = 4,      /* fewer are no rhythm */
    POOL_BLOCKS_LEAST = 8, /* at one time */
    POOL_SIZE_MOST = 1 << 16,
    SLAB_SIZES_MOST = 8,
    SLAB_SIZE_MOST = 4096, /* its largest class */
    ALIGN_MOST = 16,       /* of pool and slab */
};

uint64_t ab_proposal_slot(const struct ab_advice_group *g)
{
    return g->size_most < 16 ? 16 : ab_align_up(g->size_most, 16);
}

static bool is_rare(const struct ab_advice *a, const struct ab_advice_group *g)
{
    return g->calls < CALLS_LEAST ||
           (g->calls < a->calls / SHARE_LEAST && (a->n_scopes == 0 || g->calls < a->n_scopes));
}

/* Each free is of the youngest block, in one thread; and more is asked for than is there at a time,
 * else it is no better than an arena. */
static bool is_stack(const struct ab_advice *a, const struct ab_advice_group *g)
{
    if (g->lifo != g->frees || g->never_freed > 0 || g->remote > 0 || g->n_threads > 1)
        return false;
    return a->n_scopes == 0 ||
           (g->in_next == 0 && g->later == 0 && g->live_most_bytes <= g->scope_most_bytes / 2);
}

static bool is_of_one_size(const struct ab_advice_group *g)
{
    uint64_t slot = ab_proposal_slot(g);
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
    if (is_rare(a, g))
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
    return *why = "no pattern that a simpler allocator could use", AB_ADVICE_KEEP;
}

void ab_proposal_find(const struct ab_advice *a, struct ab_advice_group *g, bool is_stack_allowed)
{
    g->kind = kind_of(a, g, is_stack_allowed, &g->why);
    g->heap = AB_ADVICE_NO_HEAP;
    g->nest = 0;
    g->n_stragglers = g->straggler_size = 0;
}
