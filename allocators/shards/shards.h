/* SPDX-License-Identifier: MIT
 *
 * How an allocator for one thread serves several: as a team of members, each such an allocator.
 *
 *   one      no lock, one thread
 *   mutex    one member, a lock around every call
 *   sharded  several members with a lock each; threads are dealt out over them
 *   local    a member for each thread, without a lock, and one with a lock for whoever is none of
 *            them. A block that another thread frees goes to the queue of its owner, some at a
 *            time, and the owner takes all that came before it takes new memory.
 *
 * Each member's addresses are a span of their own, so a block finds its owner by a shift; what lies
 * elsewhere (large blocks) must know it. The embedding allocator keeps an ab_member as the first
 * thing of its heap, and its hot path asks fast_max on alloc and own_base on free, nothing else.
 *
 * The queue is a stack: pushed by compare-and-swap, taken as a whole by an exchange, so there is no
 * ABA. The link lies inside the freed block.
 */
#ifndef AB_ALLOCATORS_TEAM_H
#define AB_ALLOCATORS_TEAM_H

#include "allocators/ab_backend.h"
#include "allocators/guard.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ab_team_mode { AB_TEAM_ONE, AB_TEAM_MUTEX, AB_TEAM_LOCAL, AB_TEAM_SHARDED };
enum { AB_TEAM_BATCH = 32, AB_TEAM_MEMBERS_MAX = 4096 };

struct ab_team_link { /* lies inside the freed block */
    struct ab_team_link *next;
};

struct ab_member {
    uintptr_t own_base; /* what lies in [own_base, own_base + own_bytes) may be freed without */
    size_t own_bytes;   /* further questions; 0: nothing */
    size_t fast_max;    /* sizes from 1 to this are served without further questions; 0: none */
    bool is_plain;      /* nobody else calls it: no lock */
    bool is_guarded;    /* its blocks lie between canaries */
    struct ab_team *team;
    struct ab_member *to; /* whose blocks wait here to be sent */
    struct ab_team_link *first, *last;
    uint32_t n_waiting;
    pthread_mutex_t mutex;
    _Alignas(64) struct ab_team_link *remote; /* other threads write here */
};

struct ab_team {
    enum ab_team_mode mode;
    uint32_t n_members;
    size_t member_bytes, map_bytes;
    char *members;
    char *range; /* NULL: none was asked for */
    unsigned span_log2;
    /* Frees a block of the owner; its lock is held, if it has one. */
    void (*free_own)(struct ab_member *owner, void *block);
};

struct ab_team_options {
    enum ab_team_mode mode;
    uint32_t lanes, shards; /* threads to come; members when sharded */
    size_t member_bytes;    /* of the struct that begins with an ab_member */
    size_t span_bytes;      /* addresses of each member, rounded up to a power of two; 0: none */
    void (*free_own)(struct ab_member *owner, void *block);
};

/* Members are zero but for their ab_member. NULL and errno on failure. */
struct ab_team *ab_team_open(const struct ab_team_options *options);
void ab_team_close(struct ab_team *team);

/* The first one is for who has not entered. */
struct ab_member *ab_team_at(const struct ab_team *team, uint32_t index);
/* Whom a call on `whole` is about: all when it is the first, which stands for the team, else itself
 * alone. The one after `each`, NULL at the end; begin with `whole`. */
struct ab_member *ab_team_next(const struct ab_member *whole, const struct ab_member *each);
char *ab_team_span(const struct ab_team *team, const struct ab_member *member);
/* The member of a thread: what it passes from now on. NULL: more threads than lanes. */
struct ab_member *ab_team_enter(const struct ab_team *team, uint32_t lane);
/* Sends what waits. The blocks of the member live on, and the next to enter takes it over. */
void ab_team_leave(struct ab_member *member);
/* By address; NULL when it is in nobody's span. */
struct ab_member *ab_team_owner(const struct ab_team *team, const void *block);
/* Of a block of 8 bytes or more. is_urgent: not to wait until there are more. */
void ab_team_free(struct ab_member *from, struct ab_member *owner, void *block, bool is_urgent);
/* All that other threads have sent, or NULL. */
struct ab_team_link *ab_team_take(struct ab_member *member);
/* While all others stand still: every block of all members is dead. */
void ab_team_forget(struct ab_member *member);
/* While all others stand still: block by block what was freed and is not with its owner yet; of
 * what came to this member, and of what it has not sent. NULL at the end. */
struct ab_team_cursor {
    const struct ab_team_link *next;
    uint32_t stage, n_left;
};
const void *ab_team_in_flight(const struct ab_member *member, struct ab_team_cursor *cursor);
/* Unlinks the first; the block may be handed to the allocator. */
void *ab_team_pop(struct ab_team_link **chain);

/* ---- hooks of a back end whose heap begins with an ab_member ---- */

int ab_team_thread_enter(struct ab_heap *heap, uint32_t lane, struct ab_heap **out);
void ab_team_thread_leave(struct ab_heap *heap);
/* Off the fast path: guarded, or as the allocator below has it. free: NULL does nothing. */
ab_ref ab_team_special_alloc(const struct ab_guard_below *below, struct ab_heap *heap, size_t align,
                             size_t size, bool is_zeroed);
void ab_team_special_free(const struct ab_guard_below *below, struct ab_heap *heap, ab_ref ref);

static inline void ab_member_lock(struct ab_member *member)
{
    if (!member->is_plain)
        pthread_mutex_lock(&member->mutex);
}

static inline void ab_member_unlock(struct ab_member *member)
{
    if (!member->is_plain)
        pthread_mutex_unlock(&member->mutex);
}

#endif
