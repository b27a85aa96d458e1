/* SPDX-License-Identifier: MIT
 *
 * What only programs need of arenas for several threads: the arena of a thread found by the C library,
 * and fork.
 */
#include "../common/thread_shard.h"
#include "arena_shared.h"

struct ab_arena_shared *ab_arena_shared_own(struct ab_arena_shared *group)
{
    return (struct ab_arena_shared *)(void *)ab_thread_shard(group->shard.shards);
}

void ab_arena_shared_before_fork(struct ab_arena_shared *group)
{
    ab_shards_before_fork(group->shard.shards);
}

void ab_arena_shared_after_fork(struct ab_arena_shared *group, bool is_child)
{
    ab_shards_after_fork(group->shard.shards, is_child);
}
