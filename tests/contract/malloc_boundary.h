/* SPDX-License-Identifier: MIT
 *
 * The malloc boundary for the contract suite: the C library's functions, called directly, in the
 * shape of a back end.
 */
#ifndef AB_TESTS_CONTRACT_MALLOC_BOUNDARY_H
#define AB_TESTS_CONTRACT_MALLOC_BOUNDARY_H

#include "allocators/ab_backend.h"

#include <malloc.h>
#include <stdlib.h>

static int malloc_open(const struct ab_open_args *args, struct ab_heap **out)
{
    *out = (struct ab_heap *)(uintptr_t)args;
    return 0;
}

static void malloc_close(struct ab_heap *heap)
{
    (void)heap;
}

static ab_ref malloc_alloc(struct ab_heap *heap, size_t size)
{
    (void)heap;
    return (ab_ref)malloc(size);
}

static ab_ref malloc_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    (void)heap;
    void *p;
    if (align < sizeof p)
        return (ab_ref)malloc(size);
    return posix_memalign(&p, align, size) == 0 ? (ab_ref)p : 0;
}

static ab_ref malloc_zeroed(struct ab_heap *heap, size_t size)
{
    (void)heap;
    return (ab_ref)calloc(size, 1);
}

static void malloc_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)heap;
    (void)size;
    free((void *)ref);
}

static ab_ref malloc_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    (void)heap;
    (void)old_size;
    return (ab_ref)realloc((void *)ref, new_size);
}

static size_t malloc_usable(struct ab_heap *heap, ab_ref ref)
{
    (void)heap;
    return malloc_usable_size((void *)ref);
}

static const struct ab_backend malloc_boundary = {
    .abi = AB_BACKEND_ABI,
    .size = sizeof(struct ab_backend),
    .name = "malloc-boundary",
    .summary = "the malloc of this process, called directly",
    .open = malloc_open,
    .close = malloc_close,
    .alloc = malloc_alloc,
    .alloc_aligned = malloc_aligned,
    .alloc_zeroed = malloc_zeroed,
    .free = malloc_free,
    .resize = malloc_resize,
    .usable_size = malloc_usable,
};

#endif
