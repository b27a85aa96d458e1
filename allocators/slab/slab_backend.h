/* SPDX-License-Identifier: MIT
 *
 * The slabs inside a heap of the back end, for the loop that has them compiled in.
 */
#ifndef AB_ALLOCATORS_SLAB_SLAB_BACKEND_H
#define AB_ALLOCATORS_SLAB_SLAB_BACKEND_H

#include "allocators/ab_backend.h"

struct ab_slabs;

/* NULL when the heap's settings ask for more than the inline functions do: several threads, guards. */
struct ab_slabs *ab_slabs_of_heap(struct ab_heap *heap);

#endif
