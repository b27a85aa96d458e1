/* SPDX-License-Identifier: MIT
 *
 * Whether a block is short-lived is known when it is freed. So calls wait in a ring as long as the
 * largest horizon, and are counted when they leave it: one byte for each, with the class of the
 * lifetime that begins or ends there.
 */
#include "trace_tools/scope/search.h"

#include "base/bits.h"
#include "core/grow.h"
#include "trace_tools/scope/judge.h"

#include <stdlib.h>

enum {
    LEAST = 4, /* log2 of the least horizon; from one to the next by STEP */
    STEP = 2,
    RING = 1 << (LEAST + STEP * (AB_SCOPE_HORIZONS - 1)),
    LONG_LIVED = AB_SCOPE_HORIZONS, /* class of lifetimes above the largest horizon */
    CLASS = 31,                     /* bits of the class */
    BIRTH = 64,
    DEATH = 128,
    KEPT = 1 << 18 /* ends of a horizon: 4 MiB */
};

/* Of horizons: shares of this difference are as good as each other, sizes of this ratio the same. */
static const double NEAR = 0.05, SMALLER = 0.9;

struct level {               /* one horizon */
    uint64_t live, shorts;   /* now; allocated so far */
    uint64_t most;           /* live at once since the last end */
    uint64_t came_less_gone; /* numbers of the calls, modulo 2^64 */
    bool is_low;             /* an end is coming: at `low` */
    struct moment {
        uint64_t live, end; /* `end`: as in struct ab_scopes */
        uint64_t allocs, shorts, calls, area;
    } low, last; /* lowest point so far; end of the last scope */
};

struct kept_end {
    uint64_t end, allocs;
};
struct kept { /* the ends of one horizon: which of them are handed on is known after the walk */
    struct kept_end *items;
    size_t n, cap;
    bool is_over; /* more than KEPT: none */
};

struct ab_scope_search {
    uint64_t thread;
    uint8_t *ring;
    uint64_t *numbers;  /* of the calls in the ring; kept for ends only */
    uint64_t taken, at; /* calls that went into the ring, and that left it */
    uint64_t allocs;    /* of those that left it */
    uint64_t *born;     /* by slot: its call in the ring + 1; 0 = another thread's block */
    size_t cap_slots;
    unsigned least, end; /* horizons that are looked at */
    struct level levels[AB_SCOPE_HORIZONS];
    struct ab_scope_tally tallies[AB_SCOPE_HORIZONS];
    struct kept kept[AB_SCOPE_HORIZONS];
    bool
        has_gaps; /* calls in the ring are not numbered by their places, and `numbers` is not kept */
    bool (*take)(void *user, uint64_t end);
    void *take_user;
    double typical;
    uint64_t kept_allocs; /* at the last end that was handed on */
    bool is_short_of_memory;
};

struct ab_scope_search *ab_scope_search_open(uint64_t thread)
{
    struct ab_scope_search *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->thread = thread;
    s->end = AB_SCOPE_HORIZONS;
    s->ring = malloc(RING);
    if (s->ring != NULL)
        return s;
    free(s);
    return NULL;
}

void ab_scope_search_close(struct ab_scope_search *s)
{
    if (s == NULL)
        return;
    free(s->ring);
    free(s->numbers);
    free(s->born);
    for (unsigned k = 0; k < AB_SCOPE_HORIZONS; k++)
        free(s->kept[k].items);
    free(s);
}

void ab_scope_search_number(struct ab_scope_search *s)
{
    s->numbers = malloc(RING * sizeof s->numbers[0]);
    s->is_short_of_memory = s->numbers == NULL;
}

void ab_scope_search_emit(struct ab_scope_search *s, const struct ab_scope_choice *choice,
                          bool (*take)(void *user, uint64_t end), void *user)
{
    s->least = choice->horizon;
    s->end = choice->horizon + 1;
    s->typical = choice->typical;
    s->take = take;
    s->take_user = user;
    ab_scope_search_number(s);
}

static void hand_on(struct ab_scope_search *s, uint64_t end, uint64_t allocs_so_far)
{
    double allocs = (double)(allocs_so_far - s->kept_allocs);
    if (allocs < s->typical / AB_SCOPE_FRAGMENT)
        return;
    s->kept_allocs = allocs_so_far;
    s->is_short_of_memory = s->is_short_of_memory || !s->take(s->take_user, end);
}

static void keep(struct ab_scope_search *s, struct kept *kept, const struct moment *end)
{
    if (kept->is_over || s->has_gaps)
        return;
    kept->is_over = kept->n == KEPT;
    if (kept->is_over) {
        free(kept->items);
        kept->items = NULL;
        return;
    }
    AB_GROW(kept->items, kept->cap, kept->n);
    kept->items[kept->n++] = (struct kept_end){end->end, end->allocs};
}

/* False: they were not kept. */
static bool hand_over(struct ab_scope_search *s, unsigned horizon, double typical)
{
    const struct kept *kept = &s->kept[horizon];
    bool is_whole = !kept->is_over && !s->has_gaps;
    s->typical = typical;
    s->kept_allocs = 0;
    for (size_t i = 0; is_whole && i < kept->n; i++)
        hand_on(s, kept->items[i].end, kept->items[i].allocs);
    return is_whole;
}

bool ab_scope_search_hand_over(struct ab_scope_search *s, const struct ab_scope_choice *choice,
                               bool (*take)(void *user, uint64_t end), void *user, bool *is_whole)
{
    s->take = take;
    s->take_user = user;
    *is_whole = hand_over(s, choice->horizon, choice->typical);
    return !s->is_short_of_memory;
}

bool ab_scope_search_hand_over_others(struct ab_scope_search *s,
                                      const struct ab_scope_choice *choice,
                                      bool (*take)(void *user, uint64_t end), void *user)
{
    s->take = take;
    s->take_user = user;
    for (unsigned k = 0; k < AB_SCOPE_HORIZONS; k++)
        if (k != choice->horizon && choice->typicals[k] > 0)
            hand_over(s, k, choice->typicals[k]);
    return !s->is_short_of_memory;
}

static void end_scope(struct ab_scope_search *s, unsigned k)
{
    struct level *l = &s->levels[k];
    ab_scope_tally_add(&s->tallies[k],
                       &(struct ab_scope_seen){.allocs = l->low.allocs - l->last.allocs,
                                               .shorts = l->low.shorts - l->last.shorts,
                                               .survivors = l->low.live,
                                               .calls = l->low.calls - l->last.calls,
                                               .area = l->low.area - l->last.area,
                                               .most = l->most});
    if (s->take != NULL)
        hand_on(s, l->low.end, l->low.allocs);
    else
        keep(s, &s->kept[k], &l->low);
    l->last = l->low;
    l->is_low = false;
    l->most = l->live;
}

/* Calls by which the number of live short-lived blocks changes. Summed over calls up to now, it is
 * live * now less when blocks came, more when they went. */
static inline void step_birth(struct ab_scope_search *s, unsigned k)
{
    struct level *l = &s->levels[k];
    l->came_less_gone += s->at;
    l->shorts++;
    l->live++;
    if (l->is_low && l->live > l->most / AB_SCOPE_LOW)
        end_scope(s, k);
    else if (l->live > l->most)
        l->most = l->live;
}

static inline void step_death(struct ab_scope_search *s, unsigned k)
{
    struct level *l = &s->levels[k];
    l->came_less_gone -= s->at;
    l->live--;
    bool is_lower = l->is_low ? l->live < l->low.live : l->live <= l->most / AB_SCOPE_LOW;
    if (!is_lower)
        return;
    l->is_low = true;
    l->low = (struct moment){.live = l->live,
                             .end = s->numbers != NULL ? s->numbers[s->at % RING] + 1 : s->at + 1,
                             .allocs = s->allocs,
                             .shorts = l->shorts,
                             .calls = s->at + 1,
                             .area = l->live * s->at - l->came_less_gone};
}

static void leave_ring(struct ab_scope_search *s)
{
    uint8_t what = s->ring[s->at % RING];
    unsigned k = what & CLASS, end = s->end;
    k = k < s->least ? s->least : k;
    if ((what & BIRTH) != 0) {
        s->allocs++;
        for (; k < end; k++)
            step_birth(s, k);
    } else {
        for (; k < end; k++)
            step_death(s, k);
    }
    s->at++;
}

static void enter_ring(struct ab_scope_search *s, uint8_t what, uint64_t number)
{
    if (s->taken - s->at == RING)
        leave_ring(s);
    s->ring[s->taken % RING] = what;
    if (s->numbers != NULL)
        s->numbers[s->taken % RING] = number;
    else
        s->has_gaps |= s->taken != number;
    s->taken++;
}

/* The first horizon that a life of so many calls is in. */
static unsigned horizon_of(uint64_t life)
{
    unsigned log = ab_log2_up(life);
    return log <= LEAST ? 0 : (log - LEAST + STEP - 1) / STEP;
}

static void die(struct ab_scope_search *s, const struct ab_event *e, uint64_t number)
{
    uint64_t born = s->born[e->slot];
    s->born[e->slot] = 0;
    if (born == 0)
        return;
    enter_ring(s, DEATH | LONG_LIVED, number); /* what leaves the ring now is older than 2^22 */
    uint64_t life = s->taken - born;
    if (born - 1 < s->at)
        return;
    unsigned k = horizon_of(life);
    s->ring[(born - 1) % RING] = (uint8_t)(BIRTH | k);
    s->ring[(s->taken - 1) % RING] = (uint8_t)(DEATH | k);
}

static bool take(struct ab_scope_search *s, const struct ab_event *e, uint64_t number)
{
    AB_GROW_ZEROED(s->born, s->cap_slots, e->slot);
    if (e->kind == AB_EVENT_FREE || e->released) {
        die(s, e, number);
    } else if (s->thread == AB_SCOPE_ALL_THREADS || s->thread == e->thread) {
        bool is_birth = ab_event_gives_block(e);
        enter_ring(s, LONG_LIVED | (is_birth ? BIRTH : 0), number);
        if (is_birth)
            s->born[e->slot] = s->taken;
    } else if (ab_event_gives_block(e)) {
        s->born[e->slot] = 0;
    }
    return !s->is_short_of_memory;
}

static void finish(struct ab_scope_search *s)
{
    while (s->at < s->taken)
        leave_ring(s);
    for (unsigned k = s->least; k < s->end; k++)
        if (s->levels[k].is_low)
            end_scope(s, k);
}

enum ab_status ab_scope_search_visit(void *user, const struct ab_walk_batch *batch,
                                     struct ab_err *err)
{
    struct ab_scope_search *s = user;
    for (size_t i = 0; i < batch->n; i++)
        if (!take(s, &batch->events[i], batch->first + i))
            return ab_fail(err, AB_SYSTEM, "out of memory for the scopes");
    if (batch->where == AB_WALK_END)
        finish(s);
    return s->is_short_of_memory ? ab_fail(err, AB_SYSTEM, "out of memory for the scopes") : AB_OK;
}

/* The smallest scopes that there are, the largest, or those that hold most; -1 = there are none. */
static int choose(const struct ab_scope_verdict *verdicts, enum ab_scopes_wish wish)
{
    double best = -1;
    int chosen = -1;
    for (unsigned k = 0; k < AB_SCOPE_HORIZONS; k++)
        if (verdicts[k].has_scopes && verdicts[k].share > best)
            best = verdicts[k].share;
    for (unsigned k = 0; k < AB_SCOPE_HORIZONS; k++) {
        const struct ab_scope_verdict *v = &verdicts[k];
        if (!v->has_scopes || (wish == AB_SCOPES_BEST && v->share < best - NEAR))
            continue;
        bool is_better = chosen < 0 || (wish == AB_SCOPES_OUTER
                                            ? v->typical > verdicts[chosen].typical
                                            : v->typical < SMALLER * verdicts[chosen].typical);
        if (is_better)
            chosen = (int)k;
    }
    return chosen;
}

static struct ab_scope_kind kind_of(const struct ab_scope_verdict *v)
{
    return (struct ab_scope_kind){v->count, v->typical};
}

bool ab_scope_search_choose(const struct ab_scope_search *s, enum ab_scopes_wish wish,
                            struct ab_scope_choice *out)
{
    struct ab_scope_verdict verdicts[AB_SCOPE_HORIZONS];
    for (unsigned k = 0; k < AB_SCOPE_HORIZONS; k++)
        verdicts[k] = ab_scope_judge(&s->tallies[k], s->allocs);
    int chosen = choose(verdicts, wish);
    if (chosen < 0)
        return false;
    *out = (struct ab_scope_choice){
        .horizon = (unsigned)chosen,
        .typical = verdicts[chosen].typical,
        .count = verdicts[chosen].count,
        .purity = verdicts[chosen].purity,
        .nested = kind_of(&verdicts[choose(verdicts, AB_SCOPES_NESTED)]),
        .outer = kind_of(&verdicts[choose(verdicts, AB_SCOPES_OUTER)]),
    };
    for (unsigned k = 0; k < AB_SCOPE_HORIZONS; k++)
        out->typicals[k] = verdicts[k].has_scopes ? verdicts[k].typical : 0;
    return true;
}
