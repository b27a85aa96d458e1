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

#include "../ab_allocator.h"
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
    /* keep_max and spare_max_bytes are of all together; reserve_bytes of each (0 =
     * AB_SHARDS_SPAN_BYTES); range is NULL. */
    struct ab_slabs_options slabs;
    struct ab_shards_options threads;
};

/* NULL and errno on failure: EINVAL (too many heaps), ENOMEM. */
AB_MUST_USE struct ab_slab_shared *ab_slab_shared_open(
    const struct ab_slab_shared_options *options);
/* Gives everything back to the system. No thread is at its end just then; those that live on may
 * end later. NULL is fine. */
void ab_slab_shared_close(struct ab_slab_shared *group);

/* The heap of this thread, which leaves it at its end. Never NULL. To be kept in a variable of the
 * thread: each call asks the C library (some ns). */
struct ab_slab_shared *ab_slab_shared_own(struct ab_slab_shared *group);
/* The same for threads with numbers from 0, which leave by themselves: no key of the C library, the
 * same heap for the same number. NULL and errno: EINVAL (local, and n is not more), EBUSY (a thread
 * that said `own` has it), EOWNERDEAD (after a fork: one that is not there), ENOMEM. */
AB_MUST_USE struct ab_slab_shared *ab_slab_shared_enter(struct ab_slab_shared *group,
                                                        uint32_t number);
void ab_slab_shared_leave(struct ab_slab_shared *own);

/* After the inline fast paths; align 0 = the natural one. */
void *ab_slab_shared_alloc_slow(struct ab_slab_shared *own, size_t align, size_t size, bool zeroed);
void ab_slab_shared_free_slow(struct ab_slab_shared *own, void *block);

/* Size 0 gives a block of its own. NULL when exhausted. */
static inline void *ab_slab_shared_alloc(struct ab_slab_shared *own, size_t size)
{
    if (__builtin_expect(size - 1 >= own->shard.fast_max, 0))
        return ab_slab_shared_alloc_slow(own, 0, size, false);
    if (size > AB_SLAB_LARGEST)
        __builtin_unreachable(); /* fast_max is no more: said for sizes that are constants */
    return ab_slabs_alloc_from(&own->slabs, ab_slab_class_of(&own->slabs, size), size);
}

static inline void *ab_slab_shared_alloc_zeroed(struct ab_slab_shared *own, size_t size)
{
    return ab_slab_shared_alloc_slow(own, 0, size, true);
}

/* align must be a power of two. NULL else, or when exhausted. */
static inline void *ab_slab_shared_alloc_aligned(struct ab_slab_shared *own, size_t align,
                                                 size_t size)
{
    return align == 0 ? NULL : ab_slab_shared_alloc_slow(own, align, size, false);
}

/* A block of any thread; NULL does nothing. */
static inline void ab_slab_shared_free(struct ab_slab_shared *own, void *block)
{
    if (__builtin_expect((uintptr_t)block - own->shard.own_base >= own->shard.own_bytes, 0))
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

/* ---- about the whole group: no other call is in progress; of one's own heap: that one ---- */

/* All blocks die. */
void ab_slab_shared_reset(struct ab_slab_shared *group);
/* As ab_slabs_purge, after what is on its way has arrived. */
void ab_slab_shared_purge(struct ab_slab_shared *group);

struct ab_slab_shared_sums {
    uint32_t n_heaps; /* that were ever used */
    size_t reserved, committed, live, metadata;
    uint64_t n_os_calls;
};
/* Bytes; committed: what may have pages; live: as ab_slabs_live. */
struct ab_slab_shared_sums ab_slab_shared_sum(struct ab_slab_shared *group);

/* A pointer that a block of this group may have, live or not, in whichever heap. Where all heaps
 * have a lock other calls may be in progress. Slow with many large blocks. */
bool ab_slab_shared_owns(struct ab_slab_shared *own, const void *p);

/* Around fork, see ../common/shard.h; for pthread_atfork too. */
void ab_slab_shared_before_fork(struct ab_slab_shared *group);
void ab_slab_shared_after_fork(struct ab_slab_shared *group, bool is_child);

/* ---- with the interface of ab_allocator.h, from any thread ---- */

/* The smallest class is aligned to its 8 bytes only. */
static inline void *ab_slab_shared_client_alloc(size_t size, void *context)
{
    size_t bytes = size < AB_ALLOCATOR_ALIGN ? AB_ALLOCATOR_ALIGN : size;
    struct ab_slab_shared *group = (struct ab_slab_shared *)context;
    return size == 0 ? NULL : ab_slab_shared_alloc(ab_slab_shared_own(group), bytes);
}

static inline void ab_slab_shared_client_free(size_t size, void *ptr, void *context)
{
    size_t bytes = size < AB_ALLOCATOR_ALIGN ? AB_ALLOCATOR_ALIGN : size;
    ab_slab_shared_free_sized(ab_slab_shared_own((struct ab_slab_shared *)context), ptr, bytes);
}

static inline void *ab_slab_shared_client_resize(size_t old_size, size_t new_size, void *ptr,
                                                 void *context)
{
    size_t from = old_size < AB_ALLOCATOR_ALIGN ? AB_ALLOCATOR_ALIGN : old_size;
    size_t to = new_size < AB_ALLOCATOR_ALIGN ? AB_ALLOCATOR_ALIGN : new_size;
    return ab_slab_shared_resize(ab_slab_shared_own((struct ab_slab_shared *)context), ptr, from,
                                 to);
}

static inline struct ab_allocator ab_slab_shared_allocator(struct ab_slab_shared *group)
{
    struct ab_allocator allocator = {ab_slab_shared_client_alloc, ab_slab_shared_client_free, group,
                                     ab_slab_shared_client_resize};
    return allocator;
}

#ifdef __cplusplus
}
#endif

#endif
