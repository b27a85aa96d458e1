/* SPDX-License-Identifier: MIT
 *
 * The pool for any number of threads. Depending on the mode it has one pool with a lock, several
 * pools with a lock each, or one pool per thread. A pool per thread has the fast paths of pool.h,
 * without a lock or an atomic operation. ../common/shard.h describes the modes: who may free where,
 * and what happens at the end of a thread and at fork. Example:
 * allocators/examples/worker_threads.c. Can be used on its own: this folder and ../common.
 *
 *     struct ab_pool_shared_options options = {0};
 *     options.pool.slot_bytes = sizeof(struct message);
 *     options.pool.grows = true;
 *     options.threads.mode = AB_SHARDS_LOCAL;
 *     struct ab_pool_shared *messages = ab_pool_shared_open(&options);
 *     …
 *     struct ab_pool_shared *own = ab_pool_shared_own(messages);     (in each thread)
 *     struct message *m = ab_pool_shared_alloc(own, sizeof *m);      (from its own pool)
 *     ab_pool_shared_free(own, m);                                   (a block of any thread)
 *
 * The first argument of each call is the thread's own heap, or the group itself. Any thread may
 * use the group, which then takes a lock. Requests larger than a slot fail. Frees are not checked,
 * except in the checked build (pool.h).
 */
#ifndef AB_ALLOCATORS_POOL_SHARED_H
#define AB_ALLOCATORS_POOL_SHARED_H

#include "../common/shard.h"
#include "pool.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ab_pool_shared { /* one heap of the group; the first heap stands for the group */
    struct ab_shard shard;
    struct ab_pool pool;
    struct ab_pool_options options; /* in the first heap: the options of all */
};

struct ab_pool_shared_options {
    /* Options of each pool. range must be NULL. range_bytes: bytes of addresses per pool, if there
     * are several (0 = AB_SHARDS_SPAN_BYTES). */
    struct ab_pool_options pool;
    struct ab_shards_options threads;
};

struct ab_pool_shared_sums { /* sums of ab_pool_mapped, ab_pool_used and ab_pool_live (slots) */
    uint32_t n_heaps;        /* number of heaps that were ever used */
    size_t mapped, used, live;
    uint64_t n_os_calls;
};

/* The functions open, close, own, enter, leave, reset, purge, sum, before_fork and after_fork are
 * described in ../common/shard.h. open also fails with EINVAL if the alignment is not a power of
 * two. */
AB_SHARDS_API(ab_pool_shared);

/* Slow paths of the inline functions below. align 0 means the alignment of the slots. */
void *ab_pool_shared_alloc_slow(struct ab_pool_shared *own, size_t align, size_t size, bool zeroed);
void ab_pool_shared_free_slow(struct ab_pool_shared *own, void *block);

/* Allocates a slot. Returns NULL when size is larger than a slot, or when the pool is exhausted. */
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

/* Allocates like ab_pool_shared_alloc. Also returns NULL if the slots are aligned to less than
 * `align`. */
AB_CHECKED_INLINE static inline void *ab_pool_shared_alloc_aligned(struct ab_pool_shared *own,
                                                                   size_t align, size_t size)
{
    return ab_pool_shared_alloc_slow(own, align, size, false);
}

/* Frees a block that any thread allocated. NULL does nothing. */
AB_CHECKED_INLINE static inline void ab_pool_shared_free(struct ab_pool_shared *own, void *block)
{
    if (AB_CHECKS ||
        __builtin_expect((uintptr_t)block - own->shard.own_base >= own->shard.own_bytes, 0))
        ab_pool_shared_free_slow(own, block);
    else
        ab_pool_free(&own->pool, block);
}

/* Frees a block. `size` must be the size that it was requested with; the checked build verifies
 * it. */
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

/* True if `p` is the address of a slot of any heap of this group that was handed out, live or not.
 * If all heaps have a lock, other calls may be in progress. */
bool ab_pool_shared_owns(struct ab_pool_shared *own, const void *p);

/* ---- with the interface of ab_allocator.h, from any thread ---- */

/* Returns NULL for requests larger than a slot. Returns NULL for every request if the slots are
 * aligned to less than two pointers. */
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
