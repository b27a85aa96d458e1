/* SPDX-License-Identifier: MIT
 *
 * The arena inside a heap of the back end, for the loop that has it compiled in.
 */
#ifndef AB_ALLOCATORS_ARENA_ARENA_BACKEND_H
#define AB_ALLOCATORS_ARENA_ARENA_BACKEND_H

#include "allocators/ab_backend.h"

struct ab_arena;

/* NULL when the heap's settings ask for more than the inline functions do: several threads, guards. */
struct ab_arena *ab_arena_of_heap(struct ab_heap *heap);

#endif
