/* SPDX-License-Identifier: MIT
 *
 * The memory pool with the interface of ab_allocator.h; the arena over it has its own in
 * paged_arena.h. Its blocks are counted under tag 0.
 */
#ifndef AB_ALLOCATORS_PAGED_ALLOCATOR_H
#define AB_ALLOCATORS_PAGED_ALLOCATOR_H

#include "../ab_allocator.h"
#include "paged_pool.h"

static inline void *ab_paged_pool_client_alloc(size_t size, void *context)
{
    return size == 0 ? NULL : ab_paged_pool_alloc((struct ab_paged_pool *)context, size, 0);
}

static inline void ab_paged_pool_client_free(size_t size, void *ptr, void *context)
{
    ab_paged_pool_free_sized((struct ab_paged_pool *)context, ptr, size);
}

static inline void *ab_paged_pool_client_resize(size_t old_size, size_t new_size, void *ptr,
                                                void *context)
{
    (void)old_size;
    return ab_paged_pool_resize((struct ab_paged_pool *)context, ptr, new_size);
}

static inline struct ab_allocator ab_paged_pool_allocator(struct ab_paged_pool *pool)
{
    struct ab_allocator allocator = {ab_paged_pool_client_alloc, ab_paged_pool_client_free, pool,
                                     ab_paged_pool_client_resize};
    return allocator;
}

#endif
