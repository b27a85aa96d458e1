/* SPDX-License-Identifier: MIT
 *
 * The arena with the interface of ab_allocator.h. Best with one arena for each group of things
 * that die together. Counts what was asked for, which the arena itself does not: its `used`
 * includes padding.
 */
#ifndef AB_ALLOCATORS_ARENA_ALLOCATOR_H
#define AB_ALLOCATORS_ARENA_ALLOCATOR_H

#include "../ab_allocator.h"
#include "arena.h"

struct ab_arena_client {
    struct ab_arena *arena;
    size_t requested_bytes; /* sum of all requests since free_all, without padding */
};

static inline void *ab_arena_client_alloc(size_t size, void *context)
{
    struct ab_arena_client *client = (struct ab_arena_client *)context;
    void *block = size == 0 ? NULL : ab_arena_alloc(client->arena, size);
    client->requested_bytes += block == NULL ? 0 : size;
    return block;
}

/* A block dies with the others only. */
static inline void ab_arena_client_free(size_t size, void *ptr, void *context)
{
    (void)size;
    (void)ptr;
    (void)context;
}

static inline void *ab_arena_client_resize(size_t old_size, size_t new_size, void *ptr,
                                           void *context)
{
    struct ab_arena_client *client = (struct ab_arena_client *)context;
    void *block = ab_arena_resize(client->arena, ptr, old_size, new_size);
    client->requested_bytes += block == NULL ? 0 : new_size - old_size;
    return block;
}

static inline void ab_arena_client_free_all(struct ab_arena_client *client)
{
    ab_arena_reset(client->arena);
    client->requested_bytes = 0;
}

static inline struct ab_allocator ab_arena_allocator(struct ab_arena_client *client)
{
    struct ab_allocator allocator = {ab_arena_client_alloc, ab_arena_client_free, client,
                                     ab_arena_client_resize};
    return allocator;
}

#endif
