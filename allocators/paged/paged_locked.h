/* SPDX-License-Identifier: MIT
 *
 * A paged pool for any number of threads: the one of paged_pool.h with a lock around every call.
 * Any thread may free and resize any block; nothing is anybody's, so the end of a thread changes
 * nothing. A fork while another thread is in a call leaves the pool locked in the child: hold
 * `lock.mutex` around it, or call only exec there. init, fini and reset are for when no other
 * thread calls.
 *
 * The allocator's context is the pool; blocks are counted under tag 0.
 */
#ifndef AB_ALLOCATORS_PAGED_LOCKED_H
#define AB_ALLOCATORS_PAGED_LOCKED_H

#include "../ab_allocator.h"
#include "../common/lock.h"
#include "paged_pool.h"

struct ab_paged_locked { /* not to be moved */
    struct ab_paged_pool pool;
    struct ab_lock lock;
};

/* As ab_paged_pool_init. */
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

/* Each is the function of the pool with the lock held. */
#define AB_PAGED_LOCKED(result, name, parameters, arguments) \
    AB_CHECKED_INLINE static inline result ab_paged_locked_##name parameters \
    { \
        if (AB_CHECKS && own == NULL) \
            return ab_paged_pool_##name arguments; /* says so, and ends */ \
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

/* No lock: the length of a live block changes by its own resize only. */
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
