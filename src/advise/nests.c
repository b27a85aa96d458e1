/* SPDX-License-Identifier: MIT
 *
 * Finds nested scopes in several passes over the trace. A group is filled when it gets a block
 * while it has no live block.
 *
 * The first pass counts for each group how often it is filled, and how often another group is empty
 * at that time. Groups that are empty together share a nest. The second pass checks whether the
 * nests are regular, and which blocks live on from one nested scope into the next. The groups of
 * such blocks leave their nest, and the second pass is repeated until no group leaves.
 */
#include "advise/nests.h"

#include "advise/lives.h"
#include "base/bits.h"
#include "core/alloc.h"
#include "trace_tools/scope_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUPS_MOST = 64,  /* largest number of groups that are examined, those with the most calls */
    A_SCOPE_LEAST = 3, /* least number of nested scopes per scope */
    COUNT_LEAST = 10,  /* least number of nested scopes in the whole trace */
    BLOCKS_LEAST = 4,  /* least number of blocks per nested scope, on average */
    /* a nested scope may take at most 1/PART of a scope's memory; more would gain too little */
    PART = 2,
    /* a nested scope seems to be over when only 1/LOW of its most live blocks are left */
    LOW = 8,
    NOTED_MOST = 16,
    /* a group leaves its nest if its blocks live on after less than 1/EXCEPTIONS of the nested
     * scopes */
    EXCEPTIONS = 4,
    TURNS = 4
};

struct noted { /* a block that was still live when the next nested scope seemed to begin */
    uint32_t slot;
    uint64_t born;
};

struct nest { /* statistics of a nest; in the first pass, of a group */
    /* n: number of times that it became empty; sum, squares: sum and sum of squares of the blocks
     * requested each time; seen: sum of the live blocks at each request */
    double n, sum, squares, seen;
    /* n_active: number of scopes in which it requests blocks; active: the last of these scopes */
    uint64_t n_active, active;
    uint64_t blocks; /* number of live blocks */
    /* most: most live blocks in this nested scope; n_held: number of times that blocks lived on
     * into the next nested scope */
    uint64_t most, n_held;
    struct noted noted[NOTED_MOST];
    uint32_t n_noted;
};

struct slot { /* the block in a slot of the trace */
    uint32_t group;
    uint64_t counted; /* call of its allocation + 1, if the block was counted as a straggler */
};

struct search {
    struct ab_site_groups *groups;
    struct ab_lives lives;
    /* for each group: index of its member or nest, or AB_LIVES_NO_OWNER */
    uint32_t *owner_of;
    uint32_t members[GROUPS_MOST]; /* group numbers of the examined groups, called members */
    uint32_t nest_of[GROUPS_MOST]; /* nest of each member, or AB_LIVES_NO_OWNER */
    uint32_t left[GROUPS_MOST];    /* nest that each member has left, or AB_LIVES_NO_OWNER */
    uint32_t n, n_nests;
    /* [i][j]: number of times that member i was filled while j was empty; [i][i]: number of times
     * that i was filled */
    uint64_t joint[GROUPS_MOST][GROUPS_MOST];
    uint64_t filled; /* bit i: 1 = member i has live blocks */
    struct nest nests[GROUPS_MOST];
    struct slot *slots;
    size_t cap_slots;
    bool is_second;
};

/* ---- reading the trace ---- */

static uint32_t owner_of(void *user, const struct ab_event *e)
{
    struct search *s = user;
    uint32_t group = ab_site_groups_of(s->groups, e);
    AB_GROW_ZEROED(s->slots, s->cap_slots, e->slot);
    s->slots[e->slot].group = group;
    return s->owner_of[group];
}

static void fill_member(struct search *s, uint32_t i)
{
    s->filled |= UINT64_C(1) << i;
    for (uint32_t j = 0; j < s->n; j++)
        s->joint[i][j] += (s->filled >> j & 1) == 0 || j == i;
}

/* Stores the blocks of the nest that are still live when a new nested scope seems to begin. */
static void note_rest(const struct search *s, const struct ab_life_owner *o, struct nest *nest)
{
    /* starts at the second youngest, because the youngest is the new block */
    uint32_t slot = s->lives.slots[o->youngest - 1].older;
    for (nest->n_noted = 0; slot != 0 && nest->n_noted < NOTED_MOST; nest->n_noted++) {
        const struct ab_life *life = &s->lives.slots[slot - 1];
        nest->noted[nest->n_noted] = (struct noted){slot - 1, life->born};
        slot = life->older;
    }
}

static void count_stragglers(struct search *s, struct nest *nest)
{
    nest->n_held++;
    for (uint32_t i = 0; i < nest->n_noted; i++) {
        const struct ab_life *life = &s->lives.slots[nest->noted[i].slot];
        struct slot *slot = &s->slots[nest->noted[i].slot];
        struct ab_advice_group *g = &s->groups->items[slot->group];
        bool lives_on = life->owner != 0 && life->born == nest->noted[i].born;
        if (!lives_on || slot->counted == life->born + 1)
            continue;
        slot->counted = life->born + 1;
        if (g->n_stragglers++ == 0)
            g->straggler_size = life->size;
    }
}

static bool is_alive(const struct search *s, const struct nest *nest)
{
    for (uint32_t i = 0; i < nest->n_noted; i++) {
        const struct ab_life *life = &s->lives.slots[nest->noted[i].slot];
        if (life->owner != 0 && life->born == nest->noted[i].born)
            return true;
    }
    return false;
}

static void look_for_stragglers(struct search *s, const struct ab_life_owner *o, struct nest *nest)
{
    uint64_t before = o->blocks - 1;
    if (nest->n_noted > 0 && !is_alive(s, nest))
        nest->n_noted = 0;
    if (nest->n_noted > 0 && o->blocks * 2 >= nest->most) {
        count_stragglers(s, nest);
        nest->n_noted = 0;
        nest->most = o->blocks;
    }
    if (nest->n_noted == 0 && before > 0 && before * LOW <= nest->most)
        note_rest(s, o, nest);
    nest->most = o->blocks > nest->most ? o->blocks : nest->most;
}

static void given(void *user, const struct ab_event *e, uint32_t owner)
{
    struct search *s = user;
    const struct ab_life_owner *o = &s->lives.owners[owner];
    struct nest *nest = &s->nests[owner];
    /* the number of blocks has not changed: the event is a resize in place */
    if (o->blocks == nest->blocks)
        return;
    nest->blocks = o->blocks;
    if (o->blocks == 1 && !s->is_second)
        fill_member(s, owner);
    uint64_t scope = ab_lives_scope(&s->lives, e->thread);
    if (nest->n_active == 0 || nest->active != scope) {
        nest->active = scope;
        nest->n_active++;
    }
    nest->seen += (double)(o->blocks - 1);
    if (s->is_second)
        look_for_stragglers(s, o, nest);
}

static void ended(void *user, const struct ab_life *life, bool is_youngest,
                  const struct ab_event *e, uint64_t call)
{
    struct search *s = user;
    const struct ab_life_owner *o = &s->lives.owners[life->owner - 1];
    struct nest *nest = &s->nests[life->owner - 1];
    (void)is_youngest, (void)e, (void)call;
    nest->blocks = o->blocks - 1;
    if (nest->blocks > 0)
        return;
    s->filled &= ~(UINT64_C(1) << (life->owner - 1));
    nest->n++;
    nest->sum += (double)o->fill_blocks;
    nest->squares += (double)o->fill_blocks * (double)o->fill_blocks;
    nest->most = nest->n_noted = 0;
}

static enum ab_status read_trace(const struct ab_advise_plan *plan, struct search *s,
                                 struct ab_err *err)
{
    ab_lives_fini(&s->lives);
    memset(s->nests, 0, sizeof s->nests);
    if (s->slots != NULL)
        memset(s->slots, 0, s->cap_slots * sizeof s->slots[0]);
    s->filled = 0;
    s->lives = (struct ab_lives){.is_by_birth = s->groups->of_site != NULL,
                                 .rounds = true,
                                 .owner_of = owner_of,
                                 .given = given,
                                 .ended = ended,
                                 .user = s};
    return ab_lives_read(&s->lives, plan, NULL, err);
}

/* ---- which groups share a nest ---- */

/* True if the group or nest was filled and emptied often enough, in all and per scope. */
static bool is_filled_often(const struct search *s, uint32_t owner)
{
    const struct nest *nest = &s->nests[owner];
    return nest->n >= COUNT_LEAST && nest->n >= (double)nest->n_active * A_SCOPE_LEAST;
}

/* True if members i and j are empty together often: at least half as often as the one that is
 * filled more often is filled. */
static bool are_together(const struct search *s, uint32_t i, uint32_t j)
{
    uint64_t both = s->joint[i][j] + s->joint[j][i];
    uint64_t most = s->joint[i][i] > s->joint[j][j] ? s->joint[i][i] : s->joint[j][j];
    return both * 2 >= most;
}

static uint32_t thread_of(const struct search *s, uint32_t member)
{
    return s->groups->items[s->members[member]].thread;
}

static bool fits(const struct search *s, uint32_t nest, uint32_t member)
{
    for (uint32_t j = 0; j < s->n; j++)
        if (s->nest_of[j] == nest &&
            (thread_of(s, j) != thread_of(s, member) || !are_together(s, member, j)))
            return false;
    return true;
}

/* True if the group or nest becomes empty more regularly than by chance. */
static bool is_regular(const struct nest *nest)
{
    double mean = nest->sum / nest->n, variance = nest->squares / nest->n - mean * mean;
    double variation = variance > 0 ? sqrt(variance) / mean : 0;
    return ab_scope_is_regular(nest->n, variation, nest->sum * exp(-nest->seen / nest->sum));
}

/* Assigns members to nests. Members come with the most calls first. A member that becomes empty
 * irregularly may join a nest, but does not start one. */
static void make_nests(struct search *s)
{
    s->n_nests = 0;
    for (uint32_t i = 0; i < s->n; i++)
        s->nest_of[i] = s->left[i] = AB_LIVES_NO_OWNER;
    for (uint32_t at = 0; at < 2 * s->n; at++) {
        uint32_t i = at % s->n, nest = 0;
        bool founds = at < s->n;
        if (!is_filled_often(s, i) || is_regular(&s->nests[i]) != founds)
            continue;
        while (nest < s->n_nests && !fits(s, nest, i))
            nest++;
        if (nest == s->n_nests && !founds)
            continue;
        s->nest_of[i] = nest;
        s->n_nests = nest == s->n_nests ? nest + 1 : s->n_nests;
    }
}

static bool is_nest(const struct search *s, uint32_t number)
{
    if (number >= s->lives.n_owners)
        return false;
    const struct nest *nest = &s->nests[number];
    const struct ab_life_owner *o = &s->lives.owners[number];
    return is_filled_often(s, number) && nest->sum >= nest->n * BLOCKS_LEAST &&
           o->fill_most_bytes <= o->scope_most_bytes / PART && is_regular(nest);
}

/* Removes a group from its nest if some of its blocks live on into the next nested scope, but only
 * rarely. Returns true if any group left a nest. */
static bool part_stragglers(struct search *s)
{
    bool has_left = false;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct nest *nest = &s->nests[s->nest_of[i] % GROUPS_MOST];
        struct ab_advice_group *g = &s->groups->items[s->members[i]];
        if (s->nest_of[i] == AB_LIVES_NO_OWNER || g->n_stragglers == 0)
            continue;
        if ((double)nest->n_held * EXCEPTIONS < nest->n) {
            s->left[i] = s->nest_of[i];
            s->nest_of[i] = AB_LIVES_NO_OWNER;
            has_left = true;
        } else {
            g->n_stragglers = g->straggler_size = 0;
        }
    }
    return has_left;
}

/* ---- the search ---- */

static int by_calls(const void *a, const void *b)
{
    const struct ab_advice_group *x = *(struct ab_advice_group *const *)a,
                                 *y = *(struct ab_advice_group *const *)b;
    return x->calls != y->calls ? (x->calls < y->calls ? 1 : -1) : AB_COMPARE(x, y);
}

/* True if a single thread allocates and frees all blocks of the group, so that the group can use an
 * arena without locks. */
static bool is_private(const struct ab_advice_group *g)
{
    return g->n_threads <= 1 && g->remote == 0;
}

static void begin(struct search *s)
{
    const struct ab_site_groups *groups = s->groups;
    struct ab_advice_group **order = ab_alloc_zeroed(groups->n + 1, sizeof order[0]);
    s->owner_of = ab_alloc((groups->n + 1) * sizeof s->owner_of[0]);
    size_t n = 0;
    for (size_t i = 0; i < groups->n; i++) {
        s->owner_of[i] = AB_LIVES_NO_OWNER;
        if (groups->items[i].kind == AB_ADVICE_FRAME && is_private(&groups->items[i]))
            order[n++] = &groups->items[i];
    }
    if (n > 1)
        qsort(order, n, sizeof order[0], by_calls);
    for (s->n = 0; s->n < n && s->n < GROUPS_MOST; s->n++) {
        s->members[s->n] = (uint32_t)(order[s->n] - groups->items);
        s->owner_of[s->members[s->n]] = s->n;
    }
    free(order);
}

/* Sets the final kind of member `i`. If the nest that a group left is no nest in the end, its
 * stragglers are not reported. */
static void settle(struct search *s, uint32_t i, bool has_left)
{
    struct ab_advice_group *g = &s->groups->items[s->members[i]];
    if (!has_left && is_nest(s, s->nest_of[i])) {
        g->kind = AB_ADVICE_NESTED;
        g->nest = s->nest_of[i];
        g->why = "dies in a scope within its scope";
    } else if (!has_left && is_nest(s, s->left[i])) {
        g->why = "dies in its scope; some of its blocks outlive the nested one";
    } else {
        g->n_stragglers = g->straggler_size = 0;
    }
}

static enum ab_status find(const struct ab_advise_plan *plan, struct search *s, struct ab_err *err)
{
    bool has_left = true;
    AB_TRY(read_trace(plan, s, err));
    make_nests(s);
    s->is_second = true;
    for (int turn = 0; turn < TURNS && has_left && s->n_nests > 0; turn++) {
        for (uint32_t i = 0; i < s->n; i++)
            s->owner_of[s->members[i]] = s->nest_of[i];
        AB_TRY(read_trace(plan, s, err));
        has_left = part_stragglers(s);
    }
    for (uint32_t i = 0; i < s->n; i++)
        settle(s, i, has_left);
    return AB_OK;
}

enum ab_status ab_nests_find(const struct ab_advise_plan *plan, struct ab_site_groups *groups,
                             const struct ab_advice *a, struct ab_err *err)
{
    if (a->n_scopes == 0)
        return AB_OK;
    struct search *s = ab_alloc_zeroed(1, sizeof *s);
    s->groups = groups;
    begin(s);
    enum ab_status status = s->n > 0 ? find(plan, s, err) : AB_OK;
    ab_lives_fini(&s->lives);
    free(s->owner_of);
    free(s->slots);
    free(s);
    return status;
}
