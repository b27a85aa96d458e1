/* SPDX-License-Identifier: MIT
 *
 * Arenas for any number of threads: one with a lock, or one for each thread, whose fast path is that
 * of arena.h without a lock. Blocks live until the group is reset or closed, also when the thread
 * that asked for them has ended; the next new thread goes on in its arena. Who may do what, and what
 * happens at the end of a thread and at fork: ../common/shard.h, for all modes. Usable on its own:
 * this folder and ../common. Memory for the moment is arena_scratch.h.
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
 * Each call takes the thread's own arena, or the group itself, which any thread may use: with a lock
 * then.
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

/* NULL and errno on failure: EINVAL (too many arenas), ENOMEM. */
AB_MUST_USE struct ab_arena_shared *ab_arena_shared_open(
    const struct ab_arena_shared_options *options);
/* Gives everything back to the system. No thread is at its end just then; those that live on may
 * end later. NULL is fine. */
void ab_arena_shared_close(struct ab_arena_shared *group);

/* The arena of this thread, which leaves it at its end. Never NULL. To be kept in a variable of the
 * thread: each call asks the C library (some ns). */
struct ab_arena_shared *ab_arena_shared_own(struct ab_arena_shared *group);
/* The same for threads with numbers from 0, which leave by themselves: no key of the C library, the
 * same arena for the same number. NULL and errno: EINVAL (local, and n is not more), EBUSY (a thread
 * that said `own` has it), EOWNERDEAD (after a fork: one that is not there), ENOMEM. */
AB_MUST_USE struct ab_arena_shared *ab_arena_shared_enter(struct ab_arena_shared *group,
                                                          uint32_t number);
void ab_arena_shared_leave(struct ab_arena_shared *own);

void *ab_arena_shared_alloc_locked(struct ab_arena_shared *own, size_t size);

/* As ab_arena_alloc. */
static inline void *ab_arena_shared_alloc(struct ab_arena_shared *own, size_t size)
{
    if (__builtin_expect(!own->shard.is_plain, 0))
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

/* ---- about the whole group: no other call is in progress; of one's own arena: that one ---- */

/* All blocks die; pages stay as the options say. */
void ab_arena_shared_reset(struct ab_arena_shared *group);
void ab_arena_shared_purge(struct ab_arena_shared *group);

struct ab_arena_shared_sums {
    uint32_t n_arenas; /* that were ever used */
    size_t reserved, committed, used;
    uint64_t n_os_calls;
};
struct ab_arena_shared_sums ab_arena_shared_sum(struct ab_arena_shared *group);

/* Around fork, see ../common/shard.h; for pthread_atfork too. */
void ab_arena_shared_before_fork(struct ab_arena_shared *group);
void ab_arena_shared_after_fork(struct ab_arena_shared *group, bool is_child);

/* ---- with the interface of ab_allocator.h, from any thread; a block dies with the others only ---- */

static inline void *ab_arena_shared_client_alloc(size_t size, void *context)
{
    struct ab_arena_shared *group = (struct ab_arena_shared *)context;
    return size == 0 ? NULL : ab_arena_shared_alloc(ab_arena_shared_own(group), size);
}

static inline void ab_arena_shared_client_free(size_t size, void *ptr, void *context)
{
    (void)size;
    (void)ptr;
    (void)context;
}

static inline void *ab_arena_shared_client_resize(size_t old_size, size_t new_size, void *ptr,
                                                  void *context)
{
    struct ab_arena_shared *own = ab_arena_shared_own((struct ab_arena_shared *)context);
    return ab_arena_shared_resize(own, ptr, old_size, new_size);
}

static inline struct ab_allocator ab_arena_shared_allocator(struct ab_arena_shared *group)
{
    struct ab_allocator allocator = {ab_arena_shared_client_alloc, ab_arena_shared_client_free,
                                     group, ab_arena_shared_client_resize};
    return allocator;
}

#ifdef __cplusplus
}
#endif

#endif
