/* SPDX-License-Identifier: MIT
 *
 * The malloc of the C library with the interface of ab_allocator.h, for data structures that need
 * no allocator of their own. May be called from any thread.
 */
#ifndef AB_ALLOCATORS_ALLOCATOR_LIBC_H
#define AB_ALLOCATORS_ALLOCATOR_LIBC_H

#include "ab_allocator.h"

#include <stdlib.h>

AB_ALLOCATOR_CLIENT(ab_libc, void, malloc(size), free(ptr), realloc(ptr, new_size))

static inline struct ab_allocator ab_libc_allocator(void)
{
    struct ab_allocator allocator = {ab_libc_client_alloc, ab_libc_client_free, NULL,
                                     ab_libc_client_resize};
    return allocator;
}

#endif
