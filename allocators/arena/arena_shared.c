/* SPDX-License-Identifier: MIT
 *
 * What arenas of a group do beside their fast path. Nothing is freed one by one, so nothing is on
 * its way between them.
 */
#include "arena_shared.h"

#ifdef AB_WITH_CHECKS
#include "../common/blocks.h"
#endif
#include "../common/shards.h"

#include <errno.h>
#include <string.h>

static struct ab_arena_shared *heap_of(struct ab_shard *shard)
{
    return (struct ab_arena_shared *)(void *)shard;
}

static struct ab_arena_shared *next_heap(const struct ab_arena_shared *whole,
                                         const struct ab_arena_shared *each)
{
    return heap_of(ab_shards_next(&whole->shard, &each->shard));
}

static int open_heap(struct ab_shard *shard)
{
    struct ab_arena_shared *first = heap_of(ab_shards_at(shard->shards, 0));
    return ab_arena_init(&heap_of(shard)->arena, &first->options);
}

struct ab_arena_shared *ab_arena_shared_open(const struct ab_arena_shared_options *options)
{
    static const struct ab_shards_calls calls = {open_heap, NULL, NULL, NULL,
                                                 sizeof(struct ab_arena_shared)};
    struct ab_shards *shards = ab_shards_open(&options->threads, &calls, 0);
    if (shards == NULL)
        return NULL;
    struct ab_arena_shared *group = heap_of(ab_shards_at(shards, 0));
    group->options = options->arena;
    int error = ab_shards_ready(&group->shard);
    if (error == 0)
        return group;
    ab_shards_close(shards);
    errno = error;
    return NULL;
}

void ab_arena_shared_close(struct ab_arena_shared *group)
{
    for (struct ab_arena_shared *each = group; each != NULL; each = next_heap(group, each))
        ab_arena_fini(&each->arena);
    if (group != NULL)
        ab_shards_close(group->shard.shards);
}

struct ab_arena_shared *ab_arena_shared_enter(struct ab_arena_shared *group, uint32_t number)
{
    return heap_of(ab_shards_enter(group->shard.shards, number));
}

void ab_arena_shared_leave(struct ab_arena_shared *own)
{
    ab_shards_leave(&own->shard);
}

/* ---- with a lock, where there is one ---- */

__attribute__((noinline)) void *ab_arena_shared_alloc_locked(struct ab_arena_shared *own,
                                                             size_t size)
{
    pthread_mutex_lock(&own->shard.mutex);
    void *block = ab_arena_alloc(&own->arena, size);
    pthread_mutex_unlock(&own->shard.mutex);
    return block;
}

void *ab_arena_shared_alloc_aligned(struct ab_arena_shared *own, size_t align, size_t size)
{
    ab_shard_lock(&own->shard);
    void *block = ab_arena_alloc_aligned(&own->arena, align, size);
    ab_shard_unlock(&own->shard);
    return block;
}

void *ab_arena_shared_alloc_zeroed(struct ab_arena_shared *own, size_t size)
{
    ab_shard_lock(&own->shard);
    void *block = ab_arena_alloc_zeroed(&own->arena, size);
    ab_shard_unlock(&own->shard);
    return block;
}

/* What is behind a block only its own arena knows. Without checks an earlier region of one's own
 * counts as another's: nothing of it grows in place. */
static bool is_of_another(struct ab_arena_shared *own, const void *block, size_t old_size)
{
    const struct ab_arena *a = &own->arena;
    (void)old_size;
    if (block == NULL || (uintptr_t)block - (uintptr_t)a->base < (size_t)(a->next - a->base))
        return false;
#ifdef AB_WITH_CHECKS
    struct ab_arena_shared *first = heap_of(ab_shards_at(own->shard.shards, 0)), *each = first;
    while (each != NULL &&
           (each == own || each->arena.blocks.id != ab_block_head_of(block)->list_id))
        each = next_heap(first, each);
    if (each != NULL)
        ab_block_demand(&each->arena.blocks, block, old_size);
    return each != NULL;
#else
    return own->shard.shards->n_shards > 1;
#endif
}

static void *copy_here(struct ab_arena *a, void *block, size_t old_size, size_t new_size)
{
    if (new_size <= old_size && !AB_ARENA_CHECKS)
        return block;
    void *copy = ab_arena_alloc(a, new_size);
    if (copy != NULL)
        memcpy(copy, block, old_size < new_size ? old_size : new_size);
    return copy;
}

void *ab_arena_shared_resize(struct ab_arena_shared *own, void *block, size_t old_size,
                             size_t new_size)
{
    ab_shard_lock(&own->shard);
    void *resized = is_of_another(own, block, old_size)
                        ? copy_here(&own->arena, block, old_size, new_size)
                        : ab_arena_resize(&own->arena, block, old_size, new_size);
    ab_shard_unlock(&own->shard);
    return resized;
}

struct ab_arena_mark ab_arena_shared_save(struct ab_arena_shared *own)
{
    ab_shard_lock(&own->shard);
    struct ab_arena_mark mark = ab_arena_save(&own->arena);
    ab_shard_unlock(&own->shard);
    return mark;
}

void ab_arena_shared_restore(struct ab_arena_shared *own, struct ab_arena_mark mark)
{
    ab_shard_lock(&own->shard);
    ab_arena_restore(&own->arena, mark);
    ab_shard_unlock(&own->shard);
}

/* ---- the whole group ---- */

void ab_arena_shared_reset(struct ab_arena_shared *group)
{
    for (struct ab_arena_shared *each = group; each != NULL; each = next_heap(group, each)) {
        ab_shard_lock(&each->shard);
        ab_arena_reset(&each->arena);
        ab_shard_unlock(&each->shard);
    }
}

void ab_arena_shared_purge(struct ab_arena_shared *group)
{
    for (struct ab_arena_shared *each = group; each != NULL; each = next_heap(group, each)) {
        ab_shard_lock(&each->shard);
        ab_arena_purge(&each->arena);
        ab_shard_unlock(&each->shard);
    }
}

struct ab_arena_shared_sums ab_arena_shared_sum(struct ab_arena_shared *group)
{
    struct ab_arena_shared_sums sums = {0, 0, 0, 0, 0};
    for (struct ab_arena_shared *each = group; each != NULL; each = next_heap(group, each)) {
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
