/* SPDX-License-Identifier: MIT
 *
 * Follows the blocks of a trace through their groups or heaps (*owners*): which of an owner's blocks
 * are live, in which scope each was born, which is the youngest. As in a replay, a resize stays with
 * the call site of its allocation; where sizes decide it can go from one owner to another: then it ends
 * a block of one and begins one of the other, in the scope of the allocation. A heap of each thread
 * resizes in that of the thread which calls: where that one has other scopes, the block is in none.
 */
#ifndef AB_ADVISE_LIVES_H
#define AB_ADVISE_LIVES_H

#include "advise/advise.h"
#include "trace_tools/walk.h"

#define AB_LIVES_NO_OWNER UINT32_MAX

struct ab_life {             /* of a block; all 0 when its slot is free */
    uint64_t born, size;     /* call; size now */
    uint64_t scope;          /* of its allocation */
    uint32_t owner, thread;  /* owner + 1; thread that made it */
    bool is_handed_over;     /* a thread with other scopes resized it, or freed it after the last
                                scope of its own: it is in none */
    uint32_t older, younger; /* of the same owner: slot + 1; 0 = none */
};

struct ab_life_owner { /* what is live of it */
    uint32_t youngest; /* slot + 1 */
    uint64_t blocks, bytes, most_blocks, most_bytes;
    uint64_t scope_most_blocks, scope_most_bytes;
    uint64_t n_fills;                 /* times that it was empty and got a block */
    uint64_t fill_blocks, fill_bytes; /* asked for since the last of these */
    uint64_t fill_most_blocks, fill_most_bytes;
};

struct ab_life_scope { /* asked for by an owner in this scope so far */
    uint64_t scope, blocks, bytes;
};

struct ab_lives {                   /* begins as {0}, but for what is said to be given */
    const struct ab_scopes *scopes; /* this one and the next: of the plan */
    const struct ab_scopes_of_threads *threads;
    uint64_t other_scope[AB_SCOPES_OF_THREADS_MAX]; /* of the last call that asked */
    bool is_by_birth; /* given: owners are call sites', which a resize does not change */
    bool rounds;      /* given: sizes count as multiples of 16, at least 16 */
    uint64_t scope;   /* of the call now: of the first scopes */
    uint64_t call;    /* now */
    struct ab_life *slots;
    size_t cap_slots;
    struct ab_life_owner *owners;
    size_t n_owners, cap_owners;
    struct ab_life_scope *asked; /* of each owner, for each thread that has scopes */
    size_t cap_asked;
    /* Given. Of a request, AB_LIVES_NO_OWNER = it is not followed. */
    uint32_t (*owner_of)(void *user, const struct ab_event *e);
    /* Given; NULL = nobody asks. A request was served by `owner`. */
    void (*given)(void *user, const struct ab_event *e, uint32_t owner);
    /* Given. A block of its owner ends, by a free, by a resize to another or, e NULL, by the trace.
     * It is still linked. */
    void (*ended)(void *user, const struct ab_life *life, bool is_youngest,
                  const struct ab_event *e, uint64_t call);
    void *user;
};

/* The scope of that thread, now. */
uint64_t ab_lives_scope(struct ab_lives *l, uint32_t thread);
/* Ends of scopes that a block which is freed now has outlived; UINT64_MAX = it has no scope. */
uint64_t ab_lives_outlived(struct ab_lives *l, const struct ab_life *life);
/* Follows all blocks of the trace. *info: of the trace, may be NULL. */
enum ab_status ab_lives_read(struct ab_lives *l, const struct ab_advise_plan *plan,
                             struct ab_trace_info *info, struct ab_err *err);
void ab_lives_fini(struct ab_lives *l);

#endif
