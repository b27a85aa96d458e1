/* SPDX-License-Identifier: MIT
 *
 * The set of positions that hold a live block while a tape is made. Finding the oldest, the
 * youngest, a random live or a random empty position takes constant time, and so does a test of one
 * position. So the cost of making a tape is proportional to its ops, whatever the verbs do.
 */
#ifndef AB_WORKLOAD_GENERATE_LIVE_SET_H
#define AB_WORKLOAD_GENERATE_LIVE_SET_H

#include "base/rng.h"

#include <stdbool.h>
#include <stdint.h>

/* Index of the live positions by age: a Fenwick tree over the numbers that positions get when they
 * become live. It is made when `every(k)` with a large k is first used. */
struct ab_age_index {
    /* entries 1 … cap: number of live positions in the range of each node; NULL = there is no
     * index */
    uint32_t *tree;
    uint32_t *position_of; /* position that has each number */
    uint32_t *number_of;   /* number of each live position */
    /* cap: size of the tree, a power of two; next: the next number to assign */
    uint32_t cap, next;
};

struct ab_live_set {
    uint32_t n, n_live;
    /* all positions: first the n_live live ones, then the empty ones, of which the one vacated last
     * comes first */
    uint32_t *members;
    uint32_t *where;         /* index of each position in `members` */
    uint32_t *older, *newer; /* next older and next newer live position of each live position */
    uint32_t oldest, youngest;
    uint64_t cursor; /* cursor of `at: next` */
    struct ab_age_index index;
};
#define AB_NO_POSITION UINT32_MAX

void ab_live_set_init(struct ab_live_set *s, uint32_t n);
/* Grows to n positions; the new ones are empty */
void ab_live_set_grow(struct ab_live_set *s, uint32_t n);
void ab_live_set_fini(struct ab_live_set *s);

static inline bool ab_live_set_has(const struct ab_live_set *s, uint32_t position)
{
    return s->where[position] < s->n_live;
}

void ab_live_set_add(struct ab_live_set *s, uint32_t position);    /* position must be empty */
void ab_live_set_remove(struct ab_live_set *s, uint32_t position); /* position must be live */

/* Copy n live positions to `out`: every step-th from the oldest on, the n youngest from the
 * youngest on, or n drawn at random without repetition. (n - 1) * step must be below n_live; for
 * the other two functions step is 1. The time is proportional to n, times the logarithm of the
 * set's size if step is large. */
void ab_live_set_oldest(struct ab_live_set *s, uint32_t *out, uint32_t n, uint64_t step);
void ab_live_set_youngest(const struct ab_live_set *s, uint32_t *out, uint32_t n);
void ab_live_set_shuffled(struct ab_live_set *s, uint32_t *out, uint32_t n, struct ab_rng *rng);

#endif
