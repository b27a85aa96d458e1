/* SPDX-License-Identifier: MIT
 *
 * What only programs need of pools for several threads: the heap of a thread found by the C library,
 * and fork.
 */
#include "../common/thread_shard.h"
#include "pool_shared.h"

struct ab_pool_shared *ab_pool_shared_own(struct ab_pool_shared *group)
{
    return (struct ab_pool_shared *)(void *)ab_thread_shard(group->shard.shards);
}

void ab_pool_shared_before_fork(struct ab_pool_shared *group)
{
    ab_shards_before_fork(group->shard.shards);
}

void ab_pool_shared_after_fork(struct ab_pool_shared *group, bool is_child)
{
    ab_shards_after_fork(group->shard.shards, is_child);
}
