/* SPDX-License-Identifier: MIT
 *
 * The heaps of a group, and who has which; shard.h says what programs see of it. Each heap of
 * several has its own span of addresses, so a block finds its owner by a shift; blocks elsewhere
 * (large ones) must know it. The allocator keeps an ab_shard as the first thing of its heap, and
 * its hot path asks fast_max on alloc and own_base on free, nothing else.
 */
#ifndef AB_ALLOCATORS_SHARDS_H
#define AB_ALLOCATORS_SHARDS_H

#include "shard.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ab_shards_calls {                 /* of the allocator */
    int (*open)(struct ab_shard *shard); /* a heap that was never used: 0, or an errno */
    /* Frees a block of the owner; its lock is held, if it has one. */
    void (*free_own)(struct ab_shard *owner, void *block);
    void (*drain)(struct ab_shard *owner); /* frees what other threads sent; NULL: nothing is */
    /* All that is the block's, live or dead; for the marks. */
    size_t (*bytes_of)(struct ab_shard *owner, const void *block);
    size_t heap_bytes; /* of the struct that begins with an ab_shard */
};

struct ab_shards {
    enum ab_shards_mode mode;
    uint32_t n_shards;
    size_t shard_bytes, map_bytes;
    char *heaps;
    char *range; /* NULL: none was asked for */
    unsigned span_log2;
    struct ab_shards_calls calls;
    pthread_mutex_t mutex; /* of which heaps there are and whose they are */
    uint32_t n_dealt;      /* threads that were given one of several with a lock */
    pthread_key_t key;     /* thread_shard.c: the heap of a thread */
    bool has_key;          /* atomic */
    void (*forget_key)(struct ab_shards *shards);
};

/* Heaps are zero but for their ab_shard; the first one is not open yet (ab_shards_ready).
 * span_bytes: addresses for each of several, rounded up to a power of two; 0: none. NULL and errno
 * on failure; EINVAL for more than AB_SHARDS_MAX. */
AB_COMMON_API struct ab_shards *ab_shards_open(const struct ab_shards_options *options,
                                               const struct ab_shards_calls *calls,
                                               size_t span_bytes);
AB_COMMON_API void ab_shards_close(struct ab_shards *shards);
/* Opens the heap if it was not; 0, or an errno. With the mutex, or before others know the group. */
AB_COMMON_API int ab_shards_ready(struct ab_shard *shard);

AB_COMMON_API struct ab_shard *ab_shards_at(const struct ab_shards *shards, uint32_t index);
/* Whom a call on `whole` is about: all that are open when it is the first, which stands for the
 * group, but for those whose thread is not in this process; else itself alone. The one after
 * `each`, NULL at the end; begin with `whole`. */
AB_COMMON_API struct ab_shard *ab_shards_next(const struct ab_shard *whole,
                                              const struct ab_shard *each);
AB_COMMON_API char *ab_shards_span(const struct ab_shards *shards, const struct ab_shard *shard);
/* By address; NULL when it is in no span. */
AB_COMMON_API struct ab_shard *ab_shards_owner(const struct ab_shards *shards, const void *block);

/* The heap of one of several threads with numbers: the same for the same number, one thread at a
 * time. NULL and errno; of local EINVAL: there are not so many; EBUSY: a thread adopted it;
 * EOWNERDEAD: its thread is not in this process. */
AB_COMMON_API struct ab_shard *ab_shards_enter(struct ab_shards *shards, uint32_t lane);
/* A heap that no thread has: the first one of the group when there is none, or no memory for one. */
AB_COMMON_API struct ab_shard *ab_shards_adopt(struct ab_shards *shards);
/* Sends what waits, and takes what came. The blocks of the heap live on, and the next to enter or to
 * adopt takes it over. */
AB_COMMON_API void ab_shards_leave(struct ab_shard *shard);

/* Around fork, by the thread that forks. */
AB_COMMON_API void ab_shards_before_fork(struct ab_shards *shards);
AB_COMMON_API void ab_shards_after_fork(struct ab_shards *shards, bool is_child);

#ifdef __cplusplus
}
#endif

#endif
