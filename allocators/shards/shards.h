/* SPDX-License-Identifier: MIT
 *
 * How an allocator for one thread serves several: as a group of shards, each such an allocator.
 *
 *   one      no lock, one thread
 *   mutex    one shard, a lock around every call
 *   sharded  several shards with a lock each; threads are dealt out over them
 *   local    a shard for each thread, without a lock, and one with a lock for whoever is none of
 *            them. A block that another thread frees goes to the queue of its owner, some at a
 *            time, and the owner takes all that came before it takes new memory.
 *
 * Each shard has its own span of addresses, so a block finds its owner by a shift; blocks elsewhere
 * (large ones) must know it. The embedding allocator keeps an ab_shard as the first
 * thing of its heap, and its hot path asks fast_max on alloc and own_base on free, nothing else.
 *
 * The queue is a stack: pushed by compare-and-swap, taken as a whole by an exchange, so there is no
 * ABA. The link is inside the freed block.
 */
#ifndef AB_ALLOCATORS_SHARDS_H
#define AB_ALLOCATORS_SHARDS_H

#include "allocators/common/guard.h"
#include "allocators/params.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Auto: one where there is one lane, else mutex. In the order of AB_SHARDS_MODES, the choices of a
 * parameter `threads`. */
enum ab_shards_mode {
    AB_SHARDS_AUTO,
    AB_SHARDS_MUTEX,
    AB_SHARDS_ONE,
    AB_SHARDS_LOCAL,
    AB_SHARDS_SHARDED,
    AB_SHARDS_MODE_COUNT
};
#define AB_SHARDS_MODES "auto", "mutex", "none", "local", "sharded"
enum { AB_SHARDS_BATCH = 32, AB_SHARDS_MAX = 4096 };

struct ab_shards_link { /* inside the freed block */
    struct ab_shards_link *next;
};

struct ab_shard {
    uintptr_t own_base; /* blocks in [own_base, own_base + own_bytes) may be freed without */
    size_t own_bytes;   /* further questions; 0: nothing */
    size_t fast_max;    /* sizes from 1 to this are served without further questions; 0: none */
    bool is_plain;      /* used by one thread only: no lock */
    bool is_guarded;    /* its blocks are between canaries */
    struct ab_shards *shards;
    struct ab_shard *to; /* whose blocks wait here to be sent */
    struct ab_shards_link *first, *last;
    uint32_t n_waiting;
    pthread_mutex_t mutex;
    _Alignas(64) struct ab_shards_link *remote; /* other threads write here */
};

struct ab_shards {
    enum ab_shards_mode mode;
    uint32_t n_shards;
    size_t shard_bytes, map_bytes;
    char *heaps;
    char *range; /* NULL: none was asked for */
    unsigned span_log2;
    /* Frees a block of the owner; its lock is held, if it has one. */
    void (*free_own)(struct ab_shard *owner, void *block);
};

struct ab_shards_options {
    enum ab_shards_mode mode;
    uint32_t lanes, shards; /* threads to come; shards when sharded, 0: one a lane */
    size_t shard_bytes;     /* of the struct that begins with an ab_shard */
    size_t span_bytes;      /* addresses of each of several, rounded up to a power of two */
    void (*free_own)(struct ab_shard *owner, void *block);
};

/* Shards are zero but for their ab_shard. NULL and errno on failure; EINVAL for `one` with several
 * lanes. */
struct ab_shards *ab_shards_open(const struct ab_shards_options *options);
void ab_shards_close(struct ab_shards *shards);

/* The first one is for who has not entered. */
struct ab_shard *ab_shards_at(const struct ab_shards *shards, uint32_t index);
/* Whom a call on `whole` is about: all when it is the first, which stands for the group, else itself
 * alone. The one after `each`, NULL at the end; begin with `whole`. */
struct ab_shard *ab_shards_next(const struct ab_shard *whole, const struct ab_shard *each);
char *ab_shards_span(const struct ab_shards *shards, const struct ab_shard *shard);
/* The shard of a thread: what it passes from now on. NULL: more threads than lanes. */
struct ab_shard *ab_shards_enter(const struct ab_shards *shards, uint32_t lane);
/* Sends what waits. The blocks of the shard live on, and the next to enter takes it over. */
void ab_shards_leave(struct ab_shard *shard);
/* By address; NULL when it is in no span. */
struct ab_shard *ab_shards_owner(const struct ab_shards *shards, const void *block);
/* Of a block of 8 bytes or more. is_urgent: not to wait until there are more. */
void ab_shards_free(struct ab_shard *from, struct ab_shard *owner, void *block, bool is_urgent);
/* All that other threads have sent, or NULL. */
struct ab_shards_link *ab_shards_take(struct ab_shard *shard);
/* While all others are at rest: every block of all shards is dead. */
void ab_shards_forget(struct ab_shard *shard);
/* While all others are at rest: block by block what was freed and is not with its owner yet; of
 * what came to this shard, and of what it has not sent. NULL at the end. */
struct ab_shards_cursor {
    const struct ab_shards_link *next;
    uint32_t stage, n_left;
};
const void *ab_shards_in_flight(const struct ab_shard *shard, struct ab_shards_cursor *cursor);
/* Unlinks the first; the block may be handed to the allocator. */
void *ab_shards_pop(struct ab_shards_link **chain);

/* ---- parameter and hooks of a back end whose heap begins with an ab_shard ---- */

#define AB_SHARDS_DEBUG_PARAM \
    AB_BOOL_ROW("debug", 0, \
                "canaries and poison; freeing a corrupted, foreign or freed block aborts the " \
                "process")

int ab_shards_thread_enter(struct ab_heap *heap, uint32_t lane, struct ab_heap **out);
void ab_shards_thread_leave(struct ab_heap *heap);
/* Off the fast path: guarded, or as the allocator below has it. free: NULL does nothing. */
ab_ref ab_shards_special_alloc(const struct ab_guard_below *below, struct ab_heap *heap,
                               size_t align, size_t size, bool is_zeroed);
void ab_shards_special_free(const struct ab_guard_below *below, struct ab_heap *heap, ab_ref ref);

/* Between canaries: every call goes the slow way, and with the lock. */
static inline void ab_shard_set_guarded(struct ab_shard *shard, bool is_guarded)
{
    shard->is_guarded = is_guarded;
    if (is_guarded) {
        shard->is_plain = false;
        shard->own_bytes = 0;
    }
}

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
