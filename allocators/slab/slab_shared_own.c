/* SPDX-License-Identifier: MIT
 *
 * What only programs need of slabs for several threads: the heap of a thread found by the C library,
 * and fork.
 */
#include "../common/thread_shard.h"
#include "slab_shared.h"

struct ab_slab_shared *ab_slab_shared_own(struct ab_slab_shared *group)
{
    return (struct ab_slab_shared *)(void *)ab_thread_shard(group->shard.shards);
}

void ab_slab_shared_before_fork(struct ab_slab_shared *group)
{
    ab_shards_before_fork(group->shard.shards);
}

void ab_slab_shared_after_fork(struct ab_slab_shared *group, bool is_child)
{
    ab_shards_after_fork(group->shard.shards, is_child);
}
