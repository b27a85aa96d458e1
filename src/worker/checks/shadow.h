/* SPDX-License-Identifier: MIT
 *
 * The shadow: a record of every live block by address, in the harness's own memory. It says which
 * ranges a new block must not overlap, and which contents a block must still have. It is a treap,
 * because the checker asks for neighbours by address. The nodes are in one mapping and refer to
 * each other by index, so that the mapping can grow. No malloc.
 */
#ifndef AB_WORKER_CHECKS_SHADOW_H
#define AB_WORKER_CHECKS_SHADOW_H

#include "worker/checks/target.h"

struct ab_shadow_block {
    uintptr_t at;
    size_t span;   /* bytes from `at` on that no other block may overlap; at least 1 */
    size_t size;   /* requested size */
    size_t filled; /* bytes that hold the pattern */
    uint64_t seq;  /* seed of the pattern */
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

/* Maps an empty shadow. Returns false if there is no memory. */
bool ab_shadow_open(struct ab_shadow *s);
void ab_shadow_close(struct ab_shadow *s);
void ab_shadow_clear(struct ab_shadow *s);

/* Returns the block that begins exactly at `at`; NULL = none. The pointer is valid until the next
 * put or drop. */
struct ab_shadow_block *ab_shadow_find(struct ab_shadow *s, uintptr_t at);
/* Returns a block that shares a byte with [at, at + span); NULL = none. */
struct ab_shadow_block *ab_shadow_overlap(struct ab_shadow *s, uintptr_t at, size_t span);
/* Adds a block. If two blocks begin at one address, find and drop choose one of them. Returns false
 * if there is no memory. */
bool ab_shadow_put(struct ab_shadow *s, const struct ab_shadow_block *block);
void ab_shadow_drop(struct ab_shadow *s, uintptr_t at);
/* Returns the next live block at or after index *i, and advances *i past it; NULL = no more. The
 * blocks are in no particular order. Begin with *i = 0. */
struct ab_shadow_block *ab_shadow_next(struct ab_shadow *s, uint32_t *i);

#endif
