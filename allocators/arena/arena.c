/* SPDX-License-Identifier: MIT
 *
 * Blocks of the arena, where it is not the fast path. Its memory is in arena_region.c; what goes
 * down again in arena_ends.c. Pages above `dirty` were never handed out since the system zeroed
 * them, which is what makes zeroed blocks cheap; `dirty` is raised only where the pointer goes
 * down, so that allocation never has to.
 */
#include "arena.h"

#include "arena_region.h"

static void arena_demand_dead(const struct ab_arena *a, char *from, char *to)
{
    (void)a, (void)from, (void)to;
#ifdef AB_WITH_CHECKS
    ab_block_demand_dead(&a->blocks, from, to < a->dead_end ? to : a->dead_end);
#endif
}

/* In this region. */
static void *arena_place(struct ab_arena *a, size_t align, size_t size)
{
    size_t room = (size_t)(a->end - a->next);
    size_t pad = AB_ARENA_FRONT + (-((uintptr_t)a->next + AB_ARENA_FRONT) & (align - 1));
    if (pad > room || !ab_arena_make_room(a, a->next + pad, size))
        return NULL;
    char *block = a->next + pad, *end = block + ab_arena_block_bytes(size);
    arena_demand_dead(a, a->next, end);
    a->next = end;
    return block;
}

static void *arena_place_anywhere(struct ab_arena *a, size_t align, size_t size)
{
    void *block = arena_place(a, align, size);
    if (block != NULL || a->chain_bytes == 0 || !ab_arena_push_region(a, align, size))
        return block;
    block = arena_place(a, align, size);
    if (block == NULL)
        ab_arena_pop_region(a);
    return block;
}

__attribute__((noinline)) void *ab_arena_take_slow(struct ab_arena *a, size_t align, size_t size)
{
    ab_arena_demand_open(a);
    void *block = arena_place_anywhere(a, align, size);
    if (block == NULL && a->exhausted != NULL && a->exhausted(a, size, a->exhausted_context))
        block = arena_place_anywhere(a, align, size);
    return block;
}

/* The block begins a run of its own, and the next small one follows it. */
__attribute__((noinline)) void *ab_arena_take_packed(struct ab_arena *a, size_t size)
{
    char *block = (char *)ab_arena_take_slow(a, AB_ARENA_ALIGN, size);
    if (block == NULL)
        return NULL;
    a->packed = block + ab_arena_last_byte(size) + 1;
    a->packed_end = a->next;
    a->plain_bytes = 0;
    return block;
}

void *ab_arena_alloc_aligned(struct ab_arena *a, size_t align, size_t size)
{
    if (align == 0 || (align & (align - 1)) != 0)
        return NULL;
    if (align <= AB_ARENA_ALIGN)
        return ab_arena_alloc_packed(a, align, size);
    return ab_arena_born(a, ab_arena_take_slow(a, align, size), size);
}

/* `dirty` may be that of another region, which is why what lies there counts, and not the number. */
static void *arena_clear(const struct ab_arena *a, void *block, size_t size)
{
    if (block == NULL)
        return NULL;
    if (AB_ARENA_CHECKS || (char *)block < a->dirty) {
        size_t stale = AB_ARENA_CHECKS ? size : (size_t)(a->dirty - (char *)block);
        memset(block, 0, size < stale ? size : stale);
    }
    AB_MARK_DEFINED(block, size);
    return block;
}

void *ab_arena_alloc_zeroed(struct ab_arena *a, size_t size)
{
    return arena_clear(a, ab_arena_alloc(a, size), size);
}

void *ab_arena_alloc_array(struct ab_arena *a, size_t align, size_t n, size_t each_bytes)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, each_bytes, &bytes))
        return NULL;
    return ab_arena_alloc_aligned(a, align, bytes);
}

void *ab_arena_alloc_array_zeroed(struct ab_arena *a, size_t align, size_t n, size_t each_bytes)
{
    void *block = ab_arena_alloc_array(a, align, n, each_bytes);
    return block == NULL ? NULL : arena_clear(a, block, n * each_bytes);
}
