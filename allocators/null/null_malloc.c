/* SPDX-License-Identifier: MIT
 *
 * The malloc functions of the null: each returns the one block, whatever is asked for, so that
 * what a run takes is the harness alone.
 */
#include "allocators/null/null_malloc.h"

#include "allocators/common/pages.h"
#include "allocators/null/null_region.h"

static struct ab_null_region region;
static char *shared_block;
static size_t shared_bytes;

int null_malloc_init(uint64_t largest_bytes)
{
    struct ab_null_region larger;
    int error = ab_null_region_map(largest_bytes, 0, &larger);
    if (error != 0)
        return error;
    if (region.mapping != NULL)
        ab_pages_release(region.mapping, region.mapped_bytes);
    region = larger;
    shared_block = region.block;
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
    (void)n;
    (void)size;
    return shared_block;
}

void *null_realloc(void *block, size_t size)
{
    (void)size;
    return block;
}

void *null_aligned_alloc(size_t align, size_t size)
{
    (void)align;
    (void)size;
    return shared_block;
}

size_t null_malloc_usable_size(void *block)
{
    (void)block;
    return shared_bytes;
}
