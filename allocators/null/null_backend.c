/* SPDX-License-Identifier: MIT
 *
 * The null of the heap boundary: it prices the harness where it calls a back end. The heap is the
 * block itself, so that alloc is one move; what close needs lies in the page before it.
 */
#include "allocators/ab_backend.h"
#include "allocators/common/pages.h"
#include "allocators/null/null_region.h"

struct header {
    struct ab_null_region region;
    size_t bytes;
};
_Static_assert(sizeof(struct header) <= AB_NULL_HEADER_BYTES, "the header fits its page");

static struct header *header_of(struct ab_heap *heap)
{
    return (struct header *)((char *)heap - AB_NULL_HEADER_BYTES);
}

static int null_open(const struct ab_open_args *args, struct ab_heap **out)
{
    struct ab_null_region region;
    size_t bytes = args->facts->largest_bytes;
    int error = ab_null_region_map(bytes, args->facts->largest_align, &region);
    if (error != 0)
        return error;
    struct ab_heap *heap = (struct ab_heap *)region.block;
    *header_of(heap) = (struct header){region, bytes};
    *out = heap;
    return 0;
}

static void null_close(struct ab_heap *heap)
{
    struct ab_null_region region = header_of(heap)->region;
    ab_pages_release(region.mapping, region.mapped_bytes);
}

static ab_ref null_alloc(struct ab_heap *heap, size_t size)
{
    (void)size;
    return (ab_ref)heap;
}

static ab_ref null_alloc_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    (void)align;
    (void)size;
    return (ab_ref)heap;
}

static void null_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)heap;
    (void)ref;
    (void)size;
}

static ab_ref null_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    (void)heap;
    (void)old_size;
    (void)new_size;
    return ref;
}

static size_t null_usable_size(struct ab_heap *heap, ab_ref ref)
{
    (void)ref;
    return header_of(heap)->bytes;
}

static void null_reset(struct ab_heap *heap)
{
    (void)heap;
}

static uint64_t null_mark(struct ab_heap *heap)
{
    (void)heap;
    return 0;
}

static void null_release(struct ab_heap *heap, uint64_t mark)
{
    (void)heap;
    (void)mark;
}

extern const struct ab_backend ab_null_backend;

const struct ab_backend ab_null_backend = {
    .abi = AB_BACKEND_ABI,
    .size = sizeof(struct ab_backend),
    .name = "null",
    .summary = "does nothing: the same block for every request; measures the harness alone",
    .traits = AB_TRAIT_THREAD_SAFE | AB_TRAIT_REMOTE_FREE,
    .open = null_open,
    .close = null_close,
    .alloc = null_alloc,
    .alloc_aligned = null_alloc_aligned,
    .alloc_zeroed = null_alloc,
    .free = null_free,
    .resize = null_resize,
    .usable_size = null_usable_size,
    .reset = null_reset,
    .mark = null_mark,
    .release = null_release,
};
