/* SPDX-License-Identifier: MIT
 *
 * The heaps of a group, and who has which; shard.h says what programs see of it. Each heap of
 * several has its own span of addresses, so a block finds its owner by a shift; blocks elsewhere
 * (large ones) must know it. The allocator keeps an ab_shard as the first thing of its heap, and
 * its hot path asks fast_max on alloc and own_base on free, nothing else.
 */
#ifndef AB_ALLOCATORS_SHARDS_H
#define AB_ALLOCATORS_SHARDS_H

#include "checked.h"
#include "shard.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ab_shards_calls {                 /* of the allocator, about one of its heaps */
    size_t heap_bytes;                   /* of the struct that begins with an ab_shard */
    int (*open)(struct ab_shard *shard); /* one that was never used: 0, or an errno */
    /* The caller holds its lock, if it has one, in all that follow. */
    void (*fini)(struct ab_shard *shard);
    void (*reset)(struct ab_shard *shard);
    void (*purge)(struct ab_shard *shard);
    void (*settle)(struct ab_shard *shard); /* just before the lock is let go; NULL: nothing */
    /* Where blocks are freed one by one, else NULL: frees a block of the heap; frees what other
     * threads sent; all that is the block's, live or dead, for the marks and the sums. */
    void (*free_own)(struct ab_shard *owner, void *block);
    void (*drain)(struct ab_shard *owner);
    size_t (*bytes_of)(struct ab_shard *owner, const void *block);
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
    uint32_t n_open;       /* heaps that are; atomic */
    uint32_t n_dealt;      /* threads that were given one of several with a lock */
    pthread_key_t key;     /* shards_thread.c: the heap of a thread */
    bool has_key;          /* atomic */
    void (*forget_key)(struct ab_shards *shards);
};

/* Heaps are zero but for their ab_shard; none is open yet. span_bytes: addresses for each of
 * several, rounded up to a power of two; 0: none. NULL and errno on failure; EINVAL for more than
 * AB_SHARDS_MAX. */
AB_COMMON_API struct ab_shards *ab_shards_open(const struct ab_shards_options *options,
                                               const struct ab_shards_calls *calls,
                                               size_t span_bytes);
/* Opens the first heap, which knows its options by now, and returns it: it is the group. NULL and
 * errno: there is nothing to close then. */
AB_COMMON_API struct ab_shard *ab_shards_begin(struct ab_shards *shards);
/* The same for any heap that was not open; 0, or an errno. With the mutex. */
AB_COMMON_API int ab_shards_ready(struct ab_shard *shard);
/* NULL is fine. */
AB_COMMON_API void ab_shards_close(struct ab_shard *first);

/* Of each heap of `whole`, with its lock. */
AB_COMMON_API void ab_shards_reset(struct ab_shard *whole);
AB_COMMON_API void ab_shards_purge(struct ab_shard *whole);

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
/* A heap that no thread has: the first one of the group when there is none, or no memory for
 * one. */
AB_COMMON_API struct ab_shard *ab_shards_adopt(struct ab_shards *shards);
/* Sends what waits, and takes what came. The blocks of the heap live on, and the next to enter or
 * to adopt takes it over. */
AB_COMMON_API void ab_shards_leave(struct ab_shard *shard);

/* Around fork, by the thread that forks. */
AB_COMMON_API void ab_shards_before_fork(struct ab_shards *shards);
AB_COMMON_API void ab_shards_after_fork(struct ab_shards *shards, bool is_child);

/* To the end of the block around it a call on this heap is in progress, which must be that of its
 * thread where it is one thread's own. */
#ifdef AB_WITH_CHECKS
AB_COMMON_API struct ab_block_call ab_shard_call_begin(struct ab_shard *shard, const char *name,
                                                       const void *place);
#define AB_CHECKED_OWN(own, name) \
    __attribute__((cleanup(ab_block_call_end), unused)) \
    const struct ab_block_call ab_call = ab_shard_call_begin((own) == NULL ? NULL : &(own)->shard, \
                                                             name, __builtin_return_address(0))
#else
#define AB_CHECKED_OWN(own, name) ((void)0)
#endif

/* ---- shards_queue.c: the way of a block back to the heap that it is of ----
 *
 * The queue is a stack: pushed by compare-and-swap, taken as a whole by an exchange, so there is no
 * ABA. The link is inside the freed block. Blocks that a thread frees for others are sent some at a
 * time. */

enum { AB_SHARD_BATCH = 32 };

/* Of a block of 8 bytes or more. is_urgent: not to wait until there are more. */
AB_COMMON_API void ab_shard_free(struct ab_shard *from, struct ab_shard *owner, void *block,
                                 bool is_urgent);
/* What waits goes now. */
AB_COMMON_API void ab_shard_send(struct ab_shard *from);
/* All that other threads have sent, or NULL. */
AB_COMMON_API struct ab_shards_link *ab_shard_take_remote(struct ab_shard *shard);
/* Unlinks the first; the block may be handed to the allocator. */
AB_COMMON_API void *ab_shard_pop(struct ab_shards_link **chain);
/* While all others are at rest, for each heap of `whole` (see ab_shards_next): its blocks are
 * dead. */
AB_COMMON_API void ab_shard_forget(const struct ab_shard *whole, struct ab_shard *each);
/* While all others are at rest: bytes that were freed of the blocks of `whole` and are not with
 * their owner yet: of what came to `each`, and of what it has not sent. Of one heap alone what came
 * to it: what others have not sent is not known, and what it has not sent is theirs. */
AB_COMMON_API size_t ab_shard_in_flight(const struct ab_shard *whole, const struct ab_shard *each);

/* A heap without an owner becomes the caller's; false when it has one. */
AB_COMMON_API bool ab_shard_take(struct ab_shard *shard, enum ab_shard_state state);
/* The heap has no owner any more. What came is freed before, also what comes at the same time. */
AB_COMMON_API void ab_shard_give_up(struct ab_shard *shard);

/* ---- shards_thread.c: the heap of the calling thread ---- */

/* Found by a key of the group, taken at the first question, left at the end of the thread. The
 * first heap of the group for a thread that is about to end, and where the system has no key or no
 * memory left. Never NULL. */
AB_COMMON_API struct ab_shard *ab_thread_shard(struct ab_shards *shards);

/* ---- what is the same of all groups ----
 *
 * The functions of AB_SHARDS_API, but for `open` and `sum`, and those of the calls above that are
 * one of the allocator: NAME begins with an ab_shard `shard` and has the allocator as `heap`, whose
 * functions are PLAIN_fini and so on. */

#define AB_SHARDS_DEFINE(name, heap, plain) \
    static struct name *name##_of(struct ab_shard *shard) \
    { \
        return (struct name *)(void *)shard; \
    } \
    static struct name *name##_next(const struct name *whole, const struct name *each) \
    { \
        return name##_of(ab_shards_next(&whole->shard, &each->shard)); \
    } \
    static void name##_fini_heap(struct ab_shard *shard) \
    { \
        plain##_fini(&name##_of(shard)->heap); \
    } \
    static void name##_reset_heap(struct ab_shard *shard) \
    { \
        plain##_reset(&name##_of(shard)->heap); \
    } \
    static void name##_purge_heap(struct ab_shard *shard) \
    { \
        plain##_purge(&name##_of(shard)->heap); \
    } \
    void name##_close(struct name *group) \
    { \
        ab_shards_close((struct ab_shard *)(void *)group); \
    } \
    struct name *name##_enter(struct name *group, uint32_t number) \
    { \
        return name##_of(ab_shards_enter(group->shard.shards, number)); \
    } \
    void name##_leave(struct name *own) \
    { \
        ab_shards_leave(&own->shard); \
    } \
    void name##_reset(struct name *group) \
    { \
        ab_shards_reset(&group->shard); \
    } \
    void name##_purge(struct name *group) \
    { \
        ab_shards_purge(&group->shard); \
    }

#define AB_SHARDS_CALLS(name, open, settle, free_own, drain, bytes_of) \
    { \
        sizeof(struct name), open, name##_fini_heap, name##_reset_heap, name##_purge_heap, settle, \
            free_own, drain, bytes_of \
    }

/* Where blocks are freed one by one: frees what other threads sent, and says whether there was
 * any. */
#define AB_SHARDS_DEFINE_COLLECT(name, heap, plain, type) \
    static bool name##_collect(type *into) \
    { \
        char *begin = (char *)into - offsetof(struct name, heap); \
        struct ab_shards_link *chain = ab_shard_take_remote((struct ab_shard *)(void *)begin); \
        bool is_any = chain != NULL; \
        while (chain != NULL) \
            plain##_free(into, ab_shard_pop(&chain)); \
        return is_any; \
    } \
    static void name##_drain(struct ab_shard *owner) \
    { \
        name##_collect(&name##_of(owner)->heap); \
    }

/* What only programs need, in a source of its own: a measuring process waits for no end of a
 * thread. */
#define AB_SHARDS_DEFINE_OWN(name) \
    struct name *name##_own(struct name *group) \
    { \
        return (struct name *)(void *)ab_thread_shard(group->shard.shards); \
    } \
    void name##_before_fork(struct name *group) \
    { \
        ab_shards_before_fork(group->shard.shards); \
    } \
    void name##_after_fork(struct name *group, bool is_child) \
    { \
        ab_shards_after_fork(group->shard.shards, is_child); \
    }

#ifdef __cplusplus
}
#endif

#endif
