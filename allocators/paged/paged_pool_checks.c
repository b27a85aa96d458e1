/* SPDX-License-Identifier: MIT
 *
 * The checked build of the paged pool, -DAB_WITH_CHECKS: what is called, over the plain pool of
 * paged_pool.c. Each request is one for a larger block, with a head before it and a canary behind it;
 * ../common/checked.h says how. Empty in every other build.
 */
#include "paged_pool.h"

#include "../common/checked.h"

#include <string.h>

#ifdef AB_WITH_CHECKS

enum { LINKS_BYTES = 16 }; /* at the begin of what a dead block held */

int ab_paged_pool_init(struct ab_paged_pool *pool, const char *name, size_t bytes)
{
    int error = ab_paged_pool_plain_init(pool, name, bytes);
    if (error == 0)
        ab_block_list_open(&pool->blocks, "paged pool");
    return error;
}

static void demand(const struct ab_paged_pool *pool, const void *block)
{
    const char *p = (const char *)block;
    ab_checked_demand(&pool->blocks, block, p >= pool->base + AB_BLOCK_FRONT && p < pool->end);
}

static void *alloc(struct ab_paged_pool *pool, size_t align, size_t size, unsigned tag)
{
    size_t bytes = ab_checked_bytes(align, size);
    const char *dirty = pool->dirty; /* from here on there is no poison */
    char *raw = (char *)(align <= AB_PAGED_ALIGN
                             ? ab_paged_pool_plain_alloc(pool, bytes, tag)
                             : ab_paged_pool_plain_alloc_aligned(pool, align, bytes, tag));
    if (raw == NULL)
        return NULL;
    size_t raw_bytes = ab_paged_pool_plain_usable(raw);
    size_t dead_bytes = raw < dirty ? (size_t)(dirty - raw) : 0;
    ab_checked_demand_dead(&pool->blocks, raw, LINKS_BYTES,
                           raw_bytes < dead_bytes ? raw_bytes : dead_bytes);
    return ab_checked_begin(&pool->blocks, raw, align, size);
}

void *ab_paged_pool_alloc(struct ab_paged_pool *pool, size_t size, unsigned tag)
{
    return alloc(pool, 0, size, tag);
}

void *ab_paged_pool_alloc_zeroed(struct ab_paged_pool *pool, size_t size, unsigned tag)
{
    void *block = alloc(pool, 0, size, tag);
    return block == NULL ? NULL : memset(block, 0, size);
}

void *ab_paged_pool_alloc_aligned(struct ab_paged_pool *pool, size_t align, size_t size,
                                  unsigned tag)
{
    return align == 0 || (align & (align - 1)) != 0 ? NULL : alloc(pool, align, size, tag);
}

static char *end_block(struct ab_paged_pool *pool, void *block)
{
    size_t bytes = ab_paged_pool_plain_usable(ab_checked_raw(block));
    return ab_checked_end(&pool->blocks, block, bytes);
}

bool ab_paged_pool_free(struct ab_paged_pool *pool, void *block)
{
    if (block == NULL)
        return true;
    demand(pool, block);
    return ab_paged_pool_plain_free(pool, end_block(pool, block));
}

void ab_paged_pool_free_sized(struct ab_paged_pool *pool, void *block, size_t size)
{
    if (block == NULL)
        return;
    demand(pool, block);
    ab_checked_demand_size(&pool->blocks, block, size);
    ab_paged_pool_free(pool, block);
}

size_t ab_paged_pool_usable(const void *block)
{
    return ab_checked_size(block); /* no more than was asked for */
}

/* What a block loses is poison before it is the pool's again. */
bool ab_paged_pool_resize_in_place(struct ab_paged_pool *pool, void *block, size_t new_size)
{
    demand(pool, block);
    char *raw = ab_checked_raw(block), *end = raw + ab_paged_pool_plain_usable(raw);
    const char *dirty = pool->dirty; /* from here on there is no poison */
    size_t lead = (size_t)((char *)block - raw);
    if (new_size > PTRDIFF_MAX / 4)
        return false;
    if (new_size < ab_checked_size(block)) {
        char *from = (char *)block + new_size;
        AB_MARK_DEFINED(from, (size_t)(end - from));
        memset(from, AB_GUARD_DEAD, (size_t)(end - from));
        AB_MARK_UNUSED(from, (size_t)(end - from));
    }
    if (!ab_paged_pool_plain_resize_in_place(pool, raw, lead + new_size + AB_BLOCK_TAIL))
        return false;
    const char *new_end = raw + ab_paged_pool_plain_usable(raw);
    ab_block_demand_dead(&pool->blocks, end, new_end < dirty ? new_end : dirty);
    if (new_size >= ab_checked_size(block))
        ab_checked_set_size(block, new_size);
    else
        ab_block_set_size(block, new_size);
    AB_MARK_UNUSED((char *)block + new_size, AB_BLOCK_TAIL);
    return true;
}

void *ab_paged_pool_resize(struct ab_paged_pool *pool, void *block, size_t new_size)
{
    if (ab_paged_pool_resize_in_place(pool, block, new_size))
        return block;
    unsigned tag = ab_paged_pool_plain_tag(ab_checked_raw(block));
    void *copy = ab_paged_pool_alloc(pool, new_size, tag);
    if (copy == NULL)
        return NULL;
    size_t old_size = ab_checked_size(block);
    memcpy(copy, block, old_size < new_size ? old_size : new_size);
    ab_paged_pool_free(pool, block);
    return copy;
}

void ab_paged_pool_reset(struct ab_paged_pool *pool)
{
    while (pool->blocks.top != NULL) {
        demand(pool, pool->blocks.top + 1);
        end_block(pool, pool->blocks.top + 1);
    }
    ab_paged_pool_plain_reset(pool);
}

void ab_paged_pool_fini(struct ab_paged_pool *pool)
{
    ab_checked_leaks(&pool->blocks, "never freed");
    ab_paged_pool_plain_fini(pool);
}

/* The youngest first. */
void ab_paged_pool_visit(struct ab_paged_pool *pool,
                         void (*visit)(void *block, size_t bytes, unsigned tag, void *context),
                         void *context)
{
    for (struct ab_block_head *head = pool->blocks.top; head != NULL; head = head->below)
        visit(head + 1, head->size, ab_paged_pool_plain_tag(ab_checked_raw(head + 1)), context);
}

#endif
