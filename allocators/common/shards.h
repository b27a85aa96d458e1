/* SPDX-License-Identifier: MIT
 *
 * The heaps of a group, and the assignment of threads to heaps. shard.h is the public part.
 * If there are several heaps, each has its own span of addresses, so that the owner of a block is
 * found by a shift. Blocks elsewhere (large ones) must store their owner. An allocator begins its
 * heap with an ab_shard. Its hot path only compares with fast_max on alloc and with own_base on
 * free.
 */
#ifndef AB_ALLOCATORS_SHARDS_H
#define AB_ALLOCATORS_SHARDS_H

#include "checked.h"
#include "shard.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ab_shards_calls { /* functions of the allocator for one of its heaps */
    size_t heap_bytes;   /* size of the struct that begins with an ab_shard */
    /* opens a heap that was never used; returns 0 or an errno */
    int (*open)(struct ab_shard *shard);
    /* In all calls below, the caller holds the heap's lock, if it has one. */
    void (*fini)(struct ab_shard *shard);
    void (*reset)(struct ab_shard *shard);
    void (*purge)(struct ab_shard *shard);
    /* called just before the lock is released; NULL = nothing */
    void (*settle)(struct ab_shard *shard);
    /* free_own frees a block of the heap. drain frees the blocks that other threads sent. bytes_of
     * returns the bytes of a live or dead block, for the marks and the sums. All three are NULL if
     * the allocator does not free single blocks. */
    void (*free_own)(struct ab_shard *owner, void *block);
    void (*drain)(struct ab_shard *owner);
    size_t (*bytes_of)(struct ab_shard *owner, const void *block);
};

struct ab_shards {
    enum ab_shards_mode mode;
    uint32_t n_shards;
    size_t shard_bytes, map_bytes;
    char *heaps;
    char *range; /* NULL: no spans were requested */
    unsigned span_log2;
    struct ab_shards_calls calls;
    pthread_mutex_t mutex; /* protects the assignment of heaps to threads */
    uint32_t n_open;       /* number of heaps that are open; atomic */
    uint32_t n_dealt;      /* number of threads that were assigned a heap in mode sharded */
    pthread_key_t key;     /* used in shards_thread.c: the heap of a thread */
    bool has_key;          /* atomic */
    void (*forget_key)(struct ab_shards *shards);
};

/* Creates the heaps, which are zero except for their ab_shard; none is open yet. span_bytes:
 * addresses of each heap if there are several, rounded up to a power of two; 0 = none. Returns NULL
 * and sets errno on failure: EINVAL for more than AB_SHARDS_MAX heaps. */
AB_COMMON_API struct ab_shards *ab_shards_open(const struct ab_shards_options *options,
                                               const struct ab_shards_calls *calls,
                                               size_t span_bytes);
/* Opens the first heap, whose options must be set by now, and returns it. It stands for the group.
 * Returns NULL and sets errno on failure; there is then nothing to close. */
AB_COMMON_API struct ab_shard *ab_shards_begin(struct ab_shards *shards);
/* Opens a heap if it is not open yet; the caller holds the mutex. Returns 0 or an errno. */
AB_COMMON_API int ab_shards_ready(struct ab_shard *shard);
/* Closes a group. NULL does nothing. */
AB_COMMON_API void ab_shards_close(struct ab_shard *first);

/* Reset and purge each heap that a call on `whole` is about (see ab_shards_next), with that heap's
 * lock. */
AB_COMMON_API void ab_shards_reset(struct ab_shard *whole);
AB_COMMON_API void ab_shards_purge(struct ab_shard *whole);

AB_COMMON_API struct ab_shard *ab_shards_at(const struct ab_shards *shards, uint32_t index);
/* Returns the heap after `each` among those that a call on `whole` is about; NULL at the end. Begin
 * with `whole` as `each`. If `whole` is the group, these are all open heaps except those whose
 * thread is not in this process. Otherwise `whole` is the only one. */
AB_COMMON_API struct ab_shard *ab_shards_next(const struct ab_shard *whole,
                                              const struct ab_shard *each);
AB_COMMON_API char *ab_shards_span(const struct ab_shards *shards, const struct ab_shard *shard);
/* Returns the heap whose span the block is in; NULL if there is none. */
AB_COMMON_API struct ab_shard *ab_shards_owner(const struct ab_shards *shards, const void *block);

/* Returns the heap of the thread with the number `lane`. The same number gets the same heap, for
 * one thread at a time. Returns NULL and sets errno on failure. In mode local the errors are EINVAL
 * (the number is too large), EBUSY (a thread adopted the heap) and EOWNERDEAD (its thread is not in
 * this process). */
AB_COMMON_API struct ab_shard *ab_shards_enter(struct ab_shards *shards, uint32_t lane);
/* Returns a heap that no thread has. If there is none, or no memory for one, returns the first heap
 * of the group. */
AB_COMMON_API struct ab_shard *ab_shards_adopt(struct ab_shards *shards);
/* Leaves a heap. Sends the blocks that wait in it for other heaps, and frees those that other
 * threads sent to it. The live blocks of the heap stay; the next thread that enters or adopts the
 * heap takes it over. */
AB_COMMON_API void ab_shards_leave(struct ab_shard *shard);

/* Prepare and end a fork; called by the thread that forks. */
AB_COMMON_API void ab_shards_before_fork(struct ab_shards *shards);
AB_COMMON_API void ab_shards_after_fork(struct ab_shards *shards, bool is_child);

/* AB_CHECKED_OWN declares that a call on this heap is in progress up to the end of the enclosing
 * block. Ends the process if the heap belongs to another thread. */
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

/* ---- shards_queue.c: how a block returns to the heap that it belongs to ----
 *
 * The queue is a stack: blocks are pushed by compare-and-swap, and all are taken by one exchange,
 * so that there is no ABA problem. The link is inside the freed block. A thread sends the blocks
 * that it frees for other heaps in batches. */

enum { AB_SHARD_BATCH = 32 };

/* Frees a block of at least 8 bytes, which `owner` owns, from the heap `from`. is_urgent: sends it
 * now, without waiting for a full batch. */
AB_COMMON_API void ab_shard_free(struct ab_shard *from, struct ab_shard *owner, void *block,
                                 bool is_urgent);
/* Sends the blocks that wait in `from` to their owner. */
AB_COMMON_API void ab_shard_send(struct ab_shard *from);
/* Returns all blocks that other threads have sent, or NULL. */
AB_COMMON_API struct ab_shards_link *ab_shard_take_remote(struct ab_shard *shard);
/* Unlinks the first block and returns it; it may be given to the allocator. */
AB_COMMON_API void *ab_shard_pop(struct ab_shards_link **chain);
/* Forgets the blocks that `each` holds for other heaps or received from them, because the blocks of
 * `whole` are dead. If `whole` is a single heap, blocks for other heaps are sent instead. No other
 * thread may be in a call. */
AB_COMMON_API void ab_shard_forget(const struct ab_shard *whole, struct ab_shard *each);
/* Returns the bytes of freed blocks that their owner has not taken back yet: those that were sent
 * to `each`, and, if `whole` is the group, those that wait in `each` for other heaps. No other
 * thread may be in a call. */
AB_COMMON_API size_t ab_shard_in_flight(const struct ab_shard *whole, const struct ab_shard *each);

/* Takes a heap without an owner for the caller. Returns false if it has an owner. */
AB_COMMON_API bool ab_shard_take(struct ab_shard *shard, enum ab_shard_state state);
/* Gives the caller's heap up, so that it has no owner. Frees the blocks that other threads sent,
 * also those that arrive meanwhile. */
AB_COMMON_API void ab_shard_give_up(struct ab_shard *shard);

/* ---- shards_thread.c: the heap of the calling thread ---- */

/* Returns the heap of this thread, found by a key of the group. A thread takes its heap at the
 * first call and leaves it at its end. Returns the first heap of the group for a thread that is
 * about to end, and if the system has no key or no memory left. Never returns NULL. */
AB_COMMON_API struct ab_shard *ab_thread_shard(struct ab_shards *shards);

/* ---- code that is the same for all groups ----
 *
 * Defines the functions of AB_SHARDS_API except `open` and `sum`, and the calls above that only
 * forward to the allocator. NAME begins with an ab_shard `shard` and has the allocator as `heap`;
 * the functions of the allocator are PLAIN_fini and so on. */

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

/* Defines functions for allocators that free single blocks: collect frees the blocks that other
 * threads sent, and returns true if there were any. */
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

/* Defines functions that only programs need. They are in a source file of their own, because
 * allocbench does not handle the end of threads this way. */
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
