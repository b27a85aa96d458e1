/* SPDX-License-Identifier: MIT
 *
 * One interface for every allocator, so that a data structure need not know where its memory comes
 * from: two functions and what they are called with. Self-contained. `free` gets the size,
 * which spares allocators a header per block; one that frees everything together ignores it.
 *
 * The macros give typed memory, aligned as the type asks: NULL when there is none, or when n is too
 * large. What AB_NEW gave goes back by AB_DELETE with the same type, an array with the same n.
 */
#ifndef AB_ALLOCATORS_ALLOCATOR_H
#define AB_ALLOCATORS_ALLOCATOR_H

#include "common/language.h"

#include <stddef.h>
#include <stdint.h>

struct ab_allocator {
    void *(*alloc)(size_t size, void *context); /* aligned to two pointers; size 0 gives NULL */
    void (*free)(size_t size, void *ptr, void *context); /* ptr NULL does nothing */
    void *context;
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

#endif
