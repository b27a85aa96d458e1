/* SPDX-License-Identifier: MIT
 *
 * Chunks and everything else that is not the fast path. Each chunk is as large as all before it
 * together, so their number is small and the table of them fixed; addresses that are never touched
 * cost nothing.
 */
#include "allocators/pool/pool.h"

#include "allocators/os_map.h"

#include <string.h>

static const size_t first_chunk_bytes = (size_t)64 << 10;
enum { FIRST_CHUNK_SLOTS = 8 };

/* Puts one more chunk behind the others. 0, or an errno. */
static int add_chunk(struct ab_pool *pool, size_t n_slots)
{
    size_t bytes, page = ab_os_page_bytes();
    if (pool->n_chunks == AB_POOL_CHUNKS_MAX ||
        __builtin_mul_overflow(n_slots, pool->slot_bytes, &bytes) || bytes > PTRDIFF_MAX - page)
        return ENOMEM;
    size_t map_bytes = ab_os_round_up(bytes, page);
    char *base = ab_os_map(map_bytes, pool->align, PROT_READ | PROT_WRITE);
    if (base == NULL)
        return errno;
    pool->n_os_calls++;
    pool->chunks[pool->n_chunks++] = (struct ab_pool_chunk){
        .base = base, .end = base + bytes, .dirty = base, .map_bytes = map_bytes};
    return 0;
}

static void enter_chunk(struct ab_pool *pool, uint32_t index)
{
    pool->current = index;
    pool->next = pool->chunks[index].base;
    pool->limit = pool->chunks[index].end;
}

int ab_pool_init(struct ab_pool *pool, const struct ab_pool_options *options)
{
    size_t align = options->align < AB_POOL_ALIGN ? AB_POOL_ALIGN : options->align;
    size_t slot = options->slot_bytes == 0 ? 1 : options->slot_bytes;
    if (slot > PTRDIFF_MAX || align > PTRDIFF_MAX || (align & (align - 1)) != 0)
        return ENOMEM;
    struct ab_pool made = {
        .slot_bytes = ab_os_round_up(slot, align), .align = align, .grows = options->grows};
    size_t n_slots = options->n_slots;
    if (n_slots == 0)
        n_slots = first_chunk_bytes / made.slot_bytes;
    if (options->n_slots == 0 && n_slots < FIRST_CHUNK_SLOTS)
        n_slots = FIRST_CHUNK_SLOTS;
    int error = add_chunk(&made, n_slots);
    if (error != 0)
        return error;
    enter_chunk(&made, 0);
    *pool = made;
    return 0;
}

static void unmap_from(struct ab_pool *pool, uint32_t first)
{
    for (uint32_t i = first; i < pool->n_chunks; i++) {
        munmap(pool->chunks[i].base, pool->chunks[i].map_bytes);
        pool->n_os_calls++;
    }
    pool->n_chunks = first;
}

void ab_pool_fini(struct ab_pool *pool)
{
    unmap_from(pool, 0);
    *pool = (struct ab_pool){0};
}

/* As much again as there is; half as much each time that the system refuses. */
static bool grow(struct ab_pool *pool)
{
    size_t n_slots = ab_pool_mapped(pool) / pool->slot_bytes;
    while (pool->grows && n_slots > 0 && add_chunk(pool, n_slots) != 0)
        n_slots = pool->n_chunks < AB_POOL_CHUNKS_MAX ? n_slots / 2 : 0;
    return pool->grows && n_slots > 0;
}

/* What was handed out of the current chunk is not zero any more. */
static void mark_dirty(struct ab_pool *pool)
{
    struct ab_pool_chunk *chunk = &pool->chunks[pool->current];
    if (pool->next > chunk->dirty)
        chunk->dirty = pool->next;
}

__attribute__((noinline)) void *ab_pool_alloc_slow(struct ab_pool *pool)
{
    if (pool->current + 1 == pool->n_chunks && !grow(pool))
        return NULL;
    mark_dirty(pool);
    enter_chunk(pool, pool->current + 1);
    return ab_pool_alloc(pool, 0);
}

void *ab_pool_alloc_zeroed(struct ab_pool *pool, size_t size)
{
    bool is_recycled = pool->free != NULL;
    char *block = ab_pool_alloc(pool, size);
    if (block != NULL && (is_recycled || block < pool->chunks[pool->current].dirty))
        memset(block, 0, size);
    return block;
}

__attribute__((noinline)) void ab_pool_reset(struct ab_pool *pool)
{
    mark_dirty(pool);
    pool->free = NULL;
    pool->n_live = 0;
    enter_chunk(pool, 0);
}

/* Gives back the whole pages in [from, to). False when there is none, or they could not be. */
static bool give_back(struct ab_pool *pool, const char *from, const char *to)
{
    size_t page = ab_os_page_bytes();
    uintptr_t begin = ab_os_round_up((uintptr_t)from, page), end = (uintptr_t)to & ~(page - 1);
    if (begin >= end)
        return false;
    pool->n_os_calls++;
    return madvise((void *)begin, end - begin, MADV_DONTNEED) == 0;
}

void ab_pool_purge(struct ab_pool *pool)
{
    unmap_from(pool, pool->current + 1);
    mark_dirty(pool);
    struct ab_pool_chunk *chunk = &pool->chunks[pool->current];
    char *fresh = (char *)ab_os_round_up((uintptr_t)pool->next, ab_os_page_bytes());
    if (give_back(pool, pool->next, chunk->base + chunk->map_bytes) && chunk->dirty > fresh)
        chunk->dirty = fresh;
    if (pool->slot_bytes <= ab_os_page_bytes())
        return; /* no slot holds a whole page behind its link, or hardly ever */
    for (struct ab_pool_slot *slot = pool->free; slot != NULL; slot = slot->next)
        give_back(pool, (char *)(slot + 1), (char *)slot + pool->slot_bytes);
}

size_t ab_pool_mapped(const struct ab_pool *pool)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < pool->n_chunks; i++)
        bytes += pool->chunks[i].map_bytes;
    return bytes;
}

size_t ab_pool_used(const struct ab_pool *pool)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < pool->n_chunks; i++) {
        const struct ab_pool_chunk *chunk = &pool->chunks[i];
        const char *top = chunk->dirty;
        if (i == pool->current && pool->next > top)
            top = pool->next;
        bytes += ab_os_round_up((size_t)(top - chunk->base), ab_os_page_bytes());
    }
    return bytes;
}
