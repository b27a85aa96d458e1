/* SPDX-License-Identifier: MIT
 *
 * One interface for every allocator, so that a data structure need not know where its memory comes
 * from: two functions and what they are called with. Self-contained. `free` is told the size,
 * which spares allocators a header per block; one that frees all at once ignores it.
 *
 * The macros give typed memory: NULL when there is none, or when n is too large.
 */
#ifndef AB_ALLOCATORS_ALLOCATOR_H
#define AB_ALLOCATORS_ALLOCATOR_H

#include <stddef.h>

struct ab_allocator {
    void *(*alloc)(size_t size, void *context); /* aligned to two pointers; size 0 gives NULL */
    void (*free)(size_t size, void *ptr, void *context); /* ptr NULL does nothing */
    void *context;
};

#define AB_NEW(type, allocator) ((type *)ab_allocator_array((allocator), 1, sizeof(type)))
#define AB_NEW_ARRAY(type, n, allocator) \
    ((type *)ab_allocator_array((allocator), (n), sizeof(type)))
#define AB_DELETE(type, ptr, allocator) \
    ((allocator)->free(sizeof(type), (ptr), (allocator)->context))
#define AB_DELETE_ARRAY(type, n, ptr, allocator) \
    ((allocator)->free((n) * sizeof(type), (ptr), (allocator)->context))

static inline void *ab_allocator_array(const struct ab_allocator *allocator, size_t n,
                                       size_t each_bytes)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, each_bytes, &bytes))
        return NULL;
    return allocator->alloc(bytes, allocator->context);
}

#endif
