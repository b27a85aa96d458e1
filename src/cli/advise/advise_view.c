/* SPDX-License-Identifier: MIT
 *
 * Words for proposals, reasons and the answer.
 */
#include "cli/advise/advise.h"

#include "core/units_show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* True if the trace is too short to show times per million calls. */
static bool is_short(const struct ab_advice *a)
{
    return a->n_scopes == 0 && a->n_events < 1000;
}

double ab_advise_unit_time(const struct ab_advice *a, double ns)
{
    if (a->n_scopes > 0)
        return ns / (double)a->n_scopes;
    return a->n_events > 0 ? ns / (double)a->n_events * (is_short(a) ? 1 : 1e6) : (double)NAN;
}

const char *ab_advise_unit(const struct ab_advice *a)
{
    return a->n_scopes > 0 ? "scope" : is_short(a) ? "call" : "M calls";
}

const char *ab_advise_proposal(const struct ab_advice_heap *h, char *buf, size_t cap)
{
    const char *local = ab_advice_is_shared(h) ? " a thread" : "";
    switch (h->kind) {
    case AB_ADVICE_STACK:
        snprintf(buf, cap, "stack, %s%s", AB_BYTES(h->capacity_bytes), local);
        break;
    case AB_ADVICE_FRAME:
        snprintf(buf, cap, "arena, %s%s", AB_BYTES(h->capacity_bytes), local);
        break;
    case AB_ADVICE_NESTED:
        snprintf(buf, cap, "nested, %s%s", AB_BYTES(h->capacity_bytes), local);
        break;
    case AB_ADVICE_DOUBLE:
        snprintf(buf, cap, "arena, %s x 2%s", AB_BYTES(h->capacity_bytes), local);
        break;
    case AB_ADVICE_POOL:
        snprintf(buf, cap, "pool, %s x %llu%s", AB_BYTES(h->size_most),
                 (unsigned long long)h->capacity_blocks, local);
        break;
    default:
        snprintf(buf, cap, "slab%s", local);
    }
    return buf;
}

const char *ab_advise_what(const struct ab_advice_heap *h, char *buf, size_t cap)
{
    static const char *const words[AB_ADVICE_KIND_COUNT] = {
        [AB_ADVICE_STACK] = "freed youngest first",
        [AB_ADVICE_FRAME] = "dies in its scope",
        [AB_ADVICE_NESTED] = "dies in a nested scope",
        [AB_ADVICE_DOUBLE] = "dies in the next scope",
        [AB_ADVICE_SLAB] = "few small sizes",
    };
    if (h->kind == AB_ADVICE_POOL)
        snprintf(buf, cap, "%s, %llu at a time", AB_BYTES(h->size_most),
                 (unsigned long long)h->most_blocks);
    else
        snprintf(buf, cap, "%s", words[h->kind]);
    return buf;
}

const char *ab_advise_refusal(const struct ab_advised *m, size_t heap)
{
    const struct ab_advised_row *row = &m->heaps[heap];
    bool is_open = ab_advised_is_open(&m->together);
    return !row->is_measured                 ? "n/a"
           : (m->small >> heap & 1) != 0     ? "gains too little"
           : ab_advised_pays(row) && is_open ? "faster alone; with the others not known"
           : ab_advised_pays(row)            ? "faster alone, but not with the others"
           : ab_advised_is_open(row)         ? "not known"
                                             : "no significant gain";
}

bool ab_advise_is_nearly_scoped(const struct ab_advice_group *g)
{
    uint64_t ends = g->in_scope + g->in_next + g->later;
    return g->n_survivors > 0 && g->in_scope >= ends - ends / 10 && g->calls >= 10;
}

const char *ab_advise_memory(double bytes, char *buf, size_t cap)
{
    snprintf(buf, cap, "%s", isnan(bytes) ? "n/a" : AB_BYTES(bytes));
    return buf;
}

/* ---- the answer ---- */

/* Returns the fastest malloc that is clearly faster than the base; NULL = none. */
static const struct ab_advised_row *best_general(const struct ab_advised *m)
{
    const struct ab_advised_row *best = NULL;
    for (size_t i = 0; i < m->n_generals; i++) {
        const struct ab_advised_row *row = &m->generals[i];
        if (row->is_malloc && ab_advised_is_gain(row) &&
            (best == NULL || row->speed.ratio > best->speed.ratio))
            best = row;
    }
    return best;
}

static void add_small(struct ab_text *line, const struct ab_advised *m)
{
    const struct ab_effect *e = &m->together.speed;
    int n = __builtin_popcount(m->small);
    ab_text_addf(line,
                 "keep malloc: %d heap%s would gain %.1f %% [%.1f, %.1f], not clearly %g %% "
                 "(--limit; replays of %u rounds).",
                 n, n > 1 ? "s" : "", 100 * (e->ratio - 1), 100 * (e->low - 1), 100 * (e->high - 1),
                 100 * m->limit, m->n_rounds);
}

/* Appends why nothing is advised. Says whether the proposals gain nothing or their gain is
 * unknown. */
static void add_nothing(struct ab_text *line, const struct ab_advise_view *v)
{
    const struct ab_advised *m = v->measured;
    bool has_run = false;
    for (size_t i = 0; i < v->advice->n_heaps; i++)
        has_run |= m->heaps[i].is_measured;
    if (v->advice->n_heaps == 0)
        ab_text_add(line, "keep malloc: no allocations of this trace have a pattern that "
                          "a simpler allocator could use.");
    else if (!has_run)
        ab_text_add(line, "keep malloc: no proposal could be measured.");
    else if (m->small != 0)
        add_small(line, m);
    else if (m->n_rounds < AB_EFFECT_MIN_ROUNDS)
        ab_text_addf(line,
                     "none: %u round%s cannot show what is faster; at least %d are needed "
                     "(--rounds).",
                     m->n_rounds, m->n_rounds == 1 ? "" : "s", AB_EFFECT_MIN_ROUNDS);
    else if (strcmp(ab_advised_answer(m), "open") == 0)
        ab_text_addf(line,
                     "none: in fewer than %d of the %u rounds the difference could be measured; "
                     "in the others calls were too fast, within the harness overhead (--rounds).",
                     AB_EFFECT_MIN_ROUNDS, m->n_rounds);
    else
        ab_text_addf(line,
                     "keep malloc: no proposal is significantly faster or takes less memory "
                     "(replays of %u rounds).",
                     m->n_rounds);
}

/* An increase of memory is mentioned if memory grows by more than this factor. */
#define MUCH_MEMORY 1.5

static void add_memory(struct ab_text *line, const struct ab_advised_row *row, bool always)
{
    char before[32], after[32];
    double times = row->memory_bytes / row->base_memory_bytes;
    if (times > MUCH_MEMORY)
        ab_text_addf(line, ", but %.3gx the memory", times);
    if (times > MUCH_MEMORY || always)
        ab_text_addf(line, " (%s%s -> %s)", times > MUCH_MEMORY ? "" : "memory ",
                     ab_advise_memory(row->base_memory_bytes, before, sizeof before),
                     ab_advise_memory(row->memory_bytes, after, sizeof after));
}

/* Appends "calls take 2.03 us per scope instead of 54.4 us". Shows times and no ratio, because a
 * ratio could be mistaken for that of the whole program. */
static void add_times(struct ab_text *line, const struct ab_advise_view *v,
                      const struct ab_advised_row *row)
{
    char now[32];
    snprintf(now, sizeof now, "%s", AB_TIME(ab_advise_unit_time(v->advice, row->time_ns)));
    ab_text_addf(line, "calls take %s per %s instead of %s", now, ab_advise_unit(v->advice),
                 AB_TIME(ab_advise_unit_time(v->advice, row->base_time_ns)));
}

static void add_heaps(struct ab_text *line, const struct ab_advise_view *v, const char *verb)
{
    const struct ab_advised *m = v->measured;
    const struct ab_advised_row *row = &m->together;
    char before[32], after[32];
    int n = __builtin_popcount(m->used);
    ab_text_addf(line, "%s%d heap%s: ", verb, n, n > 1 ? "s" : "");
    add_times(line, v, row);
    if (m->has_compiled && m->compiled.is_measured)
        ab_text_addf(line, " (%s when compiled in with --code)",
                     AB_TIME(ab_advise_unit_time(v->advice, m->compiled.time_ns)));
    add_memory(line, row, m->by_memory);
    if (ab_advised_holds_less(row))
        ab_text_addf(line, " (held by live blocks %s -> %s)",
                     ab_advise_memory(row->base_held_bytes, before, sizeof before),
                     ab_advise_memory(row->held_bytes, after, sizeof after));
}

static void add_general(struct ab_text *line, const struct ab_advise_view *v,
                        const struct ab_advised_row *best, const char *verb)
{
    ab_text_addf(line, "%s%s for everything, no code change: ", verb, AB_SHOWN(128, best->name));
    add_times(line, v, best);
    add_memory(line, best, false);
}

/* Appends the possible changes, the one with the most gain for its effort first. Heaps need a
 * change of the code, so they come first only if they gain --limit more than another malloc. */
static void add_ways(struct ab_text *line, const struct ab_advise_view *v,
                     const struct ab_advised_row *best, const char *verb)
{
    const struct ab_advised *m = v->measured;
    double heaps = m->together.speed.ratio;
    if (m->has_compiled && m->compiled.is_measured && m->compiled.speed.ratio > heaps)
        heaps = m->compiled.speed.ratio;
    bool is_general_first = best != NULL &&
                            (m->used == 0 || best->speed.ratio * (1 + m->limit) >= heaps);
    if (is_general_first)
        add_general(line, v, best, verb);
    else
        add_heaps(line, v, verb);
    if (best != NULL && m->used != 0) {
        ab_text_add(line, ". Alternatively ");
        if (is_general_first)
            add_heaps(line, v, "");
        else
            add_general(line, v, best, "");
    }
    ab_text_addf(line, " (replays of %u rounds).", m->n_rounds);
}

enum { SMALL_PART = 100 }; /* a saving of 1/SMALL_PART of a budget is not worth a change */

static double mean_of_scope(const struct ab_advise_view *v)
{
    const struct ab_advised *m = v->measured;
    return ab_advise_unit_time(v->advice,
                               m->used != 0 ? m->together.base_time_ns : m->base.time_ns);
}

static bool is_small_part(const struct ab_advise_view *v)
{
    return v->budget != NULL && v->advice->n_scopes > 0 && v->budget->before.n_missed == 0 &&
           mean_of_scope(v) * SMALL_PART < v->budget_ns;
}

void ab_advise_answer(const struct ab_advise_view *v, struct ab_text *line)
{
    const struct ab_advised *m = v->measured;
    const struct ab_advised_row *best = best_general(m);
    bool has_way = m->used != 0 || best != NULL;
    if (is_small_part(v)) {
        ab_text_addf(line, "change nothing: allocation takes only %s of %s",
                     AB_TIME(mean_of_scope(v)), AB_TIME(v->budget_ns));
        ab_text_addf(line, " (%.2g %% of the budget).%s", 100 * mean_of_scope(v) / v->budget_ns,
                     has_way ? " If it has to take less: " : "");
        if (has_way)
            add_ways(line, v, best, "use ");
        return;
    }
    if (m->used == 0)
        add_nothing(line, v);
    if (m->used == 0 && best != NULL)
        ab_text_add(line, " Alternatively ");
    if (has_way)
        add_ways(line, v, best, m->used == 0 ? "" : "use ");
}
