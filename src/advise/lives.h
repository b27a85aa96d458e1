/* SPDX-License-Identifier: MIT
 *
 * Follows the blocks of a trace through their owners, which are groups or heaps: which blocks of an
 * owner are live, in which scope each was born, which is the youngest. As in a replay, a resized
 * block stays with the call site of its allocation. If owners are decided by size, a resize can
 * move a block to another owner. Then it ends one block and begins another, in the scope of the
 * allocation. With a heap per thread, a resize happens in the heap of the calling thread. If that
 * thread has other scopes, the block is in no scope.
 */
#ifndef AB_ADVISE_LIVES_H
#define AB_ADVISE_LIVES_H

#include "advise/advise.h"
#include "trace_tools/walk.h"

#define AB_LIVES_NO_OWNER UINT32_MAX

struct ab_life {             /* a block; all 0 if its slot is free */
    uint64_t born, size;     /* call of birth; current size in bytes */
    uint64_t scope;          /* scope of its allocation */
    uint32_t owner, thread;  /* owner + 1; allocating thread */
    bool is_handed_over;     /* True if a thread with other scopes resized it, or freed it after
                                its last own scope: it is in no scope */
    uint32_t older, younger; /* neighbours of the same owner: slot + 1; 0 = none */
};

struct ab_life_owner { /* live blocks of one owner */
    uint32_t youngest; /* slot + 1 */
    uint64_t blocks, bytes, most_blocks, most_bytes;
    uint64_t scope_most_blocks, scope_most_bytes;
    uint64_t n_fills;                 /* times that it got a block while empty */
    uint64_t fill_blocks, fill_bytes; /* requested since the last fill */
    uint64_t fill_most_blocks, fill_most_bytes;
};

struct ab_life_scope { /* requests of an owner in this scope so far */
    uint64_t scope, blocks, bytes;
};

struct ab_lives {                   /* {0}, except the fields marked "set by the caller" */
    const struct ab_scopes *scopes; /* scopes and threads are those of the plan */
    const struct ab_scopes_of_threads *threads;
    uint64_t other_scope[AB_SCOPES_OF_THREADS_MAX]; /* at the last query */
    bool is_by_birth; /* set by the caller: True if owners are call sites, which a resize keeps */
    bool rounds;      /* set by the caller: True to round sizes up to multiples of 16, at least
                         16 */
    uint64_t scope;   /* current scope in `scopes` */
    uint64_t call;    /* number of the current call */
    struct ab_life *slots;
    size_t cap_slots;
    struct ab_life_owner *owners;
    size_t n_owners, cap_owners;
    struct ab_life_scope *asked; /* per owner and thread with scopes */
    size_t cap_asked;
    /* Set by the caller: returns the owner of a request; AB_LIVES_NO_OWNER = do not follow it. */
    uint32_t (*owner_of)(void *user, const struct ab_event *e);
    /* Set by the caller, may be NULL: called when `owner` has served a request. */
    void (*given)(void *user, const struct ab_event *e, uint32_t owner);
    /* Set by the caller: called when a block ends, by a free, by a resize that moves it to another
     * owner, or (e NULL) by the end of the trace. The block is still linked. */
    void (*ended)(void *user, const struct ab_life *life, bool is_youngest,
                  const struct ab_event *e, uint64_t call);
    void *user;
};

/* Returns the current scope of the thread. */
uint64_t ab_lives_scope(struct ab_lives *l, uint32_t thread);
/* Returns how many ends of scopes a block has outlived that is freed now; UINT64_MAX = it has no
 * scope. */
uint64_t ab_lives_outlived(struct ab_lives *l, const struct ab_life *life);
/* Reads the trace and follows all its blocks. Sets *info to the facts about the trace; info may be
 * NULL. */
enum ab_status ab_lives_read(struct ab_lives *l, const struct ab_advise_plan *plan,
                             struct ab_trace_info *info, struct ab_err *err);
void ab_lives_fini(struct ab_lives *l);

#endif
