/* SPDX-License-Identifier: MIT
 *
 * The pool outside of its fast path: chunks, resets, purges and the checked build. Each chunk is as
 * large as all before it together, so that there are few, and their table has a fixed size.
 * Addresses that are never touched cost nothing.
 */
#include "pool.h"

#include "../common/checked.h"
#include "../common/lock.h"
#include "../common/pages.h"

#include <errno.h>

static const size_t first_chunk_bytes = (size_t)64 << 10;
enum { FIRST_CHUNK_SLOTS = 8 };

/* Returns the alignment of chunks: the addresses at which they begin and end are multiples of
 * it. */
static size_t chunk_unit(const struct ab_pool *pool)
{
    size_t unit = pool->huge ? AB_HUGE_PAGE_BYTES : ab_page_size();
    return pool->align > unit ? pool->align : unit;
}

static char *map_chunk(struct ab_pool *pool, size_t bytes)
{
    ab_lock_let_go(pool->mutex);
    void *base = ab_pages_huge_if(pool->huge, ab_pages_map(bytes, chunk_unit(pool)), bytes);
    ab_lock_take_back(pool->mutex);
    return (char *)base;
}

/* Makes the next `bytes` bytes of the range accessible; the range must have as many left. If the
 * system refuses, these bytes are not tried again. */
static char *open_chunk(struct ab_pool *pool, size_t bytes)
{
    char *base = pool->range;
    pool->range += bytes;
    ab_lock_let_go(pool->mutex);
    int error = ab_pages_commit(base, bytes);
    if (error == 0 && pool->huge)
        error = ab_pages_want_huge(base, bytes);
    ab_lock_take_back(pool->mutex);
    errno = error;
    return error == 0 ? base : NULL;
}

/* Adds a chunk after the others. Returns 0 or an errno. Releases the lock meanwhile, so that
 * another thread may add a chunk too. There are then more addresses than needed, but no more memory
 * is used. */
static int add_chunk(struct ab_pool *pool, size_t n_slots)
{
    size_t bytes, unit = chunk_unit(pool);
    if (pool->n_chunks == AB_POOL_CHUNKS_MAX ||
        __builtin_mul_overflow(n_slots, pool->stride, &bytes) || bytes > PTRDIFF_MAX - unit)
        return ENOMEM;
    size_t map_bytes = ab_round_up(bytes, unit);
    if (pool->grows && pool->huge) /* use the rest of the last huge page for slots */
        bytes = map_bytes - map_bytes % pool->stride;
    bool has_range = pool->range_end != NULL;
    if (has_range && map_bytes > (size_t)(pool->range_end - pool->range))
        return ENOMEM;
    char *base = has_range ? open_chunk(pool, map_bytes) : map_chunk(pool, map_bytes);
    if (base == NULL)
        return errno;
    pool->n_os_calls += 1u + pool->huge;
    if (pool->n_chunks == AB_POOL_CHUNKS_MAX) {
        if (!has_range)
            ab_pages_release(base, map_bytes);
        return ENOMEM;
    }
    AB_MARK_UNUSED(base, map_bytes);
    struct ab_pool_chunk chunk = {base, base + bytes, base, map_bytes};
    pool->chunks[pool->n_chunks++] = chunk;
    return 0;
}

static void enter_chunk(struct ab_pool *pool, uint32_t index)
{
    uintptr_t carved = index == 0 ? 0 : (uintptr_t)pool->next - pool->origin;
    pool->current = index;
    pool->next = pool->chunks[index].base;
    pool->origin = (uintptr_t)pool->next - carved;
    pool->limit = pool->chunks[index].end;
}

static size_t first_slots(const struct ab_pool_options *options, size_t stride)
{
    size_t n = first_chunk_bytes / stride;
    if (options->n_slots != 0)
        return options->n_slots;
    return n < FIRST_CHUNK_SLOTS ? (size_t)FIRST_CHUNK_SLOTS : n;
}

/* Computes the slots' size, alignment and distance. Returns 0, EINVAL or ENOMEM. The marks for ASan
 * and Valgrind need multiples of 16 bytes. */
static int measure(struct ab_pool *made, const struct ab_pool_options *options)
{
    size_t align = options->align == 0 || AB_MARKS || AB_CHECKS ? AB_POOL_ALIGN : 1;
    size_t slot = options->slot_bytes, extra;
    if ((options->align & (options->align - 1)) != 0)
        return EINVAL;
    align = options->align > align ? options->align : align;
    slot = slot < sizeof(struct ab_pool_slot) ? sizeof(struct ab_pool_slot) : slot;
    if (slot > PTRDIFF_MAX || align > PTRDIFF_MAX)
        return ENOMEM;
    memset(made, 0, sizeof *made);
    made->slot_bytes = ab_round_up(slot, align);
    made->align = align;
    extra = AB_CHECKS ? ab_checked_bytes(align, AB_MARK_GAP) : AB_MARK_GAP;
    if (made->slot_bytes > PTRDIFF_MAX / 2 - align || extra > PTRDIFF_MAX / 2)
        return ENOMEM;
    made->stride = ab_round_up(made->slot_bytes + extra, align);
    AB_CHECKED(ab_block_list_open(&made->blocks, "pool"));
    return 0;
}

int ab_pool_init(struct ab_pool *pool, const struct ab_pool_options *options)
{
    struct ab_pool made;
    int error = measure(&made, options);
    if (error != 0)
        return error;
    if (options->align == 0)
        made.stride += ab_spread_slots(made.slot_bytes, made.align) - made.slot_bytes;
    made.grows = options->grows || options->n_slots == 0;
    made.huge = options->huge;
    if (options->range != NULL) {
        size_t skipped = -(uintptr_t)options->range & (chunk_unit(&made) - 1);
        size_t bytes = options->range_bytes;
        made.range = options->range + (skipped < bytes ? skipped : bytes);
        made.range_end = options->range + bytes;
    }
    error = add_chunk(&made, first_slots(options, made.stride));
    if (error != 0)
        return error;
    enter_chunk(&made, 0);
    *pool = made;
    AB_MARK_POOL_CREATE(pool);
    return 0;
}

int ab_pool_init_type(struct ab_pool *pool, size_t slot_bytes, size_t align, size_t n_slots,
                      bool grows)
{
    struct ab_pool_options options;
    memset(&options, 0, sizeof options);
    options.slot_bytes = slot_bytes;
    options.align = align;
    options.n_slots = n_slots;
    options.grows = grows;
    return ab_pool_init(pool, &options);
}

int ab_pool_init_buffer(struct ab_pool *pool, void *buffer, size_t bytes,
                        const struct ab_pool_options *options)
{
    struct ab_pool made;
    int error = measure(&made, options);
    if (error != 0)
        return error;
    size_t head = -(uintptr_t)buffer & (made.align - 1);
    size_t room = head < bytes ? bytes - head : 0, slots = room - room % made.stride;
    if (slots == 0)
        return ENOMEM;
    char *base = (char *)buffer + head;
    struct ab_pool_chunk chunk = {base, base + slots, base, slots};
    made.chunks[made.n_chunks++] = chunk;
    made.is_buffer = true;
    enter_chunk(&made, 0);
    *pool = made;
    AB_MARK_POOL_CREATE(pool);
    AB_MARK_UNUSED(base, slots);
    return 0;
}

/* Unmaps a chunk. Clears its marks before, because the next mapping may be at the same address. */
static void release_chunk(const struct ab_pool_chunk *chunk)
{
    AB_MARK_DEFINED(chunk->base, chunk->map_bytes);
    ab_pages_release(chunk->base, chunk->map_bytes);
}

/* Unmaps the chunks from `first` on. In a range of the caller, gives back only their pages. */
static void unmap_from(struct ab_pool *pool, uint32_t first)
{
    for (uint32_t i = first; i < pool->n_chunks; i++) {
        struct ab_pool_chunk *chunk = &pool->chunks[i];
        pool->n_os_calls++;
        if (pool->range_end == NULL)
            release_chunk(chunk);
        else if (ab_pages_discard(chunk->base, chunk->map_bytes) == 0)
            chunk->dirty = chunk->base;
    }
    if (pool->range_end == NULL)
        pool->n_chunks = first;
}

void AB_POOL_PLAIN(fini)(struct ab_pool *pool)
{
    AB_MARK_POOL_DESTROY(pool);
    const bool stays_mapped = pool->is_buffer || pool->range_end != NULL;
    for (uint32_t i = 0; i < pool->n_chunks && stays_mapped; i++)
        AB_MARK_DEFINED(pool->chunks[i].base, pool->chunks[i].map_bytes);
    if (!pool->is_buffer)
        unmap_from(pool, 0);
    memset(pool, 0, sizeof *pool);
}

/* Adds a chunk as large as all chunks together; halves it each time the system refuses. */
static bool grow(struct ab_pool *pool)
{
    size_t n_slots = ab_pool_mapped(pool) / pool->stride;
    while (pool->grows && n_slots > 0 && add_chunk(pool, n_slots) != 0)
        n_slots = pool->n_chunks < AB_POOL_CHUNKS_MAX ? n_slots / 2 : 0;
    return pool->grows && n_slots > 0;
}

/* Records that the slots handed out of the current chunk are no longer zero. */
static void mark_dirty(struct ab_pool *pool)
{
    struct ab_pool_chunk *chunk = &pool->chunks[pool->current];
    if (pool->next > chunk->dirty)
        chunk->dirty = pool->next;
}

/* Finds a slot when there is no free one in the list or in the current chunk. Growing releases the
 * lock, so that the search then starts again. */
__attribute__((noinline)) void *ab_pool_alloc_slow(struct ab_pool *pool, size_t size)
{
    if (pool->collect != NULL && pool->collect(pool))
        return ab_pool_take(pool, size);
    if (pool->current + 1 < pool->n_chunks) {
        mark_dirty(pool);
        enter_chunk(pool, pool->current + 1);
    } else if (!grow(pool)) {
        return NULL;
    }
    return ab_pool_take(pool, size);
}

void *ab_pool_alloc_zeroed(struct ab_pool *pool, size_t size)
{
    AB_CHECKED_CALL(pool, "pool");
    const struct ab_pool_slot *before = pool->free;
    char *block = (char *)ab_pool_alloc(pool, size);
    if (block == NULL)
        return NULL;
    AB_MARK_DEFINED(block, size);
    bool is_carved = before == NULL && pool->mutex == NULL && pool->collect == NULL;
    if (AB_CHECKS || !is_carved || pool->is_buffer || block < pool->chunks[pool->current].dirty)
        memset(block, 0, size);
    return block;
}

__attribute__((noinline)) void AB_POOL_PLAIN(reset)(struct ab_pool *pool)
{
    AB_MARK_POOL_TRIM(pool, pool->chunks, 0);
    mark_dirty(pool);
    for (uint32_t i = 0; i < pool->current; i++)
        AB_MARK_UNUSED(pool->chunks[i].base, pool->chunks[i].map_bytes);
    AB_MARK_UNUSED(pool->chunks[pool->current].base,
                   (size_t)(pool->next - pool->chunks[pool->current].base));
    pool->free = NULL;
    pool->free_bytes = 0;
    enter_chunk(pool, 0);
}

/* Gives back the whole pages in [from, to). Returns false if there is none, or if the system
 * refuses. */
static bool give_back(struct ab_pool *pool, const char *from, const char *to)
{
    size_t page = ab_page_size();
    uintptr_t begin = ab_round_up((uintptr_t)from, page), end = (uintptr_t)to & ~(page - 1);
    if (begin >= end)
        return false;
    pool->n_os_calls++;
    return ab_pages_discard((void *)begin, end - begin) == 0;
}

void ab_pool_purge(struct ab_pool *pool)
{
    AB_CHECKED_CALL(pool, "pool");
    if (pool->is_buffer)
        return;
    unmap_from(pool, pool->current + 1);
    mark_dirty(pool);
    struct ab_pool_chunk *chunk = &pool->chunks[pool->current];
    char *fresh = (char *)ab_round_up((uintptr_t)pool->next, ab_page_size());
    if (give_back(pool, pool->next, chunk->base + chunk->map_bytes) && chunk->dirty > fresh)
        chunk->dirty = fresh;
    if (AB_CHECKS || pool->slot_bytes <= ab_page_size())
        /* free slots must stay poison, or are so small that hardly any of them contains a whole
         * page */
        return;
    for (struct ab_pool_slot *slot = pool->free; slot != NULL; slot = ab_pool_next(slot))
        give_back(pool, (char *)(slot + 1), (char *)slot + pool->slot_bytes);
}

/* Returns the end of the last slot of a chunk that was ever handed out. */
static const char *top_of(const struct ab_pool *pool, uint32_t index)
{
    const char *dirty = pool->chunks[index].dirty;
    return index == pool->current && pool->next > dirty ? pool->next : dirty;
}

bool AB_POOL_PLAIN(owns)(const struct ab_pool *pool, const void *p)
{
    for (uint32_t i = 0; i < pool->n_chunks; i++) {
        const struct ab_pool_chunk *chunk = &pool->chunks[i];
        uintptr_t offset = (uintptr_t)p - (uintptr_t)chunk->base;
        if (offset < (uintptr_t)(chunk->end - chunk->base))
            return offset % pool->stride == 0 && (const char *)p < top_of(pool, i);
    }
    return false;
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
        bytes += ab_round_up((size_t)(top_of(pool, i) - chunk->base), ab_page_size());
    }
    return bytes;
}

size_t ab_pool_live(const struct ab_pool *pool)
{
    return ((uintptr_t)pool->next - pool->origin - pool->free_bytes) / pool->stride;
}

#ifdef AB_WITH_CHECKS

/* ---- the checked build: the functions that programs call, over the plain pool ---- */

static size_t lead_of(const struct ab_pool *pool)
{
    return ab_checked_lead(pool->align);
}

/* Returns the chunk that the block may be in; NULL if there is none. */
static struct ab_pool_chunk *chunk_of(struct ab_pool *pool, const void *p)
{
    for (uint32_t i = 0; i < pool->n_chunks; i++)
        if ((const char *)p >= pool->chunks[i].base + lead_of(pool) &&
            (const char *)p < pool->chunks[i].end)
            return &pool->chunks[i];
    return NULL;
}

void *ab_pool_alloc(struct ab_pool *pool, size_t size)
{
    AB_CHECKED_CALL(pool, "pool");
    char *raw = size > pool->slot_bytes ? NULL : (char *)ab_pool_take(pool, 0);
    if (raw == NULL)
        return NULL;
    /* `dirty` is raised when a block dies */
    const char *dirty = chunk_of(pool, raw + lead_of(pool))->dirty;
    const char *end = raw + pool->stride;
    ab_block_demand_dead(&pool->blocks, raw + sizeof(struct ab_pool_slot),
                         end < dirty ? end : dirty);
    return ab_checked_begin(&pool->blocks, raw, pool->align, size, pool->stride);
}

static void demand(struct ab_pool *pool, const void *block)
{
    ab_checked_demand(&pool->blocks, block, chunk_of(pool, block) != NULL);
}

/* Ends the life of a block: checks its surroundings and fills its slot with 0xDD. */
static char *end_block(struct ab_pool *pool, void *block)
{
    struct ab_pool_chunk *chunk = chunk_of(pool, block);
    char *raw = ab_checked_end(&pool->blocks, block, pool->stride);
    if (chunk->dirty < raw + pool->stride)
        chunk->dirty = raw + pool->stride;
    return raw;
}

void ab_pool_free(struct ab_pool *pool, void *block)
{
    AB_CHECKED_CALL(pool, "pool");
    if (block == NULL)
        return;
    demand(pool, block);
    char *raw = end_block(pool, block);
    ab_pool_plain_free(pool, raw);
    AB_MARK_UNUSED(raw, pool->stride);
}

AB_CHECKED_DEFINE(ab_pool, struct ab_pool, "pool", demand, end_block)

bool ab_pool_owns(const struct ab_pool *pool, const void *p)
{
    return ab_pool_plain_owns(pool, (const char *)p - lead_of(pool));
}

size_t ab_pool_usable(const struct ab_pool *pool, const void *block)
{
    (void)pool;
    return ab_checked_size(block); /* the checked build allows only the requested size */
}

void ab_pool_visit(const struct ab_pool *pool,
                   void (*visit)(void *block, size_t size, void *context), void *context)
{
    ab_block_visit(&pool->blocks, visit, context);
}

#endif
