/* SPDX-License-Identifier: MIT
 *
 * The paged pool of paged_pool.h for any number of threads: a lock around every call. Any thread
 * may free and resize any block. No block belongs to a thread, so that the end of a thread changes
 * nothing. init, fini and reset may be called only while no other thread calls.
 *
 * A fork while another thread is in a call leaves the pool locked in the child. Hold `lock.mutex`
 * around the fork, or only call exec in the child.
 *
 * The context of its struct ab_allocator is the pool, and blocks are counted under tag 0.
 */
#ifndef AB_ALLOCATORS_PAGED_LOCKED_H
#define AB_ALLOCATORS_PAGED_LOCKED_H

#include "../ab_allocator.h"
#include "../common/lock.h"
#include "paged_pool.h"

struct ab_paged_locked { /* must not be moved */
    struct ab_paged_pool pool;
    struct ab_lock lock;
};

/* Opens the pool like ab_paged_pool_init. */
static inline AB_MUST_USE int ab_paged_locked_init(struct ab_paged_locked *own, const char *name,
                                                   size_t bytes)
{
    int error = ab_paged_pool_init(&own->pool, name, bytes);
    if (error == 0)
        ab_lock_init(&own->lock, true);
    return error;
}

static inline void ab_paged_locked_fini(struct ab_paged_locked *own)
{
    ab_paged_pool_fini(&own->pool);
}

/* Defines a function that calls the pool's function with the lock held. */
#define AB_PAGED_LOCKED(result, name, parameters, arguments) \
    AB_CHECKED_INLINE static inline result ab_paged_locked_##name parameters \
    { \
        if (AB_CHECKS && own == NULL) \
            return ab_paged_pool_##name arguments; /* reports the NULL and ends the process */ \
        AB_LOCK_GUARD(&own->lock); \
        return ab_paged_pool_##name arguments; \
    }

AB_PAGED_LOCKED(void *, alloc, (struct ab_paged_locked * own, size_t size, unsigned tag),
                (&own->pool, size, tag))
AB_PAGED_LOCKED(void *, alloc_zeroed, (struct ab_paged_locked * own, size_t size, unsigned tag),
                (&own->pool, size, tag))
AB_PAGED_LOCKED(void *, alloc_aligned,
                (struct ab_paged_locked * own, size_t align, size_t size, unsigned tag),
                (&own->pool, align, size, tag))
AB_PAGED_LOCKED(void *, resize, (struct ab_paged_locked * own, void *block, size_t new_size),
                (&own->pool, block, new_size))
AB_PAGED_LOCKED(bool, free, (struct ab_paged_locked * own, void *block), (&own->pool, block))

/* Returns the usable bytes of a block. Needs no lock, because only a resize of the block itself
 * changes its length. */
static inline size_t ab_paged_locked_usable(const void *block)
{
    return ab_paged_pool_usable(block);
}

static inline void ab_paged_locked_reset(struct ab_paged_locked *own)
{
    AB_LOCK_GUARD(&own->lock);
    ab_paged_pool_reset(&own->pool);
}

static inline void ab_paged_locked_purge(struct ab_paged_locked *own)
{
    AB_LOCK_GUARD(&own->lock);
    ab_paged_pool_purge(&own->pool);
}

/* ---- with the interface of ab_allocator.h ---- */

static inline void ab_paged_locked_free_sized(struct ab_paged_locked *own, void *block, size_t size)
{
    AB_LOCK_GUARD(&own->lock);
    ab_paged_pool_free_sized(&own->pool, block, size);
}

AB_ALLOCATOR_DEFINE(ab_paged_locked, struct ab_paged_locked, ab_paged_locked_alloc(heap, size, 0),
                    ab_paged_locked_free_sized(heap, ptr, size),
                    ab_paged_locked_resize(heap, ptr, new_size))

#endif
