/* SPDX-License-Identifier: MIT
 *
 * What pools of a group do beside their fast paths: with a lock, or for another thread.
 */
#include "pool_shared.h"

#ifdef AB_WITH_CHECKS
#include "../common/guard.h"
#endif
#include "../common/shard_queue.h"
#include "../common/shards.h"

#include <errno.h>

static struct ab_pool_shared *heap_of(struct ab_shard *shard)
{
    return (struct ab_pool_shared *)(void *)shard;
}

static struct ab_pool_shared *next_heap(const struct ab_pool_shared *whole,
                                        const struct ab_pool_shared *each)
{
    return heap_of(ab_shards_next(&whole->shard, &each->shard));
}

/* What other threads freed of this pool's slots. */
static bool collect(struct ab_pool *pool)
{
    struct ab_pool_shared *heap =
        (struct ab_pool_shared *)(void *)((char *)pool - offsetof(struct ab_pool_shared, pool));
    struct ab_shards_link *chain = ab_shard_take_remote(&heap->shard);
    if (chain == NULL)
        return false;
    while (chain != NULL)
        ab_pool_free(pool, ab_shard_pop(&chain));
    return true;
}

static void drain(struct ab_shard *owner)
{
    collect(&heap_of(owner)->pool);
}

static void free_own(struct ab_shard *owner, void *block)
{
    ab_pool_free(&heap_of(owner)->pool, block);
}

static size_t bytes_of(struct ab_shard *owner, const void *block)
{
    (void)block;
    return heap_of(owner)->pool.slot_bytes;
}

static int open_heap(struct ab_shard *shard)
{
    const struct ab_shards *shards = shard->shards;
    struct ab_pool_shared *heap = heap_of(shard);
    struct ab_pool_options options = heap_of(ab_shards_at(shards, 0))->options;
    if (shards->range != NULL) {
        options.range = ab_shards_span(shards, shard);
        options.range_bytes = (size_t)1 << shards->span_log2;
    }
    int error = ab_pool_init(&heap->pool, &options);
    if (error != 0)
        return error;
    shard->fast_max = shard->is_plain ? heap->pool.slot_bytes : 0;
    heap->pool.mutex = shard->is_plain ? NULL : &shard->mutex;
    heap->pool.collect = shard->is_plain && shards->mode == AB_SHARDS_LOCAL ? collect : NULL;
    return 0;
}

struct ab_pool_shared *ab_pool_shared_open(const struct ab_pool_shared_options *options)
{
    static const struct ab_shards_calls calls = {open_heap, free_own, drain, bytes_of,
                                                 sizeof(struct ab_pool_shared)};
    size_t span = options->pool.range_bytes;
    struct ab_shards_options threads = options->threads;
    threads.is_guarded |= AB_POOL_CHECKS; /* what is wrong shall show at the call itself */
    struct ab_shards *shards = ab_shards_open(&threads, &calls,
                                              span != 0 ? span : AB_SHARDS_SPAN_BYTES);
    if (shards == NULL)
        return NULL;
    struct ab_pool_shared *group = heap_of(ab_shards_at(shards, 0));
    group->options = options->pool;
    group->options.range = NULL;
    int error = ab_shards_ready(&group->shard);
    if (error == 0)
        return group;
    ab_shards_close(shards);
    errno = error;
    return NULL;
}

void ab_pool_shared_close(struct ab_pool_shared *group)
{
    struct ab_shards *shards = group != NULL ? group->shard.shards : NULL;
    for (struct ab_pool_shared *each = group; each != NULL; each = next_heap(group, each)) {
        each->pool.mutex = NULL; /* no other thread is there any more */
        ab_pool_fini(&each->pool);
    }
    if (shards != NULL)
        ab_shards_close(shards);
}

/* ---- whose ---- */

struct ab_pool_shared *ab_pool_shared_enter(struct ab_pool_shared *group, uint32_t number)
{
    return heap_of(ab_shards_enter(group->shard.shards, number));
}

void ab_pool_shared_leave(struct ab_pool_shared *own)
{
    ab_shards_leave(&own->shard);
}

/* ---- with a lock, or of another heap ---- */

void *ab_pool_shared_alloc_slow(struct ab_pool_shared *own, size_t align, size_t size, bool zeroed)
{
    ab_shard_lock(&own->shard);
    void *block = zeroed ? ab_pool_alloc_zeroed(&own->pool, size)
                         : ab_pool_alloc_aligned(&own->pool, align, size);
    ab_shard_unlock(&own->shard);
    return block;
}

void ab_pool_shared_free_slow(struct ab_pool_shared *own, void *block)
{
    struct ab_shard *owner = ab_shards_owner(own->shard.shards, block);
    if (block == NULL)
        return;
#ifdef AB_WITH_CHECKS
    if (owner == NULL)
        ab_guard_end("pool", block, "not from this heap");
#endif
    ab_shard_free(&own->shard, owner, block, false);
}

#ifdef AB_WITH_CHECKS
void ab_pool_shared_free_sized(struct ab_pool_shared *own, void *block, size_t size)
{
    struct ab_pool_shared *owner = heap_of(ab_shards_owner(own->shard.shards, block));
    if (block == NULL)
        return;
    if (owner == NULL)
        ab_guard_end("pool", block, "not from this heap");
    ab_shard_lock(&owner->shard);
    ab_pool_free_sized(&owner->pool, block, size);
    ab_shard_unlock(&owner->shard);
}
#endif

bool ab_pool_shared_owns(struct ab_pool_shared *own, const void *p)
{
    struct ab_pool_shared *owner = heap_of(ab_shards_owner(own->shard.shards, p));
    if (owner == NULL)
        return false;
    ab_shard_lock(&owner->shard);
    bool is_owned = ab_pool_owns(&owner->pool, p);
    ab_shard_unlock(&owner->shard);
    return is_owned;
}

/* ---- the whole group ---- */

void ab_pool_shared_reset(struct ab_pool_shared *group)
{
    for (struct ab_pool_shared *each = group; each != NULL; each = next_heap(group, each)) {
        ab_shard_lock(&each->shard);
        ab_shard_forget(&group->shard, &each->shard);
        ab_pool_reset(&each->pool);
        ab_shard_unlock(&each->shard);
    }
}

/* First all is sent, then each takes what came. */
void ab_pool_shared_purge(struct ab_pool_shared *group)
{
    for (struct ab_pool_shared *each = group; each != NULL; each = next_heap(group, each))
        if (each->shard.is_plain)
            ab_shard_send(&each->shard);
    for (struct ab_pool_shared *each = group; each != NULL; each = next_heap(group, each)) {
        ab_shard_lock(&each->shard);
        collect(&each->pool);
        ab_pool_purge(&each->pool);
        ab_shard_unlock(&each->shard);
    }
}

static size_t count_flying(const struct ab_shard *whole, const struct ab_shard *each)
{
    struct ab_shard_cursor cursor = {NULL, 0, 0};
    size_t n = 0;
    while (ab_shard_in_flight(whole, each, &cursor) != NULL)
        n++;
    return n;
}

struct ab_pool_shared_sums ab_pool_shared_sum(struct ab_pool_shared *group)
{
    struct ab_pool_shared_sums sums = {0, 0, 0, 0, 0};
    size_t n_flying = 0;
    for (struct ab_pool_shared *each = group; each != NULL; each = next_heap(group, each)) {
        ab_shard_lock(&each->shard);
        sums.n_heaps++;
        sums.mapped += ab_pool_mapped(&each->pool);
        sums.used += ab_pool_used(&each->pool);
        sums.live += ab_pool_live(&each->pool);
        sums.n_os_calls += each->pool.n_os_calls;
        n_flying += count_flying(&group->shard, &each->shard);
        ab_shard_unlock(&each->shard);
    }
    sums.live -= n_flying;
    return sums;
}
