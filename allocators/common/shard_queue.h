/* SPDX-License-Identifier: MIT
 *
 * The way of a block back to the heap that it is of. The queue is a stack: pushed by
 * compare-and-swap, taken as a whole by an exchange, so there is no ABA. The link is inside the
 * freed block. Blocks that a thread frees for others are sent some at a time.
 */
#ifndef AB_ALLOCATORS_SHARD_QUEUE_H
#define AB_ALLOCATORS_SHARD_QUEUE_H

#include "shards.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { AB_SHARD_BATCH = 32 };

/* Of a block of 8 bytes or more. is_urgent: not to wait until there are more. */
AB_COMMON_API void ab_shard_free(struct ab_shard *from, struct ab_shard *owner, void *block,
                                 bool is_urgent);
/* What waits goes now. */
AB_COMMON_API void ab_shard_send(struct ab_shard *from);
/* All that other threads have sent, or NULL. */
AB_COMMON_API struct ab_shards_link *ab_shard_take_remote(struct ab_shard *shard);
/* Unlinks the first; the block may be handed to the allocator. */
AB_COMMON_API void *ab_shard_pop(struct ab_shards_link **chain);
/* While all others are at rest, for each heap of `whole` (see ab_shards_next): its blocks are dead. */
AB_COMMON_API void ab_shard_forget(const struct ab_shard *whole, struct ab_shard *each);

/* While all others are at rest: block by block what was freed of the blocks of `whole` and is not
 * with its owner yet: of what came to `each`, and of what it has not sent. Of one heap alone what
 * came to it: what others have not sent is not known, and what it has not sent is theirs. NULL at
 * the end. */
struct ab_shard_cursor {
    const struct ab_shards_link *next;
    uint32_t stage, n_left;
};
AB_COMMON_API const void *ab_shard_in_flight(const struct ab_shard *whole,
                                             const struct ab_shard *each,
                                             struct ab_shard_cursor *cursor);

/* A heap without an owner becomes the caller's; false when it has one. */
AB_COMMON_API bool ab_shard_take(struct ab_shard *shard, enum ab_shard_state state);
/* The heap has no owner any more. What came is freed before, also what comes at the same time. */
AB_COMMON_API void ab_shard_give_up(struct ab_shard *shard);

#ifdef __cplusplus
}
#endif

#endif
