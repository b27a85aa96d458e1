/* SPDX-License-Identifier: MIT
 *
 * One interface for every allocator, so that a data structure need not know where its memory comes
 * from: functions and what they are called with. Self-contained. `free` gets the size,
 * which spares allocators a header per block; one that frees everything together ignores it.
 *
 * Beside it: ab_allocator_libc.h (malloc as one), ab_allocator_text.h (strings, whole files),
 * ab_allocator_hooks.h (hooks for libraries whose free has no size).
 *
 * The macros give typed memory, aligned as the type asks: NULL when there is none, or when n is too
 * large. What AB_NEW gave goes back by AB_DELETE with the same type, an array with the same n.
 */
#ifndef AB_ALLOCATORS_ALLOCATOR_H
#define AB_ALLOCATORS_ALLOCATOR_H

#include "common/language.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ab_allocator {
    void *(*alloc)(size_t size, void *context); /* aligned to two pointers; size 0 gives NULL */
    void (*free)(size_t size, void *ptr, void *context); /* ptr NULL does nothing */
    void *context;
    /* Of a block and to a size that are not 0: in place, or moved in a way of the heap's own. NULL
     * leaves the block as it was: ab_allocator_resize, which is what to call, then copies it. An
     * initialiser may omit it: NULL copies always. */
    AB_OPTIONAL_MEMBER(void *(*resize)(size_t old_size, size_t new_size, void *ptr, void *context));
};

#define AB_ALLOCATOR_ALIGN (2 * sizeof(void *))

#define AB_NEW(type, allocator) AB_NEW_ARRAY(type, 1, allocator)
#define AB_NEW_ARRAY(type, n, allocator) \
    ((type *)ab_allocator_array((allocator), (n), sizeof(type), AB_ALIGNOF(type)))
#define AB_DELETE(type, ptr, allocator) AB_DELETE_ARRAY(type, 1, ptr, allocator)
#define AB_DELETE_ARRAY(type, n, ptr, allocator) \
    ab_allocator_delete((allocator), (ptr), (n) * sizeof(type), AB_ALIGNOF(type))

/* What a type needs in front that is aligned to more than two pointers: the block moves up to the
 * next multiple, and the word before it says where it began. Other types need nothing. */
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

/* The block with its first bytes, in place where the heap can, else a copy. NULL when there is no
 * memory; the block stays as it was then. No block is an allocation, no new bytes free it: NULL. */
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

/* Defines NAME_allocator(heap), the allocator over a heap of that type. The three say what is done,
 * of `size` (never 0), `ptr` and `new_size`: alloc_ gives a block, resize_ too or NULL for a
 * copy. */
#define AB_ALLOCATOR_DEFINE(name, type, alloc_, free_, resize_) \
    AB_ALLOCATOR_CLIENT(name, type, alloc_, free_, resize_) \
    static inline struct ab_allocator name##_allocator(type *heap) \
    { \
        struct ab_allocator allocator = {name##_client_alloc, name##_client_free, heap, \
                                         name##_client_resize}; \
        return allocator; \
    }
/* Its functions alone. */
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

/* Of heaps whose smallest blocks are aligned to less: what to ask for. */
static inline size_t ab_allocator_least(size_t size)
{
    return size < AB_ALLOCATOR_ALIGN ? AB_ALLOCATOR_ALIGN : size;
}

#endif
