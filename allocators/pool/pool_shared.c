/* SPDX-License-Identifier: MIT
 *
 * The functions of a group of pools outside of the fast paths: calls with a lock, and blocks of
 * other threads.
 */
#include "pool_shared.h"

#include "../common/checked.h"
#include "../common/shards.h"

AB_SHARDS_DEFINE(ab_pool_shared, pool, ab_pool)
AB_SHARDS_DEFINE_COLLECT(ab_pool_shared, pool, ab_pool, struct ab_pool)

static void free_own(struct ab_shard *owner, void *block)
{
    ab_pool_free(&ab_pool_shared_of(owner)->pool, block);
}

static size_t bytes_of(struct ab_shard *owner, const void *block)
{
    (void)block;
    return ab_pool_shared_of(owner)->pool.slot_bytes;
}

static int open_heap(struct ab_shard *shard)
{
    const struct ab_shards *shards = shard->shards;
    struct ab_pool_shared *heap = ab_pool_shared_of(shard);
    struct ab_pool_options options = ab_pool_shared_of(ab_shards_at(shards, 0))->options;
    if (shards->range != NULL) {
        options.range = ab_shards_span(shards, shard);
        options.range_bytes = (size_t)1 << shards->span_log2;
    }
    int error = ab_pool_init(&heap->pool, &options);
    if (error != 0)
        return error;
    shard->fast_max = shard->is_plain ? heap->pool.slot_bytes : 0;
    heap->pool.mutex = shard->is_plain ? NULL : &shard->mutex;
    AB_CHECKED(heap->pool.blocks.is_locked = true);
    heap->pool.collect = shard->is_plain && shards->mode == AB_SHARDS_LOCAL ? ab_pool_shared_collect
                                                                            : NULL;
    return 0;
}

struct ab_pool_shared *ab_pool_shared_open(const struct ab_pool_shared_options *options)
{
    static const struct ab_shards_calls calls = AB_SHARDS_CALLS(
        ab_pool_shared, open_heap, NULL, free_own, ab_pool_shared_drain, bytes_of);
    size_t span = options->pool.range_bytes;
    struct ab_shards_options threads = options->threads;
    /* in the checked build, errors must show at the wrong call itself */
    threads.is_guarded |= AB_CHECKS;
    struct ab_shards *shards = ab_shards_open(&threads, &calls,
                                              span != 0 ? span : AB_SHARDS_SPAN_BYTES);
    if (shards == NULL)
        return NULL;
    struct ab_pool_shared *group = ab_pool_shared_of(ab_shards_at(shards, 0));
    group->options = options->pool;
    group->options.range = NULL;
    return ab_pool_shared_of(ab_shards_begin(shards));
}

/* ---- calls with a lock, and blocks of another heap ---- */

void *ab_pool_shared_alloc_slow(struct ab_pool_shared *own, size_t align, size_t size, bool zeroed)
{
    AB_CHECKED_OWN(own, "pool");
    ab_shard_lock(&own->shard);
    void *block = zeroed ? ab_pool_alloc_zeroed(&own->pool, size)
                         : ab_pool_alloc_aligned(&own->pool, align, size);
    ab_shard_unlock(&own->shard);
    return block;
}

void ab_pool_shared_free_slow(struct ab_pool_shared *own, void *block)
{
    AB_CHECKED_OWN(own, "pool");
    struct ab_shard *owner = ab_shards_owner(own->shard.shards, block);
    if (block == NULL)
        return;
    if (AB_CHECKS && owner == NULL)
        ab_guard_end("pool", block, AB_SAYS_FOREIGN);
    ab_shard_free(&own->shard, owner, block, false);
}

#ifdef AB_WITH_CHECKS
void ab_pool_shared_free_sized(struct ab_pool_shared *own, void *block, size_t size)
{
    AB_CHECKED_OWN(own, "pool");
    struct ab_pool_shared *owner = ab_pool_shared_of(ab_shards_owner(own->shard.shards, block));
    if (block == NULL)
        return;
    if (owner == NULL)
        ab_guard_end("pool", block, AB_SAYS_FOREIGN);
    ab_shard_lock(&owner->shard);
    ab_pool_free_sized(&owner->pool, block, size);
    ab_shard_unlock(&owner->shard);
}
#endif

bool ab_pool_shared_owns(struct ab_pool_shared *own, const void *p)
{
    struct ab_pool_shared *owner = ab_pool_shared_of(ab_shards_owner(own->shard.shards, p));
    if (owner == NULL)
        return false;
    ab_shard_lock(&owner->shard);
    bool is_owned = ab_pool_owns(&owner->pool, p);
    ab_shard_unlock(&owner->shard);
    return is_owned;
}

struct ab_pool_shared_sums ab_pool_shared_sum(struct ab_pool_shared *group)
{
    struct ab_pool_shared_sums sums = {0, 0, 0, 0, 0};
    struct ab_pool_shared *each = group;
    for (; each != NULL; each = ab_pool_shared_next(group, each)) {
        ab_shard_lock(&each->shard);
        sums.n_heaps++;
        sums.mapped += ab_pool_mapped(&each->pool);
        sums.used += ab_pool_used(&each->pool);
        sums.live += ab_pool_live(&each->pool);
        sums.live -= ab_shard_in_flight(&group->shard, &each->shard) / each->pool.slot_bytes;
        sums.n_os_calls += each->pool.n_os_calls;
        ab_shard_unlock(&each->shard);
    }
    return sums;
}
