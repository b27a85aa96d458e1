/* SPDX-License-Identifier: MIT
 *
 * The heap of the calling thread, found by a key of the group: taken at the first question, left at
 * the end of the thread.
 */
#ifndef AB_ALLOCATORS_THREAD_SHARD_H
#define AB_ALLOCATORS_THREAD_SHARD_H

#include "shards.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The first heap of the group for a thread that is about to end, and where the system has no key or
 * no memory left. Never NULL. */
AB_COMMON_API struct ab_shard *ab_thread_shard(struct ab_shards *shards);

#ifdef __cplusplus
}
#endif

#endif
