/* SPDX-License-Identifier: MIT
 *
 * Finds the heap of the calling thread, and leaves it when the thread ends. allocbench does not use
 * this file: its threads enter by number.
 */
#include "shards.h"

/* True if this thread has left a heap. Allocations of its other destructors are then served by the
 * first heap of a group. A value set again in the key's own destructor would tell the same. But
 * clang then calls that destructor again after its ThreadSanitizer has ended the thread. */
static __thread bool ab_thread_is_ending;

static void thread_ends(void *own)
{
    ab_thread_is_ending = true;
    ab_shards_leave((struct ab_shard *)own);
}

static void forget_key(struct ab_shards *shards)
{
    if (shards->has_key)
        pthread_key_delete(shards->key);
}

static bool make_key(struct ab_shards *shards)
{
    pthread_mutex_lock(&shards->mutex);
    bool has_key = shards->has_key || pthread_key_create(&shards->key, thread_ends) == 0;
    shards->forget_key = forget_key;
    __atomic_store_n(&shards->has_key, has_key, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&shards->mutex);
    return has_key;
}

__attribute__((noinline)) static struct ab_shard *thread_begins(struct ab_shards *shards)
{
    struct ab_shard *first = ab_shards_at(shards, 0);
    bool has_key = __atomic_load_n(&shards->has_key, __ATOMIC_ACQUIRE);
    if (ab_thread_is_ending || (!has_key && !make_key(shards)))
        return first;
    struct ab_shard *own = ab_shards_adopt(shards);
    if (pthread_setspecific(shards->key, own) == 0)
        return own;
    ab_shards_leave(own);
    return first;
}

struct ab_shard *ab_thread_shard(struct ab_shards *shards)
{
    if (shards->n_shards == 1)
        return ab_shards_at(shards, 0);
    struct ab_shard *own = NULL;
    if (__atomic_load_n(&shards->has_key, __ATOMIC_ACQUIRE))
        own = (struct ab_shard *)pthread_getspecific(shards->key);
    return own != NULL ? own : thread_begins(shards);
}
