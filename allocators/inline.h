/* SPDX-License-Identifier: MIT
 *
 * For a program that has an allocator compiled into it and wants to run it beside called ones on
 * the very same heap: the allocator of a heap that a back end opened. NULL when its settings ask for
 * more than the allocator's inline functions do: several threads, guards.
 */
#ifndef AB_ALLOCATORS_INLINE_H
#define AB_ALLOCATORS_INLINE_H

struct ab_heap;
struct ab_arena;
struct ab_pool;
struct ab_slabs;

struct ab_arena *ab_arena_of_heap(struct ab_heap *heap);
struct ab_pool *ab_pool_of_heap(struct ab_heap *heap);
struct ab_slabs *ab_slabs_of_heap(struct ab_heap *heap);

#endif
