/* SPDX-License-Identifier: MIT
 *
 * The slabs with the interface of ab_allocator.h.
 */
#ifndef AB_ALLOCATORS_SLAB_ALLOCATOR_H
#define AB_ALLOCATORS_SLAB_ALLOCATOR_H

#include "../ab_allocator.h"
#include "slab.h"

/* The smallest class is aligned to its 8 bytes only. */
AB_ALLOCATOR_DEFINE(ab_slab, struct ab_slabs, ab_slabs_alloc(heap, ab_allocator_least(size)),
                    ab_slabs_free_sized(heap, ptr, ab_allocator_least(size)),
                    ab_slabs_resize(heap, ptr, ab_allocator_least(size),
                                    ab_allocator_least(new_size)))

#endif
