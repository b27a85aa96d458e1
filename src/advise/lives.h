/* SPDX-License-Identifier: MIT
 *
 * Follows the blocks of a trace by owner. An owner is a group or a heap. Finds out which blocks of
 * an owner are live, in which scope each block was allocated, and which block is the youngest.
 *
 * If owners are call sites, a resized block stays with the call site of its allocation, as in a
 * replay. If owners are decided by size, a resize can move a block to another owner. It then ends
 * the block and begins another one, which keeps the scope of the allocation.
 *
 * With one heap per thread, a resize happens in the heap of the calling thread. If that thread has
 * other scopes than the allocating thread, the block is in no scope from then on.
 */
#ifndef AB_ADVISE_LIVES_H
#define AB_ADVISE_LIVES_H

#include "advise/advise.h"
#include "trace_tools/walk.h"

#define AB_LIVES_NO_OWNER UINT32_MAX

struct ab_life { /* a live block; all 0 if no live block is in the slot */
    /* born: number of the call that allocated it; size: current size in bytes */
    uint64_t born, size;
    uint64_t scope;         /* scope in which the block was allocated */
    uint32_t owner, thread; /* owner: index of the owner + 1; thread: allocating thread */
    /* True if the block is in no scope any more, because a thread with other scopes resized it, or
     * freed it after the last scope of the allocating thread */
    bool is_handed_over;
    /* next older and next younger block of the same owner, as slot + 1; 0 = none */
    uint32_t older, younger;
};

struct ab_life_owner { /* the live blocks of one owner */
    uint32_t youngest; /* slot + 1 of its youngest block; 0 = none */
    uint64_t blocks, bytes, most_blocks, most_bytes;
    uint64_t scope_most_blocks, scope_most_bytes;
    /* number of times that the owner got a block while it had none (a fill) */
    uint64_t n_fills;
    uint64_t fill_blocks, fill_bytes; /* blocks and bytes requested since the last fill */
    uint64_t fill_most_blocks, fill_most_bytes;
};

/* blocks and bytes that an owner has requested so far in the scope `scope` */
struct ab_life_scope {
    uint64_t scope, blocks, bytes;
};

/* initialised with {0}, except for the fields marked "set by the caller" */
struct ab_lives {
    const struct ab_scopes *scopes; /* scopes and threads: copied from the plan */
    const struct ab_scopes_of_threads *threads;
    /* current scope of each entry of `threads`, as of the last call of ab_lives_scope() */
    uint64_t other_scope[AB_SCOPES_OF_THREADS_MAX];
    bool is_by_birth; /* set by the caller: True if owners are call sites, which a resize keeps */
    bool rounds;      /* set by the caller: True to round sizes up to multiples of 16, at least
                         16 */
    uint64_t scope;   /* number of the current scope in `scopes` */
    uint64_t call;    /* number of the current call */
    struct ab_life *slots;
    size_t cap_slots;
    struct ab_life_owner *owners;
    size_t n_owners, cap_owners;
    struct ab_life_scope *asked; /* one entry for each owner and each thread with scopes */
    size_t cap_asked;
    /* Set by the caller: returns the owner of a request; AB_LIVES_NO_OWNER = the block is not
     * followed. */
    uint32_t (*owner_of)(void *user, const struct ab_event *e);
    /* Set by the caller, may be NULL: called after a request for `owner` was counted. */
    void (*given)(void *user, const struct ab_event *e, uint32_t owner);
    /* Set by the caller: called when a block ends. `e` is a free, a resize that moves the block to
     * another owner, or NULL for the end of the trace. The block is still in its owner's list. */
    void (*ended)(void *user, const struct ab_life *life, bool is_youngest,
                  const struct ab_event *e, uint64_t call);
    void *user;
};

/* Returns the number of the thread's current scope. */
uint64_t ab_lives_scope(struct ab_lives *l, uint32_t thread);
/* Returns how many ends of scopes a block that is freed now has outlived; UINT64_MAX = the block is
 * in no scope. */
uint64_t ab_lives_outlived(struct ab_lives *l, const struct ab_life *life);
/* Reads the trace and calls the functions of *l for its blocks. Sets *info to facts about the
 * trace; info may be NULL. */
enum ab_status ab_lives_read(struct ab_lives *l, const struct ab_advise_plan *plan,
                             struct ab_trace_info *info, struct ab_err *err);
void ab_lives_fini(struct ab_lives *l);

#endif
