/* SPDX-License-Identifier: MIT
 *
 * The slab allocator for any number of threads. Depending on the mode it has one heap with a lock,
 * several heaps with a lock each, or one heap per thread. A heap per thread has the fast paths of
 * slab.h, without a lock or an atomic operation. ../common/shard.h describes the modes: who may
 * free where, and what happens at the end of a thread and at fork. Example:
 * allocators/examples/worker_threads.c. Can be used on its own: this folder and ../common.
 *
 *     struct ab_slab_shared_options options = {0};
 *     options.threads.mode = AB_SHARDS_LOCAL;
 *     struct ab_slab_shared *memory = ab_slab_shared_open(&options);
 *     …
 *     struct ab_slab_shared *own = ab_slab_shared_own(memory);       (in each thread)
 *     char *text = ab_slab_shared_alloc(own, 100);                   (from its own heap)
 *     ab_slab_shared_free(own, text);                                (a block of any thread)
 *
 * The first argument of each call is the thread's own heap, or the group itself. Any thread may
 * use the group, which then takes a lock. Frees are not checked, except in the checked build
 * (slab.h).
 */
#ifndef AB_ALLOCATORS_SLAB_SHARED_H
#define AB_ALLOCATORS_SLAB_SHARED_H

#include "../common/shard.h"
#include "slab.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ab_slab_shared { /* one heap of the group; the first heap stands for the group */
    struct ab_shard shard;
    struct ab_slabs slabs;
    struct ab_slabs_options options; /* in the first heap: the options of all */
};

struct ab_slab_shared_options {
    /* keep_max and spare_max_bytes are limits for the whole group, divided equally among the heaps
     * that are open. reserve_bytes is per heap (0 = AB_SHARDS_SPAN_BYTES). range must be NULL. */
    struct ab_slabs_options slabs;
    struct ab_shards_options threads;
};

struct ab_slab_shared_sums { /* sums over all heaps; sizes in bytes */
    uint32_t n_heaps;        /* number of heaps that were ever used */
    /* committed: the part of reserved that may have pages */
    size_t reserved, committed, live, metadata;
    uint64_t n_os_calls;
};

/* The functions open, close, own, enter, leave, reset, purge, sum, before_fork and after_fork are
 * described in ../common/shard.h. */
AB_SHARDS_API(ab_slab_shared);

/* Slow paths of the inline functions below. align 0 means the natural alignment. */
void *ab_slab_shared_alloc_slow(struct ab_slab_shared *own, size_t align, size_t size, bool zeroed);
void ab_slab_shared_free_slow(struct ab_slab_shared *own, void *block);

/* Allocates a block; size 0 gives a block of its own. Returns NULL when memory is exhausted. */
AB_CHECKED_INLINE static inline void *ab_slab_shared_alloc(struct ab_slab_shared *own, size_t size)
{
    if (AB_CHECKS || __builtin_expect(size - 1 >= own->shard.fast_max, 0))
        return ab_slab_shared_alloc_slow(own, 0, size, false);
    if (size > AB_SLAB_LARGEST)
        /* fast_max is never above AB_SLAB_LARGEST; this lets the compiler simplify constant
         * sizes */
        __builtin_unreachable();
    return ab_slabs_alloc_from(&own->slabs, ab_slab_class_of(&own->slabs, size), size);
}

AB_CHECKED_INLINE static inline void *ab_slab_shared_alloc_zeroed(struct ab_slab_shared *own,
                                                                  size_t size)
{
    return ab_slab_shared_alloc_slow(own, 0, size, true);
}

/* Allocates a block aligned to `align`. Returns NULL if that is not a power of two, or if memory is
 * exhausted. */
AB_CHECKED_INLINE static inline void *ab_slab_shared_alloc_aligned(struct ab_slab_shared *own,
                                                                   size_t align, size_t size)
{
    return align == 0 ? NULL : ab_slab_shared_alloc_slow(own, align, size, false);
}

/* Frees a block that any thread allocated. NULL does nothing. */
AB_CHECKED_INLINE static inline void ab_slab_shared_free(struct ab_slab_shared *own, void *block)
{
    if (AB_CHECKS ||
        __builtin_expect((uintptr_t)block - own->shard.own_base >= own->shard.own_bytes, 0))
        ab_slab_shared_free_slow(own, block);
    else
        ab_slabs_free_small(&own->slabs, (struct ab_slab_block *)block);
}

/* Frees a block. `size` must be the size that it was requested with; the checked build verifies
 * it. */
#ifdef AB_WITH_CHECKS
void ab_slab_shared_free_sized(struct ab_slab_shared *own, void *block, size_t size);
#else
static inline void ab_slab_shared_free_sized(struct ab_slab_shared *own, void *block, size_t size)
{
    (void)size;
    ab_slab_shared_free(own, block);
}
#endif

/* Resizes like ab_slabs_resize. A block of another thread's heap moves into this one, unless its
 * new size fits in place. */
void *ab_slab_shared_resize(struct ab_slab_shared *own, void *block, size_t old_size,
                            size_t new_size);
size_t ab_slab_shared_usable(const struct ab_slab_shared *own, const void *block);

/* True if `p` is where a block of any heap of this group may start, live or not. If all heaps have
 * a lock, other calls may be in progress. Slow with many large blocks. */
bool ab_slab_shared_owns(struct ab_slab_shared *own, const void *p);

/* ---- with the interface of ab_allocator.h, from any thread ---- */

/* Small requests are rounded up, because blocks of the smallest class are aligned to 8 bytes
 * only. */
AB_ALLOCATOR_DEFINE(ab_slab_shared, struct ab_slab_shared,
                    ab_slab_shared_alloc(ab_slab_shared_own(heap), ab_allocator_least(size)),
                    ab_slab_shared_free_sized(ab_slab_shared_own(heap), ptr,
                                              ab_allocator_least(size)),
                    ab_slab_shared_resize(ab_slab_shared_own(heap), ptr, ab_allocator_least(size),
                                          ab_allocator_least(new_size)))

#ifdef __cplusplus
}
#endif

#endif
