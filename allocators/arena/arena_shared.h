/* SPDX-License-Identifier: MIT
 *
 * Arenas for any number of threads: one with a lock, or one for each thread, whose fast path is
 * that of arena.h without a lock. Blocks live until the group is reset or closed, also when the
 * thread that asked for them has ended; the next new thread goes on in its arena. Who may do what,
 * and what happens at the end of a thread and at fork: ../common/shard.h, for all modes. Usable on
 * its own: this folder and ../common. Memory for the moment is arena_scratch.h.
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
 * Each call takes the thread's own arena, or the group itself, which any thread may use: with a
 * lock then.
 */
#ifndef AB_ALLOCATORS_ARENA_SHARED_H
#define AB_ALLOCATORS_ARENA_SHARED_H

#include "../ab_allocator.h"
#include "../common/shard.h"
#include "arena.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ab_arena_shared { /* one arena of the group; the first one is the group */
    struct ab_shard shard;
    AB_ALIGNAS(64) struct ab_arena arena;
    struct ab_arena_options options; /* of the first: of all */
};

struct ab_arena_shared_options {
    struct ab_arena_options arena; /* of each */
    struct ab_shards_options threads;
};

struct ab_arena_shared_sums {
    uint32_t n_arenas; /* that were ever used */
    size_t reserved, committed, used;
    uint64_t n_os_calls;
};

/* open, close, own, enter, leave, reset, purge, sum, before_fork and after_fork: ../common/shard.h.
 * At a reset all blocks die; pages stay as the options say. */
AB_SHARDS_API(ab_arena_shared);

void *ab_arena_shared_alloc_locked(struct ab_arena_shared *own, size_t size);

/* As ab_arena_alloc. */
AB_CHECKED_INLINE static inline void *ab_arena_shared_alloc(struct ab_arena_shared *own,
                                                            size_t size)
{
    if (__builtin_expect(AB_CHECKS || !own->shard.is_plain, 0))
        return ab_arena_shared_alloc_locked(own, size);
    return ab_arena_alloc(&own->arena, size);
}

/* As those of arena.h. resize: a block of another thread's arena is copied when
 * it grows. */
void *ab_arena_shared_alloc_aligned(struct ab_arena_shared *own, size_t align, size_t size);
void *ab_arena_shared_alloc_zeroed(struct ab_arena_shared *own, size_t size);
void *ab_arena_shared_resize(struct ab_arena_shared *own, void *block, size_t old_size,
                             size_t new_size);

/* Of one arena: a save point of a thread's own arena kills what that thread allocated since; one of
 * an arena with a lock what all did. */
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
