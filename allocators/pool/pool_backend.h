/* SPDX-License-Identifier: MIT
 *
 * The pool inside a heap of the back end, for the loop that has it compiled in.
 */
#ifndef AB_ALLOCATORS_POOL_POOL_BACKEND_H
#define AB_ALLOCATORS_POOL_POOL_BACKEND_H

#include "allocators/ab_backend.h"

struct ab_pool;

/* NULL when the heap's settings ask for more than the inline functions do: several threads, guards. */
struct ab_pool *ab_pool_of_heap(struct ab_heap *heap);

#endif
