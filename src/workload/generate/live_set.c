/* SPDX-License-Identifier: MIT
 *
 * A set of positions consists of three parts: one array that is split into live and empty
 * positions, the inverse of this array, and a doubly linked list of the live positions by age.
 * Together they take 16 bytes per position. An index by age, up to 36 bytes per position, is made
 * only when needed.
 */
#include "workload/generate/live_set.h"

#include "core/alloc.h"

#include <stdlib.h>

/* INDEX_FROM: number of steps along the list from which on a search in the index is faster.
 * INDEX_MOST: largest number of positions for which an index is made. */
enum { INDEX_FROM = 32, INDEX_MOST = 1 << 30 };

/* ---- index by age ---- */

static void index_drop(struct ab_age_index *x)
{
    free(x->tree);
    free(x->position_of);
    free(x->number_of);
    *x = (struct ab_age_index){0};
}

static void index_count(struct ab_age_index *x, uint32_t number, uint32_t change)
{
    for (uint32_t i = number + 1; i <= x->cap; i += i & -i)
        x->tree[i] += change;
}

/* Builds the index, or renumbers its live positions by age. Afterwards at least half of the numbers
 * are free. */
static void index_make(struct ab_live_set *s)
{
    struct ab_age_index *x = &s->index;
    if (x->tree == NULL) {
        for (x->cap = 64; x->cap < 2 * s->n;)
            x->cap *= 2;
        x->tree = ab_alloc(((size_t)x->cap + 1) * sizeof x->tree[0]);
        x->position_of = ab_alloc((size_t)x->cap * sizeof x->position_of[0]);
        x->number_of = ab_alloc((size_t)s->n * sizeof x->number_of[0]);
    }
    x->next = 0;
    for (uint32_t p = s->oldest; p != AB_NO_POSITION; p = s->newer[p]) {
        x->position_of[x->next] = p;
        x->number_of[p] = x->next++;
    }
    /* node i counts the live positions numbered from i - (i & -i) to i - 1 */
    for (uint32_t i = 1; i <= x->cap; i++)
        x->tree[i] = (i < x->next ? i : x->next) -
                     (i - (i & -i) < x->next ? i - (i & -i) : x->next);
}

static void index_add(struct ab_live_set *s, uint32_t position)
{
    struct ab_age_index *x = &s->index;
    if (x->tree == NULL)
        return;
    if (x->next == x->cap) {
        index_make(s); /* the position is in the list already, so the new index has it */
        return;
    }
    x->position_of[x->next] = position;
    x->number_of[position] = x->next;
    index_count(x, x->next++, 1);
}

/* Returns the live position that has exactly `rank` older live positions. */
static uint32_t index_find(const struct ab_age_index *x, uint64_t rank)
{
    uint32_t at = 0;
    for (uint32_t step = x->cap; step > 0; step /= 2)
        if (at + (uint64_t)step <= x->cap && x->tree[at + step] <= rank) {
            at += step;
            rank -= x->tree[at];
        }
    return x->position_of[at];
}

/* ---- set ---- */

void ab_live_set_init(struct ab_live_set *s, uint32_t n)
{
    *s = (struct ab_live_set){.oldest = AB_NO_POSITION, .youngest = AB_NO_POSITION};
    ab_live_set_grow(s, n);
}

/* Sets the pointers to the four arrays within one allocation. */
static void point_into(struct ab_live_set *s, uint32_t *memory, size_t n)
{
    s->members = memory;
    s->where = memory + n;
    s->older = memory + 2 * n;
    s->newer = memory + 3 * n;
}

void ab_live_set_grow(struct ab_live_set *s, uint32_t n)
{
    struct ab_live_set old = *s;
    if (n == 0)
        return;
    index_drop(&s->index); /* the index has the size for the old number of positions */
    uint32_t *memory = ab_alloc((size_t)n * 4 * sizeof *memory);
    point_into(s, memory, n);
    for (uint32_t i = 0; i < old.n; i++) {
        s->members[i] = old.members[i];
        s->where[i] = old.where[i];
        s->older[i] = old.older[i];
        s->newer[i] = old.newer[i];
    }
    for (uint32_t i = old.n; i < n; i++)
        s->members[i] = s->where[i] = i;
    s->n = n;
    free(old.members);
}

void ab_live_set_fini(struct ab_live_set *s)
{
    free(s->members);
    index_drop(&s->index);
    *s = (struct ab_live_set){0};
}

/* Exchanges two entries of `members` and updates `where`. */
static void exchange(struct ab_live_set *s, uint32_t i, uint32_t j)
{
    uint32_t a = s->members[i], b = s->members[j];
    s->members[i] = b;
    s->members[j] = a;
    s->where[a] = j;
    s->where[b] = i;
}

void ab_live_set_add(struct ab_live_set *s, uint32_t position)
{
    exchange(s, s->where[position], s->n_live++);
    s->older[position] = s->youngest;
    s->newer[position] = AB_NO_POSITION;
    if (s->youngest != AB_NO_POSITION)
        s->newer[s->youngest] = position;
    else
        s->oldest = position;
    s->youngest = position;
    index_add(s, position);
}

void ab_live_set_remove(struct ab_live_set *s, uint32_t position)
{
    uint32_t older = s->older[position], newer = s->newer[position];
    exchange(s, s->where[position], --s->n_live);
    *(older != AB_NO_POSITION ? &s->newer[older] : &s->oldest) = newer;
    *(newer != AB_NO_POSITION ? &s->older[newer] : &s->youngest) = older;
    if (s->index.tree != NULL)
        index_count(&s->index, s->index.number_of[position], UINT32_MAX);
}

void ab_live_set_oldest(struct ab_live_set *s, uint32_t *out, uint32_t n, uint64_t step)
{
    bool is_indexed = step >= INDEX_FROM && n > 1 && s->n <= INDEX_MOST;
    uint32_t position = s->oldest;
    if (is_indexed && s->index.tree == NULL)
        index_make(s);
    for (uint32_t i = 0; i < n; i++) {
        out[i] = is_indexed ? index_find(&s->index, i * step) : position;
        for (uint64_t k = 0; k < step && !is_indexed && i + 1 < n; k++)
            position = s->newer[position];
    }
}

void ab_live_set_youngest(const struct ab_live_set *s, uint32_t *out, uint32_t n)
{
    uint32_t position = s->youngest;
    for (uint32_t i = 0; i < n; i++, position = s->older[position])
        out[i] = position;
}

void ab_live_set_shuffled(struct ab_live_set *s, uint32_t *out, uint32_t n, struct ab_rng *rng)
{
    for (uint32_t i = 0; i < n; i++) { /* Fisher-Yates shuffle, stopped after n entries */
        exchange(s, i, i + (uint32_t)ab_rng_below(rng, s->n_live - i));
        out[i] = s->members[i];
    }
}
