/* SPDX-License-Identifier: MIT
 *
 * The back ends that are linked in. This code is part of the worker, which uses no malloc, no stdio
 * and no locale.
 */
#ifndef AB_ALLOCATORS_BUILTIN_H
#define AB_ALLOCATORS_BUILTIN_H

#include "allocators/ab_backend.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns the back end of this name, or NULL. */
const struct ab_backend *ab_builtin_find(const char *name);
/* True if a loop has this back end compiled in (`inline+NAME`). */
bool ab_builtin_has_inline(const char *name);
/* True if a loop also allocates through its cursor (`cursor+NAME`). */
bool ab_builtin_has_cursor(const char *name);
/* Return the allocator inside a heap, for a loop that has it compiled in. Return NULL if the
 * settings of the heap need more than the inline functions: several threads, guards. */
void *ab_arena_of_heap(struct ab_heap *heap); /* returns a struct ab_arena */
void *ab_pool_of_heap(struct ab_heap *heap);  /* returns a struct ab_pool */
void *ab_slabs_of_heap(struct ab_heap *heap); /* returns a struct ab_slabs */
size_t ab_builtin_count(void);
const struct ab_backend *ab_builtin_at(size_t index);

#endif
