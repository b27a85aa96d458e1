/* SPDX-License-Identifier: MIT
 *
 * A heap that several threads use is a group of shards, each an allocator for one thread with what
 * is here before it. ../pool/pool_shared.h, ../slab/slab_shared.h and ../arena/arena_shared.h are
 * such groups, and say the same of all modes:
 *
 *   mutex    one heap with a lock around every call
 *   one      one heap, no lock, one thread
 *   local    a heap for each thread, without a lock, and one with a lock for whoever has none. A
 *            block that another thread frees goes to the queue of its owner, some at a time, and
 *            the owner takes all that came before it takes new memory. At the end of a thread its
 *            heap is given up as it is and the next new thread goes on with it
 *   sharded  several heaps with a lock each; threads are dealt out over them
 *
 * Who may do what:
 *   - Any thread may free any block, and resize it, in all modes but `one`. Blocks outlive the
 *     thread that asked for them.
 *   - What a thread has as its own heap is for that thread alone; the group itself, which is its
 *     first heap, is for all.
 *   - reset, purge, the sums and close are about the whole group: no other call is in progress
 *   then.
 *     What other threads freed, they must have freed before, in the sense of the language (joined,
 *     or a lock). The same of one's own heap alone, while others work, unless that is the group
 *     (`own` gives it when all heaps have a thread): its sums count as live what others freed and
 *     have not sent, and before its reset whoever freed any of its blocks must have left.
 *   - A thread that ends leaves its heap by itself when it was found by `own`; else it says
 *   `leave`.
 *     Who allocates or frees even later (in a destructor of thread-specific data) uses the first
 *     heap. Blocks that are freed in a heap without a thread are put in order by who frees them.
 *   - fork: the child has the thread that forked and no other. A heap in which another thread is
 *     working at that moment cannot be used in the child. before_fork and after_fork, given to
 *     pthread_atfork or called around fork, make all others usable. Of the heaps of the threads
 *     that are not there blocks may be read and freed, and nothing else is done with them: reset,
 *     purge, the sums and close leave them out. A child that only calls exec, or _exit, needs
 *     neither.
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

/* Heaps of a group at most; with local one less than that has a thread. */
enum { AB_SHARDS_MAX = 4096 };
enum { AB_SHARDS_LOCAL_USUAL = 64, AB_SHARDS_SHARDED_USUAL = 8 };
/* Addresses of each heap of several, where the options do not say; half as many each time that the
 * system refuses. */
#define AB_SHARDS_SPAN_BYTES ((size_t)1 << 34)

/* The part of the options that is the same for every group; zero is one heap with a lock. */
struct ab_shards_options {
    enum ab_shards_mode mode;
    /* local: threads at the same time that have a heap of their own, others share the first one;
     * sharded: heaps. 0: AB_SHARDS_…_USUAL. Else of no meaning. */
    uint32_t n;
    /* For who lays checked.h over it: every call takes a lock, none is inline, nothing waits in a
     * queue. So in the checked build, for pool and slab. */
    bool is_guarded;
};

struct ab_shards_link { /* inside a freed block */
    struct ab_shards_link *next;
};

/* Who may touch a heap of mode local. BUSY: a thread puts one without an owner in order. OWNED: a
 * thread found it by `own`. ENTERED: by number. DEAD: its thread is not in this process (fork). */
enum ab_shard_state {
    AB_SHARD_IDLE,
    AB_SHARD_BUSY,
    AB_SHARD_OWNED,
    AB_SHARD_ENTERED,
    AB_SHARD_DEAD
};

struct ab_shards;

struct ab_shard {
    uintptr_t own_base; /* blocks in [own_base, own_base + own_bytes) may be freed without */
    size_t own_bytes;   /* further questions; 0: nothing */
    size_t fast_max;    /* sizes from 1 to this are served without further questions; 0: none */
    bool is_plain;      /* used by one thread only: no lock */
    bool is_guarded;    /* its blocks are between canaries */
    bool is_ready;      /* its allocator is open; atomic */
    AB_CHECKED(const void *user;) /* the thread that is in a call; atomic */
    struct ab_shards *shards;
    struct ab_shard *to; /* whose blocks wait here to be sent */
    struct ab_shards_link *first, *last;
    uint32_t n_waiting;
    pthread_t thread; /* OWNED or ENTERED: by whom */
    pthread_mutex_t mutex;
    AB_ALIGNAS(64) struct ab_shards_link *remote; /* other threads write here */
    uint32_t state;                               /* an ab_shard_state; atomic */
};

/* The functions that every group has: NAME is ab_pool_shared, ab_slab_shared or ab_arena_shared. A
 * struct NAME is one heap of the group, the first one is the group.
 *
 *   open      NULL and errno on failure: EINVAL (too many heaps, or as the allocator says), ENOMEM
 *   close     gives everything back to the system. No thread is at its end just then; those that
 *   live
 *             on may end later. NULL is fine
 *   own       the heap of this thread, which leaves it at its end. Never NULL. To be kept in a
 *             variable of the thread: each call asks the C library (some ns)
 *   enter     the same for threads with numbers from 0, which `leave` by themselves: no key of the
 *   C
 *             library, the same heap for the same number. NULL and errno: EINVAL (local, and n is
 *             not more), EBUSY (a thread that said `own` has it), EOWNERDEAD (after a fork: one
 *             that is not there), ENOMEM
 *   reset, purge, sum   as those of the allocator, about the whole group while no other call is in
 *             progress, purge after what is on its way has arrived; of one's own heap: that one
 *   before_fork, after_fork   see above; for pthread_atfork too */
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
