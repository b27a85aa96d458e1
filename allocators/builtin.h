/* SPDX-License-Identifier: MIT
 *
 * The back ends that are linked in. Part of the worker: no malloc, no stdio, no locale.
 */
#ifndef AB_ALLOCATORS_BUILTIN_H
#define AB_ALLOCATORS_BUILTIN_H

#include "allocators/ab_backend.h"

#include <stdbool.h>
#include <stddef.h>

/* NULL when there is none of this name. */
const struct ab_backend *ab_builtin_find(const char *name);
/* Is there a loop that has it compiled in (`inline+NAME`)? */
bool ab_builtin_has_inline(const char *name);
/* … and one that allocates through its cursor (`cursor+NAME`)? */
bool ab_builtin_has_cursor(const char *name);
/* What is inside a heap of these, for the loop that has it compiled in. NULL when the heap's
 * settings ask for more than the inline functions do: several threads, guards. */
void *ab_arena_of_heap(struct ab_heap *heap); /* a struct ab_arena */
void *ab_pool_of_heap(struct ab_heap *heap);  /* a struct ab_pool */
void *ab_slabs_of_heap(struct ab_heap *heap); /* a struct ab_slabs */
size_t ab_builtin_count(void);
const struct ab_backend *ab_builtin_at(size_t index);

#endif
