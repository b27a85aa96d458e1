/* SPDX-License-Identifier: MIT
 *
 * The pools with the interface of ab_allocator.h. NULL for what is larger than a slot, and for
 * everything when the slots are aligned to less than two pointers.
 */
#ifndef AB_ALLOCATORS_POOL_ALLOCATOR_H
#define AB_ALLOCATORS_POOL_ALLOCATOR_H

#include "../ab_allocator.h"
#include "pool.h"
#include "pool_lockfree.h"

static inline void *ab_pool_client_alloc(size_t size, void *context)
{
    struct ab_pool *pool = (struct ab_pool *)context;
    return size == 0 ? NULL : ab_pool_alloc_aligned(pool, AB_ALLOCATOR_ALIGN, size);
}

static inline void ab_pool_client_free(size_t size, void *ptr, void *context)
{
    ab_pool_free_sized((struct ab_pool *)context, ptr, size);
}

/* Within the slot. */
static inline void *ab_pool_client_resize(size_t old_size, size_t new_size, void *ptr,
                                          void *context)
{
    (void)old_size;
    bool is_fit = new_size <= ab_pool_usable((const struct ab_pool *)context, ptr);
    return is_fit && !AB_POOL_CHECKS ? ptr : NULL;
}

static inline struct ab_allocator ab_pool_allocator(struct ab_pool *pool)
{
    struct ab_allocator allocator = {ab_pool_client_alloc, ab_pool_client_free, pool,
                                     ab_pool_client_resize};
    return allocator;
}

/* ---- from any thread ---- */

static inline void *ab_pool_lockfree_client_alloc(size_t size, void *context)
{
    struct ab_pool_lockfree *pool = (struct ab_pool_lockfree *)context;
    return size == 0 ? NULL : ab_pool_lockfree_alloc(pool, size);
}

static inline void ab_pool_lockfree_client_free(size_t size, void *ptr, void *context)
{
    (void)size;
    ab_pool_lockfree_free((struct ab_pool_lockfree *)context, ptr);
}

static inline struct ab_allocator ab_pool_lockfree_allocator(struct ab_pool_lockfree *pool)
{
    struct ab_allocator allocator = {ab_pool_lockfree_client_alloc, ab_pool_lockfree_client_free,
                                     pool, NULL};
    return allocator;
}

#endif
