/* SPDX-License-Identifier: MIT
 *
 * Every live block by its address, in memory of our own: what a new block must not touch, and what
 * a block must still hold. A treap, because neighbours by address are the question; nodes lie in
 * one mapping and name each other by index, so that it can grow. No malloc.
 */
#ifndef AB_WORKER_CHECKS_SHADOW_H
#define AB_WORKER_CHECKS_SHADOW_H

#include "worker/checks/target.h"

struct ab_shadow_block {
    uintptr_t at;
    size_t span;   /* bytes from `at` on that no other block may have; at least 1 */
    size_t size;   /* what was asked for */
    size_t filled; /* bytes that hold the pattern */
    uint64_t seq;  /* of the pattern */
    ab_ref ref;
    struct ab_ask ask;
};

struct ab_shadow_node;
struct ab_shadow {
    struct ab_shadow_node *nodes;
    uint32_t n_used, cap, root, vacant;
    uint32_t n_live;
    uint64_t random;
};

/* False when there is no memory. */
bool ab_shadow_open(struct ab_shadow *s);
void ab_shadow_close(struct ab_shadow *s);
void ab_shadow_clear(struct ab_shadow *s);

/* The block that begins exactly there; NULL = none. Good until the next put or drop. */
struct ab_shadow_block *ab_shadow_find(struct ab_shadow *s, uintptr_t at);
/* A block that shares a byte with [at, at + span); NULL = none. */
struct ab_shadow_block *ab_shadow_overlap(struct ab_shadow *s, uintptr_t at, size_t span);
/* Where two begin at one place, one of them is found and dropped first. False when there is no
 * memory. */
bool ab_shadow_put(struct ab_shadow *s, const struct ab_shadow_block *block);
void ab_shadow_drop(struct ab_shadow *s, uintptr_t at);
/* All live blocks, in no order: the next at or after *i; NULL = no more. Starts with *i = 0. */
struct ab_shadow_block *ab_shadow_next(struct ab_shadow *s, uint32_t *i);

#endif
