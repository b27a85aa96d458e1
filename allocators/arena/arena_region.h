/* SPDX-License-Identifier: MIT
 *
 * What the sources of the arena share; no other file includes it.
 */
#ifndef AB_ALLOCATORS_ARENA_REGION_H
#define AB_ALLOCATORS_ARENA_REGION_H

#include "../common/blocks.h"
#include "arena.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(hidden)

#define AB_CACHE_LINE_BYTES ((size_t)64)

/* At the begin of a further region: the one before it, as the arena left it, and its own size. */
struct ab_arena_region {
    char *next, *limit, *base, *end, *dirty, *packed, *packed_end;
    size_t page_bytes, head_bytes;
    struct ab_arena_region *below;
    size_t bytes;
    char *own_limit, *own_dirty; /* while it is the spare one */
};

struct ab_arena_deferred {
    void (*act)(void *context);
    void *context;
    size_t position; /* of the arena, just before this was allocated */
    struct ab_arena_deferred *below;
};

/* The checked build ends the process for an arena that is not open. */
void ab_arena_demand_open(const struct ab_arena *a);
/* Makes [limit, limit + need) usable; need ≤ end − limit. False and errno. */
bool ab_arena_commit(struct ab_arena *a, size_t need);
/* Room for [block, block + size) and its gap in this region, or not. */
bool ab_arena_make_room(struct ab_arena *a, const char *block, size_t size);
/* The arena goes on in a region that holds such a block: the spare one, or a new one. */
bool ab_arena_push_region(struct ab_arena *a, size_t align, size_t size);
/* The arena goes back to the region below. There is one. */
void ab_arena_pop_region(struct ab_arena *a);
void ab_arena_drop_spare(struct ab_arena *a);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
