/* SPDX-License-Identifier: MIT
 *
 * Arenas for any number of threads: one arena with a lock, or one for each thread. An arena per
 * thread has the fast path of arena.h, without a lock. Blocks live until the group is reset or
 * closed, even if the thread that allocated them has ended; the next new thread continues in its
 * arena. ../common/shard.h describes the modes: who may do what, and what happens at the end of a
 * thread and at fork. Can be used on its own: this folder and ../common. For temporary memory see
 * arena_scratch.h.
 *
 *     struct ab_arena_shared_options options = {0};
 *     options.arena.reserve_bytes = (size_t)1 << 32;
 *     options.threads.mode = AB_SHARDS_LOCAL;
 *     struct ab_arena_shared *request = ab_arena_shared_open(&options);
 *     …
 *     struct ab_arena_shared *own = ab_arena_shared_own(request);    (in each thread)
 *     char *text = ab_arena_shared_alloc(own, 100);
 *     …
 *     ab_arena_shared_reset(request);                                (when all are done with it)
 *
 * The first argument of each call is the thread's own arena, or the group itself. Any thread may
 * use the group, which then takes a lock.
 */
#ifndef AB_ALLOCATORS_ARENA_SHARED_H
#define AB_ALLOCATORS_ARENA_SHARED_H

#include "../ab_allocator.h"
#include "../common/shard.h"
#include "arena.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ab_arena_shared { /* one arena of the group; the first arena stands for the group */
    struct ab_shard shard;
    AB_ALIGNAS(64) struct ab_arena arena;
    struct ab_arena_options options; /* in the first arena: the options of all */
};

struct ab_arena_shared_options {
    struct ab_arena_options arena; /* options of each arena */
    struct ab_shards_options threads;
};

struct ab_arena_shared_sums {
    uint32_t n_arenas; /* number of arenas that were ever used */
    size_t reserved, committed, used;
    uint64_t n_os_calls;
};

/* The functions open, close, own, enter, leave, reset, purge, sum, before_fork and after_fork are
 * described in ../common/shard.h. A reset ends the life of all blocks; pages stay as the options
 * say. */
AB_SHARDS_API(ab_arena_shared);

void *ab_arena_shared_alloc_locked(struct ab_arena_shared *own, size_t size);

/* Allocates like ab_arena_alloc. */
AB_CHECKED_INLINE static inline void *ab_arena_shared_alloc(struct ab_arena_shared *own,
                                                            size_t size)
{
    if (__builtin_expect(AB_CHECKS || !own->shard.is_plain, 0))
        return ab_arena_shared_alloc_locked(own, size);
    return ab_arena_alloc(&own->arena, size);
}

/* Work like the functions of arena.h. resize copies a growing block if it is in the arena of
 * another thread. */
void *ab_arena_shared_alloc_aligned(struct ab_arena_shared *own, size_t align, size_t size);
void *ab_arena_shared_alloc_zeroed(struct ab_arena_shared *own, size_t size);
void *ab_arena_shared_resize(struct ab_arena_shared *own, void *block, size_t old_size,
                             size_t new_size);

/* Save and restore one arena. A restore of a thread's own arena ends the life of the blocks that
 * this thread allocated after the save. A restore of an arena with a lock ends the life of the
 * blocks that any thread allocated after it. */
struct ab_arena_mark ab_arena_shared_save(struct ab_arena_shared *own);
void ab_arena_shared_restore(struct ab_arena_shared *own, struct ab_arena_mark mark);

/* ---- with the interface of ab_allocator.h: any thread; a block dies with the others ---- */

AB_ALLOCATOR_DEFINE(ab_arena_shared, struct ab_arena_shared,
                    ab_arena_shared_alloc(ab_arena_shared_own(heap), size), (void)0,
                    ab_arena_shared_resize(ab_arena_shared_own(heap), ptr, size, new_size))

#ifdef __cplusplus
}
#endif

#endif
