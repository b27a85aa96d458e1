/* SPDX-License-Identifier: MIT
 *
 * A pool for any number of threads: one with a lock, several with a lock each, or one for each
 * thread, whose fast paths are those of pool.h without a lock or an atomic operation. Who may free
 * where, and what happens at the end of a thread and at fork: ../common/shard.h, for all modes.
 * Example: allocators/examples/worker_threads.c. Usable on its own: this folder and ../common.
 *
 *     struct ab_pool_shared_options options = {0};
 *     options.pool.slot_bytes = sizeof(struct message);
 *     options.pool.grows = true;
 *     options.threads.mode = AB_SHARDS_LOCAL;
 *     struct ab_pool_shared *messages = ab_pool_shared_open(&options);
 *     …
 *     struct ab_pool_shared *own = ab_pool_shared_own(messages);     (in each thread)
 *     struct message *m = ab_pool_shared_alloc(own, sizeof *m);      (its own)
 *     ab_pool_shared_free(own, m);                                   (its own, or another's)
 *
 * Each call takes the thread's own heap, or the group itself, which any thread may use: with a lock
 * then. Not for blocks larger than a slot: they fail. A free is believed, as that of pool.h,
 * but in the checked build.
 */
#ifndef AB_ALLOCATORS_POOL_SHARED_H
#define AB_ALLOCATORS_POOL_SHARED_H

#include "../common/shard.h"
#include "pool.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ab_pool_shared { /* one heap of the group; the first one is the group */
    struct ab_shard shard;
    struct ab_pool pool;
    struct ab_pool_options options; /* of the first: of all */
};

struct ab_pool_shared_options {
    /* Of each pool. range is NULL; range_bytes: addresses of each of several (0 =
     * AB_SHARDS_SPAN_BYTES). */
    struct ab_pool_options pool;
    struct ab_shards_options threads;
};

struct
    ab_pool_shared_sums { /* as ab_pool_mapped, ab_pool_used and ab_pool_live, which counts slots */
    uint32_t n_heaps;     /* that were ever used */
    size_t mapped, used, live;
    uint64_t n_os_calls;
};

/* open, close, own, enter, leave, reset, purge, sum, before_fork and after_fork: ../common/shard.h.
 * open fails with EINVAL for an alignment that is no power of two, too. */
AB_SHARDS_API(ab_pool_shared);

/* After the inline fast paths; align 0 = that of the slots. */
void *ab_pool_shared_alloc_slow(struct ab_pool_shared *own, size_t align, size_t size, bool zeroed);
void ab_pool_shared_free_slow(struct ab_pool_shared *own, void *block);

/* NULL when size is larger than a slot, or the pool is exhausted. */
AB_CHECKED_INLINE static inline void *ab_pool_shared_alloc(struct ab_pool_shared *own, size_t size)
{
    if (AB_CHECKS || __builtin_expect(size - 1 >= own->shard.fast_max, 0))
        return ab_pool_shared_alloc_slow(own, 0, size, false);
    return ab_pool_take(&own->pool, size);
}

AB_CHECKED_INLINE static inline void *ab_pool_shared_alloc_zeroed(struct ab_pool_shared *own,
                                                                  size_t size)
{
    return ab_pool_shared_alloc_slow(own, 0, size, true);
}

/* As ab_pool_shared_alloc; also NULL when slots are not that much aligned. */
AB_CHECKED_INLINE static inline void *ab_pool_shared_alloc_aligned(struct ab_pool_shared *own,
                                                                   size_t align, size_t size)
{
    return ab_pool_shared_alloc_slow(own, align, size, false);
}

/* A block of any thread; NULL does nothing. */
AB_CHECKED_INLINE static inline void ab_pool_shared_free(struct ab_pool_shared *own, void *block)
{
    if (AB_CHECKS ||
        __builtin_expect((uintptr_t)block - own->shard.own_base >= own->shard.own_bytes, 0))
        ab_pool_shared_free_slow(own, block);
    else
        ab_pool_free(&own->pool, block);
}

/* size is what the block was asked for with: the checked build looks whether it is. */
#ifdef AB_WITH_CHECKS
void ab_pool_shared_free_sized(struct ab_pool_shared *own, void *block, size_t size);
#else
static inline void ab_pool_shared_free_sized(struct ab_pool_shared *own, void *block, size_t size)
{
    (void)size;
    ab_pool_shared_free(own, block);
}
#endif

static inline size_t ab_pool_shared_usable(const struct ab_pool_shared *own, const void *block)
{
    return ab_pool_usable(&own->pool, block);
}

/* A pointer that a slot of this group has or had, in whichever heap. Where all heaps have a lock
 * other calls may be in progress. */
bool ab_pool_shared_owns(struct ab_pool_shared *own, const void *p);

/* ---- with the interface of ab_allocator.h, from any thread ---- */

/* NULL for what is larger than a slot, and for everything when the slots are aligned to less than
 * two pointers. */
AB_ALLOCATOR_DEFINE(ab_pool_shared, struct ab_pool_shared,
                    heap->pool.align < AB_ALLOCATOR_ALIGN
                        ? NULL
                        : ab_pool_shared_alloc(ab_pool_shared_own(heap), size),
                    ab_pool_shared_free_sized(ab_pool_shared_own(heap), ptr, size),
                    !AB_CHECKS && new_size <= ab_pool_shared_usable(heap, ptr) ? ptr : NULL)

#ifdef __cplusplus
}
#endif

#endif
