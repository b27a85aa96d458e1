/* SPDX-License-Identifier: MIT
 *
 * Which positions of a set hold a live block while a tape is made: membership, a random live or
 * empty one, oldest and youngest, all in constant time, so that making a tape costs in proportion
 * to its ops whatever the verbs ask for.
 */
#ifndef AB_WORKLOAD_GENERATE_LIVE_SET_H
#define AB_WORKLOAD_GENERATE_LIVE_SET_H

#include "base/rng.h"

#include <stdbool.h>
#include <stdint.h>

/* Which live position is the n-th by age: a Fenwick tree over the order in which they were added. It is
 * made when `every(k)` with a large k is first picked. */
struct ab_age_index {
    uint32_t
        *tree; /* [1, cap]: how many live positions have a number in the stretch; NULL = none */
    uint32_t *position_of; /* of each number */
    uint32_t *number_of;   /* of each position */
    uint32_t cap, next;    /* numbers in all, a power of two; the next to give */
};

struct ab_live_set {
    uint32_t n, n_live;
    uint32_t *members; /* [0, n_live) live, then the empty ones, the one vacated last in front */
    uint32_t *where;   /* of each position in members */
    uint32_t *older, *newer; /* neighbours by age, among the live ones */
    uint32_t oldest, youngest;
    uint64_t cursor; /* of `at: next` */
    struct ab_age_index index;
};
#define AB_NO_POSITION UINT32_MAX

void ab_live_set_init(struct ab_live_set *s, uint32_t n);
void ab_live_set_grow(struct ab_live_set *s, uint32_t n); /* to n positions, the new ones empty */
void ab_live_set_fini(struct ab_live_set *s);

static inline bool ab_live_set_has(const struct ab_live_set *s, uint32_t position)
{
    return s->where[position] < s->n_live;
}

void ab_live_set_add(struct ab_live_set *s, uint32_t position);    /* an empty one */
void ab_live_set_remove(struct ab_live_set *s, uint32_t position); /* a live one */

/* The first n live positions: by age from the oldest or the youngest, every step-th; or n drawn at
 * random without repetition. n (times step) must not exceed what there is. Time is in proportion to n,
 * times the logarithm of the set where step is large. */
void ab_live_set_oldest(struct ab_live_set *s, uint32_t *out, uint32_t n, uint64_t step);
void ab_live_set_youngest(const struct ab_live_set *s, uint32_t *out, uint32_t n);
void ab_live_set_shuffled(struct ab_live_set *s, uint32_t *out, uint32_t n, struct ab_rng *rng);

#endif
