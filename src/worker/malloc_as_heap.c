/* SPDX-License-Identifier: MIT */
#include "worker/verify.h"

static const struct ab_malloc_face *shown;

static ab_ref shim_alloc(struct ab_heap *heap, size_t size)
{
    (void)heap;
    return (ab_ref)shown->malloc(size);
}

static ab_ref shim_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    (void)heap;
    return (ab_ref)shown->memalign(align, size);
}

static ab_ref shim_zeroed(struct ab_heap *heap, size_t size)
{
    (void)heap;
    return (ab_ref)shown->calloc(1, size);
}

static void shim_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)heap;
    (void)size;
    shown->free((void *)ref);
}

static ab_ref shim_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    (void)heap;
    (void)old_size;
    return (ab_ref)shown->realloc((void *)ref, new_size);
}

static size_t shim_usable_size(struct ab_heap *heap, ab_ref ref)
{
    (void)heap;
    return shown->usable_size((void *)ref);
}

void ab_malloc_as_heap(const struct ab_malloc_face *face, struct ab_heap_face *out)
{
    shown = face;
    *out = (struct ab_heap_face){
        .alloc = shim_alloc,
        .free = shim_free,
        .resize = face->realloc != NULL ? shim_resize : NULL,
        .alloc_zeroed = face->calloc != NULL ? shim_zeroed : NULL,
        .alloc_aligned = face->memalign != NULL ? shim_aligned : NULL,
        .usable_size = face->usable_size != NULL ? shim_usable_size : NULL,
    };
}
