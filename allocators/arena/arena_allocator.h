/* SPDX-License-Identifier: MIT
 *
 * The arena with the interface of ab_allocator.h. Use one arena for each group of objects that die
 * together. The client counts the requested bytes, because ab_arena_used of the arena includes
 * padding.
 */
#ifndef AB_ALLOCATORS_ARENA_ALLOCATOR_H
#define AB_ALLOCATORS_ARENA_ALLOCATOR_H

#include "../ab_allocator.h"
#include "arena.h"

struct ab_arena_client {
    struct ab_arena *arena;
    size_t requested_bytes; /* sum of all requests since free_all, without padding */
};

static inline void *ab_arena_client_count(struct ab_arena_client *client, size_t bytes, void *block)
{
    client->requested_bytes += block == NULL ? 0 : bytes;
    return block;
}

static inline void ab_arena_client_free_all(struct ab_arena_client *client)
{
    ab_arena_reset(client->arena);
    client->requested_bytes = 0;
}

/* Defines ab_arena_allocator(client). Freeing a single block does nothing. */
AB_ALLOCATOR_DEFINE(ab_arena, struct ab_arena_client,
                    ab_arena_client_count(heap, size, ab_arena_alloc(heap->arena, size)), (void)0,
                    ab_arena_client_count(heap, new_size - size,
                                          ab_arena_resize(heap->arena, ptr, size, new_size)))

#endif
