/* SPDX-License-Identifier: MIT
 *
 * One interface for every allocator, so that a data structure need not know where its memory comes
 * from: three functions and their context. Self-contained. `free` gets the size, so that allocators
 * need no header per block; an allocator that only frees everything together ignores the size.
 *
 * See also: ab_allocator_libc.h (malloc with this interface), ab_allocator_text.h (strings, whole
 * files), ab_allocator_hooks.h (hooks for libraries whose free has no size).
 *
 * The macros return typed memory with the alignment of the type, or NULL if memory is exhausted or
 * n is too large. AB_DELETE frees an object of AB_NEW; it needs the same type. AB_DELETE_ARRAY also
 * needs the same n.
 */
#ifndef AB_ALLOCATORS_ALLOCATOR_H
#define AB_ALLOCATORS_ALLOCATOR_H

#include "common/language.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ab_allocator {
    void *(*alloc)(size_t size, void *context); /* aligned to two pointers; size 0 returns NULL */
    void (*free)(size_t size, void *ptr, void *context); /* ptr NULL does nothing */
    void *context;
    /* Resizes a block in place, or moves it if the heap has a cheaper way than a copy. Neither
     * size is 0. On NULL the block is unchanged. Programs call ab_allocator_resize, which then
     * copies the block. An initializer may omit this function; every resize is then a copy. */
    AB_OPTIONAL_MEMBER(void *(*resize)(size_t old_size, size_t new_size, void *ptr, void *context));
};

#define AB_ALLOCATOR_ALIGN (2 * sizeof(void *))

#define AB_NEW(type, allocator) AB_NEW_ARRAY(type, 1, allocator)
#define AB_NEW_ARRAY(type, n, allocator) \
    ((type *)ab_allocator_array((allocator), (n), sizeof(type), AB_ALIGNOF(type)))
#define AB_DELETE(type, ptr, allocator) AB_DELETE_ARRAY(type, 1, ptr, allocator)
#define AB_DELETE_ARRAY(type, n, ptr, allocator) \
    ab_allocator_delete((allocator), (ptr), (n) * sizeof(type), AB_ALIGNOF(type))

/* Returns how many extra bytes to request so that a block can be moved up to a multiple of `align`;
 * 0 if the heap's own alignment is enough. The block then begins at the next multiple of `align`
 * after the address that the heap returned, and the word before it stores that address. */
static inline size_t ab_allocator_lead(size_t align)
{
    return align > AB_ALLOCATOR_ALIGN ? align : 0;
}

static inline void *ab_allocator_array(const struct ab_allocator *allocator, size_t n,
                                       size_t each_bytes, size_t align)
{
    size_t bytes, all_bytes, lead = ab_allocator_lead(align);
    if (__builtin_mul_overflow(n, each_bytes, &bytes) ||
        __builtin_add_overflow(bytes, bytes > 0 ? lead : 0, &all_bytes))
        return NULL;
    char *begin = (char *)allocator->alloc(all_bytes, allocator->context);
    if (begin == NULL || lead == 0)
        return begin;
    char *block = begin + lead - ((uintptr_t)begin & (lead - 1));
    ((void **)(void *)block)[-1] = begin;
    return block;
}

static inline void ab_allocator_delete(const struct ab_allocator *allocator, void *block,
                                       size_t bytes, size_t align)
{
    size_t lead = ab_allocator_lead(align);
    void *begin = block == NULL || lead == 0 ? block : ((void **)block)[-1];
    allocator->free(bytes + lead, begin, allocator->context);
}

/* Resizes a block, in place if the heap can, otherwise by a copy. Returns NULL and leaves the block
 * as it was if memory is exhausted. With block NULL it allocates; with new_bytes 0 it frees and
 * returns NULL. */
static inline void *ab_allocator_resize(const struct ab_allocator *allocator, void *block,
                                        size_t old_bytes, size_t new_bytes, size_t align)
{
    void *moved = NULL;
    if (block != NULL && old_bytes == new_bytes)
        return block;
    if (block != NULL && new_bytes != 0 && allocator->resize != NULL &&
        ab_allocator_lead(align) == 0)
        moved = allocator->resize(old_bytes, new_bytes, block, allocator->context);
    if (moved != NULL)
        return moved;
    moved = ab_allocator_array(allocator, new_bytes, 1, align);
    if (block == NULL || (moved == NULL && new_bytes != 0))
        return moved;
    if (moved != NULL)
        memcpy(moved, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    ab_allocator_delete(allocator, block, old_bytes, align);
    return moved;
}

/* Defines NAME_allocator(heap), which wraps a heap of `type` as a struct ab_allocator. The last
 * three arguments are expressions in `heap`, `size` (never 0), `ptr` and `new_size`. alloc_
 * evaluates to a block; resize_ to a block, or to NULL if the caller has to copy. */
#define AB_ALLOCATOR_DEFINE(name, type, alloc_, free_, resize_) \
    AB_ALLOCATOR_CLIENT(name, type, alloc_, free_, resize_) \
    static inline struct ab_allocator name##_allocator(type *heap) \
    { \
        struct ab_allocator allocator = {name##_client_alloc, name##_client_free, heap, \
                                         name##_client_resize}; \
        return allocator; \
    }
/* Defines the functions NAME_client_alloc, NAME_client_free and NAME_client_resize, but not
 * NAME_allocator. */
#define AB_ALLOCATOR_CLIENT(name, type, alloc_, free_, resize_) \
    static inline void *name##_client_alloc(size_t size, void *context) \
    { \
        type *heap = (type *)context; \
        (void)heap; \
        return size == 0 ? NULL : (alloc_); \
    } \
    static inline void name##_client_free(size_t size, void *ptr, void *context) \
    { \
        type *heap = (type *)context; \
        (void)heap, (void)size, (void)ptr; \
        free_; \
    } \
    static inline void *name##_client_resize(size_t size, size_t new_size, void *ptr, \
                                             void *context) \
    { \
        type *heap = (type *)context; \
        (void)heap, (void)size, (void)new_size, (void)ptr; \
        return resize_; \
    }

/* Returns the size to request for a block of `size` bytes: at least two pointers. Some heaps align
 * smaller blocks to less than two pointers, which is the alignment that `alloc` promises. */
static inline size_t ab_allocator_least(size_t size)
{
    return size < AB_ALLOCATOR_ALIGN ? AB_ALLOCATOR_ALIGN : size;
}

#endif
