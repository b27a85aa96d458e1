/* SPDX-License-Identifier: MIT
 *
 * A heap for several threads is a group of shards. Each shard is an allocator for one thread,
 * preceded by a struct ab_shard. ../pool/pool_shared.h, ../slab/slab_shared.h and
 * ../arena/arena_shared.h are such groups. All have these modes:
 *
 *   mutex    one heap with a lock around every call
 *   one      one heap, no lock, one thread
 *   local    one heap per thread, without a lock, and one with a lock for threads that have none. A
 *            block that another thread frees is sent to the queue of its owner, in batches. The
 *            owner frees all blocks in its queue before it takes new memory. When a thread ends,
 *            its heap stays as it is, and the next new thread continues with it
 *   sharded  several heaps with a lock each, to which threads are assigned in turn
 *
 * Rules for threads:
 *   - In all modes but `one`, any thread may free and resize any block. Blocks outlive the thread
 *     that allocated them.
 *   - A thread's own heap is for that thread alone. The group itself, which is its first heap, is
 *     for all threads.
 *   - reset, purge, sum and close are calls on the whole group. No other call may be in progress,
 *     and frees of other threads must have happened before, in the sense of the language (by a join
 *     or a lock).
 *   - reset, purge and sum of a thread's own heap are possible while other threads work, unless
 *     that heap is the group (`own` returns the group when all heaps have a thread). The sums then
 *     count blocks as live that others freed but have not sent yet. Before a reset, every thread
 *     that freed blocks of the heap must have left.
 *   - A thread leaves its heap automatically at its end if it got the heap by `own`; otherwise it
 *     must call `leave`. Allocations and frees even later, in a destructor of thread-specific data,
 *     use the first heap. Blocks of a heap without a thread are put in order by the thread that
 *     frees them.
 *   - fork: the child has only the thread that forked. A heap in which another thread is working at
 *     that moment cannot be used in the child. before_fork and after_fork make all other heaps
 *     usable; pass them to pthread_atfork or call them around fork. Blocks in the heaps of missing
 *     threads may be read and freed. reset, purge, sum and close leave these heaps out. A child
 *     that only calls exec or _exit needs neither function.
 */
#ifndef AB_ALLOCATORS_SHARD_H
#define AB_ALLOCATORS_SHARD_H

#include "language.h"
#include "marks.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ab_shards_mode { AB_SHARDS_MUTEX, AB_SHARDS_ONE, AB_SHARDS_LOCAL, AB_SHARDS_SHARDED };

/* Maximum number of heaps of a group. In mode local, one heap less has a thread of its own. */
enum { AB_SHARDS_MAX = 4096 };
enum { AB_SHARDS_LOCAL_USUAL = 64, AB_SHARDS_SHARDED_USUAL = 8 };
/* Bytes of addresses of each heap, if there are several and the options give none; halved each time
 * the system refuses. */
#define AB_SHARDS_SPAN_BYTES ((size_t)1 << 34)

/* Options that the groups of pools, slabs and arenas have in common. All zero means one heap with a
 * lock. */
struct ab_shards_options {
    enum ab_shards_mode mode;
    /* local: maximum number of threads with a heap of their own at a time; other threads share the
     * first heap. sharded: number of heaps. 0 = AB_SHARDS_…_USUAL. Unused in other modes. */
    uint32_t n;
    /* True if canaries (checked.h) surround the blocks: every call takes a lock, no call is inline,
     * and no block waits in a queue. Always true for pools and slabs in the checked build. */
    bool is_guarded;
};

struct ab_shards_link { /* the link inside a freed block */
    struct ab_shards_link *next;
};

/* State of a heap in mode local. BUSY: a thread puts a heap without an owner in order. OWNED: a
 * thread got it by `own`. ENTERED: a thread got it by its number. DEAD: its thread is not in this
 * process (fork). */
enum ab_shard_state {
    AB_SHARD_IDLE,
    AB_SHARD_BUSY,
    AB_SHARD_OWNED,
    AB_SHARD_ENTERED,
    AB_SHARD_DEAD
};

struct ab_shards;

struct ab_shard {
    uintptr_t own_base; /* the fast path frees blocks in [own_base, own_base + own_bytes) */
    size_t own_bytes;   /* 0: no block is freed on the fast path */
    size_t fast_max;    /* sizes from 1 to this are allocated on the fast path; 0 = none */
    bool is_plain;      /* True if only one thread uses the heap, without a lock. */
    bool is_guarded;    /* True if the heap's blocks are between canaries. */
    bool is_ready;      /* True if the heap's allocator is open; atomic. */
    AB_CHECKED(const void *user;) /* the thread that is in a call; atomic */
    struct ab_shards *shards;
    struct ab_shard *to; /* the heap whose blocks wait here to be sent */
    struct ab_shards_link *first, *last;
    uint32_t n_waiting;
    pthread_t thread; /* the owning thread, if the state is OWNED or ENTERED */
    pthread_mutex_t mutex;
    /* blocks that other threads sent to this heap; they write here */
    AB_ALIGNAS(64) struct ab_shards_link *remote;
    uint32_t state; /* an ab_shard_state; atomic */
};

/* Declares the functions of a group; NAME is ab_pool_shared, ab_slab_shared or ab_arena_shared. A
 * struct NAME is one heap of the group; the first heap stands for the group.
 *
 *   open      Opens a group. Returns NULL and sets errno on failure: EINVAL (too many heaps, or an
 *             error of the allocator) or ENOMEM.
 *   close     Gives everything back to the system. No thread may be ending at that moment; threads
 *             that live on may end later. NULL does nothing.
 *   own       Returns the heap of this thread, which leaves it at its end. Never returns NULL. Keep
 *             the result in a variable of the thread, because each call asks the C library (some
 *             ns).
 *   enter     Returns the heap of a thread with a number from 0, which must `leave` by itself. Uses
 *             no key of the C library; the same number gets the same heap. Returns NULL and sets
 *             errno: EINVAL (mode local, and the number is not below n), EBUSY (a thread that
 *             called `own` has it), EOWNERDEAD (after a fork: a missing thread has it) or ENOMEM.
 *   reset, purge, sum   Work like the functions of the allocator. Called on the group, they
 *             apply to all heaps, and no other call may be in progress; purge first delivers the
 *             freed blocks that wait. Called on a thread's own heap, they apply to that heap.
 *   before_fork, after_fork   See above; may be passed on to pthread_atfork. */
#define AB_SHARDS_API(name) \
    AB_MUST_USE struct name *name##_open(const struct name##_options *options); \
    void name##_close(struct name *group); \
    struct name *name##_own(struct name *group); \
    AB_MUST_USE struct name *name##_enter(struct name *group, uint32_t number); \
    void name##_leave(struct name *own); \
    void name##_reset(struct name *group); \
    void name##_purge(struct name *group); \
    struct name##_sums name##_sum(struct name *group); \
    void name##_before_fork(struct name *group); \
    void name##_after_fork(struct name *group, bool is_child)

static inline void ab_shard_lock(struct ab_shard *shard)
{
    if (!shard->is_plain)
        pthread_mutex_lock(&shard->mutex);
}

static inline void ab_shard_unlock(struct ab_shard *shard)
{
    if (!shard->is_plain)
        pthread_mutex_unlock(&shard->mutex);
}

#endif
