/* SPDX-License-Identifier: MIT
 *
 * The slabs with the interface of ab_allocator.h.
 */
#ifndef AB_ALLOCATORS_SLAB_ALLOCATOR_H
#define AB_ALLOCATORS_SLAB_ALLOCATOR_H

#include "../ab_allocator.h"
#include "slab.h"

/* The smallest class is aligned to its 8 bytes only. */
static inline void *ab_slab_client_alloc(size_t size, void *context)
{
    size_t bytes = size < AB_ALLOCATOR_ALIGN ? AB_ALLOCATOR_ALIGN : size;
    return size == 0 ? NULL : ab_slabs_alloc((struct ab_slabs *)context, bytes);
}

static inline void ab_slab_client_free(size_t size, void *ptr, void *context)
{
    size_t bytes = size < AB_ALLOCATOR_ALIGN ? AB_ALLOCATOR_ALIGN : size;
    ab_slabs_free_sized((struct ab_slabs *)context, ptr, bytes);
}

static inline void *ab_slab_client_resize(size_t old_size, size_t new_size, void *ptr,
                                          void *context)
{
    size_t from = old_size < AB_ALLOCATOR_ALIGN ? AB_ALLOCATOR_ALIGN : old_size;
    size_t to = new_size < AB_ALLOCATOR_ALIGN ? AB_ALLOCATOR_ALIGN : new_size;
    return ab_slabs_resize((struct ab_slabs *)context, ptr, from, to);
}

static inline struct ab_allocator ab_slab_allocator(struct ab_slabs *slabs)
{
    struct ab_allocator allocator = {ab_slab_client_alloc, ab_slab_client_free, slabs,
                                     ab_slab_client_resize};
    return allocator;
}

#endif
