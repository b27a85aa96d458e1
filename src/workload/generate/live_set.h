/* SPDX-License-Identifier: MIT
 *
 * The positions of a set that hold a live block while a tape is made. Membership, a random live or
 * empty position, oldest and youngest all take constant time. The cost of making a tape is
 * therefore proportional to its ops, whatever the verbs do.
 */
#ifndef AB_WORKLOAD_GENERATE_LIVE_SET_H
#define AB_WORKLOAD_GENERATE_LIVE_SET_H

#include "base/rng.h"

#include <stdbool.h>
#include <stdint.h>

/* Index of live positions by age: a Fenwick tree over the order in which they were added. It is
 * made when `every(k)` with a large k is first used. */
struct ab_age_index {
    uint32_t *tree; /* [1, cap]: number of live positions in each node's range; NULL = no index */
    uint32_t *position_of; /* by number */
    uint32_t *number_of;   /* by position */
    uint32_t cap, next;    /* size in numbers, a power of two; the next number to assign */
};

struct ab_live_set {
    uint32_t n, n_live;
    uint32_t *members;       /* [0, n_live) are live; then the empty ones, the one vacated last in
                          front */
    uint32_t *where;         /* index of each position in members */
    uint32_t *older, *newer; /* neighbours by age, among live positions */
    uint32_t oldest, youngest;
    uint64_t cursor; /* for `at: next` */
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

void ab_live_set_add(struct ab_live_set *s, uint32_t position);    /* position must be empty */
void ab_live_set_remove(struct ab_live_set *s, uint32_t position); /* position must be live */

/* Copy the first n live positions to `out`: by age from the oldest (every step-th) or from the
 * youngest, or n drawn at random without repetition. n (times step) must not exceed n_live. The
 * time is proportional to n, times the logarithm of the set's size if step is large. */
void ab_live_set_oldest(struct ab_live_set *s, uint32_t *out, uint32_t n, uint64_t step);
void ab_live_set_youngest(const struct ab_live_set *s, uint32_t *out, uint32_t n);
void ab_live_set_shuffled(struct ab_live_set *s, uint32_t *out, uint32_t n, struct ab_rng *rng);

#endif
