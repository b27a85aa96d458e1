/* SPDX-License-Identifier: MIT
 *
 * The two null allocators, which do nothing. They measure the harness overhead, for calls of a back
 * end and for calls of malloc. Both return the same block for every request. The block is writable,
 * so that touches work. Its pages are populated in advance if the system can do that.
 */
#include "allocators/null/null.h"

#include "allocators/glue.h"

struct region {
    void *mapping;
    size_t mapped_bytes;
    /* aligned as requested, with at least `bytes` bytes and room for a header before it */
    char *block;
};

enum { HEADER_BYTES = 4096 };

/* Regions up to this size are populated in advance, so that touches of the null allocator include
 * no page faults of new memory, which are a cost of allocators. Larger regions fault when they are
 * touched. */
#define PREFAULT_MAX ((size_t)256 << 20)

/* Maps a region. align is 0 or a power of two. Returns 0 or an errno; on failure *out is
 * untouched. */
static int map_region(size_t bytes, size_t align, struct region *out)
{
    size_t total;
    if (align < HEADER_BYTES)
        align = HEADER_BYTES;
    if (__builtin_add_overflow(bytes, align, &total) ||
        __builtin_add_overflow(total, (size_t)HEADER_BYTES, &total))
        return ENOMEM;
    if (total > SIZE_MAX - ab_page_size())
        return ENOMEM;
    total = ab_round_up(total, ab_page_size());
    char *p = ab_pages_map(total, 0);
    if (p == NULL)
        return errno;
    if (total <= PREFAULT_MAX)
        ab_pages_populate(p, total);
    uintptr_t first = (uintptr_t)p + HEADER_BYTES;
    *out = (struct region){p, total, (char *)((first + align - 1) & ~(align - 1))};
    return 0;
}

/* ---- the back end ----
 *
 * The heap is the block itself, so that alloc is one move. The page before it holds the data that
 * close needs. */

struct header {
    struct region region;
    size_t bytes;
};
_Static_assert(sizeof(struct header) <= HEADER_BYTES, "the header fits its page");

static struct header *header_of(struct ab_heap *heap)
{
    return (struct header *)((char *)heap - HEADER_BYTES);
}

static int heap_open(const struct ab_open_args *args, struct ab_heap **out)
{
    struct region region;
    size_t bytes = args->facts->largest_bytes;
    int error = map_region(bytes, args->facts->largest_align, &region);
    if (error != 0)
        return error;
    struct ab_heap *heap = (struct ab_heap *)region.block;
    *header_of(heap) = (struct header){region, bytes};
    *out = heap;
    return 0;
}

static void heap_close(struct ab_heap *heap)
{
    struct region region = header_of(heap)->region;
    ab_pages_release(region.mapping, region.mapped_bytes);
}

static ab_ref heap_alloc(struct ab_heap *heap, size_t size)
{
    (void)size;
    return (ab_ref)heap;
}

static ab_ref heap_alloc_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    (void)align, (void)size;
    return (ab_ref)heap;
}

static void heap_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)heap, (void)ref, (void)size;
}

static ab_ref heap_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    (void)heap, (void)old_size, (void)new_size;
    return ref;
}

static size_t heap_usable_size(struct ab_heap *heap, ab_ref ref)
{
    (void)ref;
    return header_of(heap)->bytes;
}

static void heap_reset(struct ab_heap *heap)
{
    (void)heap;
}

static uint64_t heap_mark(struct ab_heap *heap)
{
    (void)heap;
    return 0;
}

static void heap_release(struct ab_heap *heap, uint64_t mark)
{
    (void)heap, (void)mark;
}

extern const struct ab_backend ab_null_backend;

const struct ab_backend ab_null_backend = {
    .abi = AB_BACKEND_ABI,
    .size = sizeof(struct ab_backend),
    .name = "null",
    .summary = "does nothing: the same block for every request; measures the harness alone",
    .traits = AB_TRAIT_THREAD_SAFE | AB_TRAIT_REMOTE_FREE,
    .open = heap_open,
    .close = heap_close,
    .alloc = heap_alloc,
    .alloc_aligned = heap_alloc_aligned,
    .alloc_zeroed = heap_alloc,
    .free = heap_free,
    .resize = heap_resize,
    .usable_size = heap_usable_size,
    .reset = heap_reset,
    .mark = heap_mark,
    .release = heap_release,
};

/* ---- the replacement of malloc ---- */

static struct region malloc_region;
static char *shared_block;
static size_t shared_bytes;

int null_malloc_init(uint64_t largest_bytes)
{
    struct region larger;
    int error = map_region(largest_bytes, 0, &larger);
    if (error != 0)
        return error;
    if (malloc_region.mapping != NULL)
        ab_pages_release(malloc_region.mapping, malloc_region.mapped_bytes);
    malloc_region = larger;
    shared_block = malloc_region.block;
    shared_bytes = largest_bytes;
    return 0;
}

void *null_malloc(size_t size)
{
    (void)size;
    return shared_block;
}

void null_free(void *block)
{
    (void)block;
}

void *null_calloc(size_t n, size_t size)
{
    (void)n, (void)size;
    return shared_block;
}

void *null_realloc(void *block, size_t size)
{
    (void)size;
    return block;
}

void *null_aligned_alloc(size_t align, size_t size)
{
    (void)align, (void)size;
    return shared_block;
}

size_t null_malloc_usable_size(void *block)
{
    (void)block;
    return shared_bytes;
}
