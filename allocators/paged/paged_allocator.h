/* SPDX-License-Identifier: MIT
 *
 * The memory pool with the interface of ab_allocator.h; the arena over it has its own in
 * paged_arena.h. Its blocks are counted under tag 0.
 */
#ifndef AB_ALLOCATORS_PAGED_ALLOCATOR_H
#define AB_ALLOCATORS_PAGED_ALLOCATOR_H

#include "../ab_allocator.h"
#include "paged_pool.h"

AB_ALLOCATOR_DEFINE(ab_paged_pool, struct ab_paged_pool, ab_paged_pool_alloc(heap, size, 0),
                    ab_paged_pool_free_sized(heap, ptr, size),
                    ab_paged_pool_resize(heap, ptr, new_size))

#endif
