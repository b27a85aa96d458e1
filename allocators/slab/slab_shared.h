/* SPDX-License-Identifier: MIT
 *
 * Slabs for any number of threads: one heap with a lock, several with a lock each, or one for each
 * thread, whose fast paths are those of slab.h without a lock or an atomic operation. Who may free
 * where, and what happens at the end of a thread and at fork: ../common/shard.h, for all modes.
 * Example: allocators/examples/worker_threads.c. Usable on its own: this folder and ../common.
 *
 *     struct ab_slab_shared_options options = {0};
 *     options.threads.mode = AB_SHARDS_LOCAL;
 *     struct ab_slab_shared *memory = ab_slab_shared_open(&options);
 *     …
 *     struct ab_slab_shared *own = ab_slab_shared_own(memory);       (in each thread)
 *     char *text = ab_slab_shared_alloc(own, 100);                   (its own)
 *     ab_slab_shared_free(own, text);                                (its own, or another's)
 *
 * Each call takes the thread's own heap, or the group itself, which any thread may use: with a lock
 * then. A free is believed, as that of slab.h, but in the checked build.
 */
#ifndef AB_ALLOCATORS_SLAB_SHARED_H
#define AB_ALLOCATORS_SLAB_SHARED_H

#include "../common/shard.h"
#include "slab.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ab_slab_shared { /* one heap of the group; the first one is the group */
    struct ab_shard shard;
    struct ab_slabs slabs;
    struct ab_slabs_options options; /* of the first: of all */
};

struct ab_slab_shared_options {
    /* keep_max and spare_max_bytes are of all together, the same part for each heap that is open at
     * the time; reserve_bytes of each (0 = AB_SHARDS_SPAN_BYTES); range is NULL. */
    struct ab_slabs_options slabs;
    struct ab_shards_options threads;
};

struct ab_slab_shared_sums {                    /* bytes */
    uint32_t n_heaps;                           /* that were ever used */
    size_t reserved, committed, live, metadata; /* committed: what may have pages */
    uint64_t n_os_calls;
};

/* open, close, own, enter, leave, reset, purge, sum, before_fork and after_fork:
 * ../common/shard.h. */
AB_SHARDS_API(ab_slab_shared);

/* After the inline fast paths; align 0 = the natural one. */
void *ab_slab_shared_alloc_slow(struct ab_slab_shared *own, size_t align, size_t size, bool zeroed);
void ab_slab_shared_free_slow(struct ab_slab_shared *own, void *block);

/* Size 0 gives a block of its own. NULL when exhausted. */
AB_CHECKED_INLINE static inline void *ab_slab_shared_alloc(struct ab_slab_shared *own, size_t size)
{
    if (AB_CHECKS || __builtin_expect(size - 1 >= own->shard.fast_max, 0))
        return ab_slab_shared_alloc_slow(own, 0, size, false);
    if (size > AB_SLAB_LARGEST)
        __builtin_unreachable(); /* fast_max is no more: said for sizes that are constants */
    return ab_slabs_alloc_from(&own->slabs, ab_slab_class_of(&own->slabs, size), size);
}

AB_CHECKED_INLINE static inline void *ab_slab_shared_alloc_zeroed(struct ab_slab_shared *own,
                                                                  size_t size)
{
    return ab_slab_shared_alloc_slow(own, 0, size, true);
}

/* align must be a power of two. NULL else, or when exhausted. */
AB_CHECKED_INLINE static inline void *ab_slab_shared_alloc_aligned(struct ab_slab_shared *own,
                                                                   size_t align, size_t size)
{
    return align == 0 ? NULL : ab_slab_shared_alloc_slow(own, align, size, false);
}

/* A block of any thread; NULL does nothing. */
AB_CHECKED_INLINE static inline void ab_slab_shared_free(struct ab_slab_shared *own, void *block)
{
    if (AB_CHECKS ||
        __builtin_expect((uintptr_t)block - own->shard.own_base >= own->shard.own_bytes, 0))
        ab_slab_shared_free_slow(own, block);
    else
        ab_slabs_free_small(&own->slabs, (struct ab_slab_block *)block);
}

/* size is what the block was asked for with: the checked build looks whether it is. */
#ifdef AB_WITH_CHECKS
void ab_slab_shared_free_sized(struct ab_slab_shared *own, void *block, size_t size);
#else
static inline void ab_slab_shared_free_sized(struct ab_slab_shared *own, void *block, size_t size)
{
    (void)size;
    ab_slab_shared_free(own, block);
}
#endif

/* As ab_slabs_resize. A block of another thread's heap moves into this one, unless it fits as it
 * is. */
void *ab_slab_shared_resize(struct ab_slab_shared *own, void *block, size_t old_size,
                            size_t new_size);
size_t ab_slab_shared_usable(const struct ab_slab_shared *own, const void *block);

/* A pointer that a block of this group may have, live or not, in whichever heap. Where all heaps
 * have a lock other calls may be in progress. Slow with many large blocks. */
bool ab_slab_shared_owns(struct ab_slab_shared *own, const void *p);

/* ---- with the interface of ab_allocator.h, from any thread ---- */

/* The smallest class is aligned to its 8 bytes only. */
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
