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

AB_ALLOCATOR_DEFINE(ab_pool, struct ab_pool, ab_pool_alloc_aligned(heap, AB_ALLOCATOR_ALIGN, size),
                    ab_pool_free_sized(heap, ptr, size),
                    !AB_CHECKS && new_size <= ab_pool_usable(heap, ptr) ? ptr : NULL)

/* From any thread. */
AB_ALLOCATOR_DEFINE(ab_pool_lockfree, struct ab_pool_lockfree, ab_pool_lockfree_alloc(heap, size),
                    ab_pool_lockfree_free(heap, ptr), NULL)

#endif
