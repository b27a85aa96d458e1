/* SPDX-License-Identifier: MIT
 *
 * The functions of a group of arenas outside of the fast path: opening, locks, resizing and sums.
 * No arena frees single blocks, so that no blocks travel between arenas.
 */
#include "arena_shared.h"

#include "../common/checked.h"
#include "../common/shards.h"

#include <string.h>

AB_SHARDS_DEFINE(ab_arena_shared, arena, ab_arena)

static int open_heap(struct ab_shard *shard)
{
    const struct ab_arena_shared *first = ab_arena_shared_of(ab_shards_at(shard->shards, 0));
    return ab_arena_init(&ab_arena_shared_of(shard)->arena, &first->options);
}

struct ab_arena_shared *ab_arena_shared_open(const struct ab_arena_shared_options *options)
{
    static const struct ab_shards_calls calls = AB_SHARDS_CALLS(ab_arena_shared, open_heap, NULL,
                                                                NULL, NULL, NULL);
    struct ab_shards *shards = ab_shards_open(&options->threads, &calls, 0);
    if (shards == NULL)
        return NULL;
    ab_arena_shared_of(ab_shards_at(shards, 0))->options = options->arena;
    return ab_arena_shared_of(ab_shards_begin(shards));
}

/* ---- with a lock, where there is one ---- */

__attribute__((noinline)) void *ab_arena_shared_alloc_locked(struct ab_arena_shared *own,
                                                             size_t size)
{
    AB_CHECKED_OWN(own, "arena");
    ab_shard_lock(&own->shard);
    void *block = ab_arena_alloc(&own->arena, size);
    ab_shard_unlock(&own->shard);
    return block;
}

void *ab_arena_shared_alloc_aligned(struct ab_arena_shared *own, size_t align, size_t size)
{
    AB_CHECKED_OWN(own, "arena");
    ab_shard_lock(&own->shard);
    void *block = ab_arena_alloc_aligned(&own->arena, align, size);
    ab_shard_unlock(&own->shard);
    return block;
}

void *ab_arena_shared_alloc_zeroed(struct ab_arena_shared *own, size_t size)
{
    AB_CHECKED_OWN(own, "arena");
    ab_shard_lock(&own->shard);
    void *block = ab_arena_alloc_zeroed(&own->arena, size);
    ab_shard_unlock(&own->shard);
    return block;
}

/* True if the block is in another arena of the group. Only its own arena can resize a block in
 * place. Without checks, a block in an earlier region of this arena counts as another arena's, so
 * that it does not grow in place. */
static bool is_of_another(struct ab_arena_shared *own, const void *block, size_t old_size)
{
    const struct ab_arena *a = &own->arena;
    (void)old_size;
    if (block == NULL || (uintptr_t)block - (uintptr_t)a->base < (size_t)(a->next - a->base))
        return false;
#ifdef AB_WITH_CHECKS
    struct ab_arena_shared *first = ab_arena_shared_of(ab_shards_at(own->shard.shards, 0)),
                           *each = first;
    if (!ab_guard_can_read(ab_block_head_of(block), AB_BLOCK_FRONT))
        ab_guard_end("arena", block, AB_SAYS_FOREIGN);
    while (each != NULL &&
           (each == own || each->arena.blocks.id != ab_block_head_of(block)->list_id))
        each = ab_arena_shared_next(first, each);
    if (each != NULL)
        ab_block_demand(&each->arena.blocks, block, old_size, true);
    return each != NULL;
#else
    return own->shard.shards->n_shards > 1;
#endif
}

static void *copy_here(struct ab_arena *a, void *block, size_t old_size, size_t new_size)
{
    if (new_size <= old_size && !AB_CHECKS)
        return block;
    void *copy = ab_arena_alloc(a, new_size);
    if (copy != NULL)
        memcpy(copy, block, old_size < new_size ? old_size : new_size);
    return copy;
}

void *ab_arena_shared_resize(struct ab_arena_shared *own, void *block, size_t old_size,
                             size_t new_size)
{
    AB_CHECKED_OWN(own, "arena");
    ab_shard_lock(&own->shard);
    void *resized = is_of_another(own, block, old_size)
                        ? copy_here(&own->arena, block, old_size, new_size)
                        : ab_arena_resize(&own->arena, block, old_size, new_size);
    ab_shard_unlock(&own->shard);
    return resized;
}

struct ab_arena_mark ab_arena_shared_save(struct ab_arena_shared *own)
{
    AB_CHECKED_OWN(own, "arena");
    ab_shard_lock(&own->shard);
    struct ab_arena_mark mark = ab_arena_save(&own->arena);
    ab_shard_unlock(&own->shard);
    return mark;
}

void ab_arena_shared_restore(struct ab_arena_shared *own, struct ab_arena_mark mark)
{
    AB_CHECKED_OWN(own, "arena");
    ab_shard_lock(&own->shard);
    ab_arena_restore(&own->arena, mark);
    ab_shard_unlock(&own->shard);
}

struct ab_arena_shared_sums ab_arena_shared_sum(struct ab_arena_shared *group)
{
    struct ab_arena_shared_sums sums = {0, 0, 0, 0, 0};
    for (struct ab_arena_shared *each = group; each != NULL;
         each = ab_arena_shared_next(group, each)) {
        const struct ab_arena *a = &each->arena;
        ab_shard_lock(&each->shard);
        sums.n_arenas++;
        sums.reserved += (size_t)(a->end - a->base);
        sums.committed += ab_arena_committed(a);
        sums.used += ab_arena_used(a);
        sums.n_os_calls += a->n_os_calls;
        ab_shard_unlock(&each->shard);
    }
    return sums;
}
