/* SPDX-License-Identifier: MIT
 *
 * The functions that a program calls, and nothing else. It is glibc's complete set, so that no
 * block of one allocator is passed to the other. The operators of C++ use malloc and free. This is
 * the only file of this folder that is not linked into any program of allocbench.
 */
#include "allocators/common/pages.h"
#include "allocators/slab_malloc/slab_malloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* Not declared in every stdlib.h and malloc.h. */
void cfree(void *p);
void free_sized(void *p, size_t size);
void free_aligned_sized(void *p, size_t align, size_t size);
void *memalign(size_t align, size_t size);
void *pvalloc(size_t size);
size_t malloc_usable_size(void *p);
int malloc_trim(size_t pad);

__attribute__((constructor)) static void start(void)
{
    ab_fork_prepare();
}

static void *fail(int error)
{
    errno = error;
    return NULL;
}

EXPORT void *malloc(size_t size)
{
    return ab_block_alloc(size);
}

EXPORT void free(void *p)
{
    ab_block_free(p);
}

EXPORT void cfree(void *p)
{
    ab_block_free(p);
}

EXPORT void free_sized(void *p, size_t size)
{
    (void)size;
    ab_block_free(p);
}

EXPORT void free_aligned_sized(void *p, size_t align, size_t size)
{
    (void)align, (void)size;
    ab_block_free(p);
}

EXPORT void *calloc(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        return fail(ENOMEM);
    if (bytes > AB_DIRECT_BYTES)
        return ab_block_alloc_zeroed(bytes);
    void *block = ab_block_alloc(bytes);
    return block != NULL ? memset(block, 0, bytes) : NULL;
}

/* Works like glibc's realloc: size 0 frees the block. */
EXPORT void *realloc(void *p, size_t size)
{
    if (p == NULL)
        return ab_block_alloc(size);
    if (size > 0)
        return ab_block_resize(p, size);
    ab_block_free(p);
    return NULL;
}

EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        return fail(ENOMEM);
    return realloc(p, bytes);
}

static bool is_power_of_two(size_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
    return is_power_of_two(align) ? ab_block_alloc_aligned(align, size) : fail(EINVAL);
}

/* Works like glibc's memalign: an alignment that is not a power of two is rounded up to the next
 * one. */
EXPORT void *memalign(size_t align, size_t size)
{
    if (align > PTRDIFF_MAX / 2 + 1)
        return fail(EINVAL);
    if (!is_power_of_two(align))
        align = align < 2 ? 1 : (size_t)1 << (64 - __builtin_clzll(align - 1));
    return ab_block_alloc_aligned(align, size);
}

EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
    if (!is_power_of_two(align) || align % sizeof(void *) != 0)
        return EINVAL;
    int error = errno;
    void *block = ab_block_alloc_aligned(align, size);
    errno = error;
    if (block == NULL)
        return ENOMEM;
    *out = block;
    return 0;
}

EXPORT void *valloc(size_t size)
{
    return ab_block_alloc_aligned(ab_page_size(), size);
}

EXPORT void *pvalloc(size_t size)
{
    /* rounds the size up to whole pages, too */
    return ab_block_alloc_aligned(ab_page_size(), size);
}

EXPORT size_t malloc_usable_size(void *p)
{
    return p != NULL ? ab_block_usable(p) : 0;
}

EXPORT int malloc_trim(size_t pad)
{
    (void)pad;
    ab_threads_trim();
    ab_page_heap_purge(0, true);
    ab_large_purge(0, true);
    return 1;
}
