/* SPDX-License-Identifier: MIT
 *
 * It is known only when a block is freed whether the block was short-lived. Calls therefore wait in
 * a ring buffer as long as the largest horizon, and are counted when they leave it. Each call takes
 * one byte, with the class of the lifetime that begins or ends there.
 */
#include "trace_tools/scope_search.h"

#include "base/bits.h"
#include "core/alloc.h"

#include <math.h>
#include <stdlib.h>

enum {
    LEAST = 4, /* log2 of the smallest horizon; the log2 of each next horizon is larger by STEP */
    STEP = 2,
    RING = 1 << (LEAST + STEP * (AB_SCOPE_HORIZONS - 1)),
    LONG_LIVED = AB_SCOPE_HORIZONS, /* class of lifetimes above the largest horizon */
    CLASS = 31,                     /* mask of the class in a byte of the ring */
    BIRTH = 64,
    DEATH = 128,
    KEPT = 1 << 18 /* most ends of a horizon that are kept: 4 MiB */
};

/* Horizons whose shares differ by less than NEAR are as good as equal. Scopes count as equally
 * large if the ratio of their sizes is above SMALLER. */
static const double NEAR = 0.05, SMALLER = 0.9;

/* ---- sums over stretches, grouped by their size; a stretch is the calls between two minima of the
 * number of live short-lived blocks ---- */

enum {
    LOW = 8, /* a scope ends when 1/LOW of the maximum of live blocks is left */
    /* a stretch with less than 1/FRAGMENT of the allocations of the typical scope is a fragment */
    FRAGMENT = 8,
    BINS = 64 * 4, /* number of size classes: four per power of two */
};

struct seen { /* sums for one stretch */
    uint64_t allocs;
    uint64_t shorts;    /* short-lived allocations */
    uint64_t survivors; /* short-lived blocks that are live at its end */
    uint64_t most;      /* maximum of live short-lived blocks */
    uint64_t calls;     /* calls of the threads in question */
    uint64_t area;      /* live short-lived blocks, summed over these calls */
};

struct tally { /* zero-initialize it */
    struct bin {
        uint64_t n;
        struct seen sum;
    } bins[BINS]; /* indexed by the class of the number of allocations */
};

struct verdict {
    bool has_scopes;
    double typical; /* allocations of a typical scope */
    double count;   /* number of scopes */
    double share;   /* share of all allocations that are freed in their scope; a lower bound */
    /* share of the allocations in scopes that are freed in their scope; a lower bound */
    double purity;
    double variation; /* standard deviation of the sizes of scopes / their mean */
    double expected;  /* number of scopes expected by accident */
};

struct level { /* state of one horizon */
    /* live: short-lived blocks that are live now; shorts: short-lived blocks allocated so far */
    uint64_t live, shorts;
    uint64_t most;           /* maximum of `live` since the last end */
    uint64_t came_less_gone; /* sum of the numbers of births minus that of deaths, modulo 2^64 */
    bool is_low;             /* True if a scope probably ends at `low` */
    struct moment {
        uint64_t live, end; /* end: as in struct ab_scopes */
        uint64_t allocs, shorts, calls, area;
    } low, last; /* low: minimum of `live` since the last end; last: end of the last scope */
};

struct kept_end {
    uint64_t end, allocs;
};
struct kept { /* ends of one horizon, kept until the walk shows which of them are used */
    struct kept_end *items;
    size_t n, cap;
    bool is_over; /* True if there were more than KEPT ends, so that none are kept */
};

struct ab_scope_search {
    uint64_t thread;
    uint8_t *ring;
    uint64_t *numbers;  /* numbers of the calls in the ring; kept only if ends are needed */
    uint64_t taken, at; /* taken: calls that have entered the ring; at: calls that have left it */
    uint64_t allocs;    /* allocations that have left the ring */
    /* index in the ring of the allocation of a slot's block + 1, by slot; 0 = block of another
     * thread */
    uint64_t *born;
    size_t cap_slots;
    unsigned least, end; /* range of horizons that are searched */
    struct level levels[AB_SCOPE_HORIZONS];
    struct tally tallies[AB_SCOPE_HORIZONS];
    struct kept kept[AB_SCOPE_HORIZONS];
    /* True if call numbers differ from places in the ring, and `numbers` is not kept */
    bool has_gaps;
    struct ab_thread_scopes *to; /* receives the ends; NULL = ends are kept */
    double typical;
    uint64_t kept_allocs; /* allocations at the last end passed on */
};

struct ab_scope_search *ab_scope_search_open(uint64_t thread)
{
    struct ab_scope_search *s = ab_alloc_zeroed(1, sizeof *s);
    s->thread = thread;
    s->end = AB_SCOPE_HORIZONS;
    s->ring = ab_alloc(RING);
    return s;
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
    s->numbers = ab_alloc(RING * sizeof s->numbers[0]);
}

void ab_scope_search_emit(struct ab_scope_search *s, const struct ab_scope_choice *choice,
                          struct ab_thread_scopes *to)
{
    s->least = choice->horizon;
    s->end = choice->horizon + 1;
    s->typical = choice->typical;
    s->to = to;
    ab_scope_search_number(s);
}

static void hand_on(struct ab_scope_search *s, uint64_t end, uint64_t allocs_so_far)
{
    double allocs = (double)(allocs_so_far - s->kept_allocs);
    if (allocs < s->typical / FRAGMENT)
        return;
    s->kept_allocs = allocs_so_far;
    AB_GROW(s->to->ends, s->to->cap, s->to->n);
    s->to->ends[s->to->n++] = end;
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

/* Writes the kept ends of a horizon to s->to. Returns false if they were not all kept. */
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
                               struct ab_thread_scopes *to, struct ab_thread_scopes *others)
{
    s->to = others;
    for (unsigned k = 0; k < AB_SCOPE_HORIZONS; k++)
        if (k != choice->horizon && choice->typicals[k] > 0)
            hand_over(s, k, choice->typicals[k]);
    s->to = to;
    return hand_over(s, choice->horizon, choice->typical);
}

/* ---- deciding which stretches are scopes, and whether there are more of them than by accident
 * ---- */

enum {
    GIANT = 8,     /* a stretch with 1/GIANT of all allocations or more is a phase of the program */
    PART = 4,      /* scopes must have at least 1/PART of all allocations */
    GONE = 2,      /* at least 1/GONE of the allocations in scopes must be freed by their ends */
    ACCIDENTS = 4, /* factor by which scopes must outnumber accidental minima */
};
static const double VARIATION = 0.4; /* most variation of scopes that do not outnumber accidents */

static unsigned bin_of(uint64_t allocs)
{
    unsigned log = allocs == 0 ? 0 : ab_log2(allocs);
    unsigned quarter = log >= 2 ? (unsigned)(allocs >> (log - 2)) & 3 : 0;
    return allocs < 4 ? (unsigned)allocs : log * 4 + quarter;
}

static void scope_tally_add(struct tally *t, const struct seen *seen)
{
    struct bin *b = &t->bins[bin_of(seen->allocs)];
    b->n++;
    b->sum.allocs += seen->allocs;
    b->sum.shorts += seen->shorts;
    b->sum.survivors += seen->survivors;
    b->sum.most += seen->most;
    b->sum.calls += seen->calls;
    b->sum.area += seen->area;
}

static double size_of(const struct bin *b)
{
    return (double)b->sum.allocs / (double)b->n;
}

/* Returns the size above which a stretch is a phase of the program. */
static double phase_size(uint64_t allocs)
{
    return (double)allocs / GIANT;
}

static double find_typical(const struct tally *t, uint64_t allocs)
{
    double all = 0, passed = 0;
    unsigned end = 0;
    while (end < BINS && (t->bins[end].n == 0 || size_of(&t->bins[end]) <= phase_size(allocs)))
        all += (double)t->bins[end++].sum.allocs;
    for (unsigned i = 0; i < end; i++) {
        passed += (double)t->bins[i].sum.allocs;
        if (t->bins[i].n > 0 && passed * 2 >= all)
            return size_of(&t->bins[i]);
    }
    return 0;
}

struct sums {
    double n, allocs, squares, most;        /* sums over scopes only */
    double part, shorts, gone, calls, area; /* sums over scopes and fragments */
};

/* Sums up all stretches except phases. In fragments, blocks are counted, but fragments are not
 * scopes. */
static struct sums sum_up(const struct tally *t, uint64_t allocs, double typical)
{
    struct sums s = {0};
    for (unsigned i = 0; i < BINS; i++) {
        const struct bin *b = &t->bins[i];
        if (b->n == 0 || size_of(b) > phase_size(allocs))
            continue;
        s.part += (double)b->sum.allocs;
        s.shorts += (double)b->sum.shorts;
        s.gone += (double)b->sum.shorts - (double)b->sum.survivors;
        s.calls += (double)b->sum.calls;
        s.area += (double)b->sum.area;
        if (size_of(b) < typical / FRAGMENT)
            continue;
        s.n += (double)b->n;
        s.allocs += (double)b->sum.allocs;
        s.squares += (double)b->n * size_of(b) * size_of(b);
        s.most += (double)b->sum.most;
    }
    return s;
}

/* Returns how often the number of live blocks would fall as low if blocks came and went
 * independently. In equilibrium, that is as often as a block is allocated while just that many are
 * live. */
static double by_accident(const struct sums *s)
{
    double mean = s->area / s->calls, low = floor(s->most / s->n / LOW);
    return mean > 0 ? s->shorts * exp(low * log(mean) - mean - lgamma(low + 1)) : s->shorts;
}

bool ab_scope_is_regular(double count, double variation, double expected)
{
    return variation <= VARIATION || count >= ACCIDENTS * expected;
}

/* Judges one horizon. `allocs` is the number of allocations in the whole trace. */
static struct verdict scope_judge(const struct tally *t, uint64_t allocs)
{
    struct verdict v = {.typical = find_typical(t, allocs)};
    struct sums s = sum_up(t, allocs, v.typical);
    if (v.typical < AB_SCOPE_ALLOCS_LEAST || s.n < AB_SCOPE_COUNT_LEAST)
        return v;
    double mean = s.allocs / s.n, variance = s.squares / s.n - mean * mean;
    v.count = s.n;
    v.share = s.gone / (double)allocs;
    v.purity = s.gone / s.part;
    v.variation = variance > 0 ? sqrt(variance) / mean : 0;
    v.expected = by_accident(&s);
    v.has_scopes = s.part * PART >= (double)allocs && s.gone * GONE >= s.part &&
                   ab_scope_is_regular(v.count, v.variation, v.expected);
    return v;
}

static void end_scope(struct ab_scope_search *s, unsigned k)
{
    struct level *l = &s->levels[k];
    scope_tally_add(&s->tallies[k], &(struct seen){.allocs = l->low.allocs - l->last.allocs,
                                                   .shorts = l->low.shorts - l->last.shorts,
                                                   .survivors = l->low.live,
                                                   .calls = l->low.calls - l->last.calls,
                                                   .area = l->low.area - l->last.area,
                                                   .most = l->most});
    if (s->to != NULL)
        hand_on(s, l->low.end, l->low.allocs);
    else
        keep(s, &s->kept[k], &l->low);
    l->last = l->low;
    l->is_low = false;
    l->most = l->live;
}

/* Updates a level at a call that changes its number of live short-lived blocks. The sum of that
 * number over all calls so far is `live` * now - came_less_gone. */
static inline void step_birth(struct ab_scope_search *s, unsigned k)
{
    struct level *l = &s->levels[k];
    l->came_less_gone += s->at;
    l->shorts++;
    l->live++;
    if (l->is_low && l->live > l->most / LOW)
        end_scope(s, k);
    else if (l->live > l->most)
        l->most = l->live;
}

static inline void step_death(struct ab_scope_search *s, unsigned k)
{
    struct level *l = &s->levels[k];
    l->came_less_gone -= s->at;
    l->live--;
    bool is_lower = l->is_low ? l->live < l->low.live : l->live <= l->most / LOW;
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

/* Returns the smallest horizon that contains a lifetime of `life` calls. */
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
    /* the call that leaves the ring now is older than 2^22 calls */
    enter_ring(s, DEATH | LONG_LIVED, number);
    uint64_t life = s->taken - born;
    if (born - 1 < s->at)
        return;
    unsigned k = horizon_of(life);
    s->ring[(born - 1) % RING] = (uint8_t)(BIRTH | k);
    s->ring[(s->taken - 1) % RING] = (uint8_t)(DEATH | k);
}

static void take(struct ab_scope_search *s, const struct ab_event *e, uint64_t number)
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
    (void)err;
    for (size_t i = 0; i < batch->n; i++)
        take(s, &batch->events[i], batch->first + i);
    if (batch->where == AB_WALK_END)
        finish(s);
    return AB_OK;
}

/* Chooses the horizon with the smallest scopes, with the largest scopes, or with the most
 * allocations in scopes, as `wish` says. Returns -1 if there are no scopes. */
static int choose(const struct verdict *verdicts, enum ab_scopes_wish wish)
{
    double best = -1;
    int chosen = -1;
    for (unsigned k = 0; k < AB_SCOPE_HORIZONS; k++)
        if (verdicts[k].has_scopes && verdicts[k].share > best)
            best = verdicts[k].share;
    for (unsigned k = 0; k < AB_SCOPE_HORIZONS; k++) {
        const struct verdict *v = &verdicts[k];
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

static struct ab_scope_kind kind_of(const struct verdict *v)
{
    return (struct ab_scope_kind){v->count, v->typical};
}

bool ab_scope_search_choose(const struct ab_scope_search *s, enum ab_scopes_wish wish,
                            struct ab_scope_choice *out)
{
    struct verdict verdicts[AB_SCOPE_HORIZONS];
    for (unsigned k = 0; k < AB_SCOPE_HORIZONS; k++)
        verdicts[k] = scope_judge(&s->tallies[k], s->allocs);
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
