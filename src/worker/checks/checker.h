/* SPDX-License-Identifier: MIT
 *
 * Stands between a caller and an allocator and proves each call: alignment, no overlap with any
 * live block, contents from the call that wrote them to the free, the prefix of a resize, zeroes,
 * usable_size. The pattern of a block fills all of it, of large ones both ends (edge_bytes).
 * Several threads may call; the allocator itself is called without the lock, a block is taken out
 * of the shadow before it is freed and put in after it was given, so that no order of threads can
 * make a sound allocator look wrong.
 */
#ifndef AB_WORKER_CHECKS_CHECKER_H
#define AB_WORKER_CHECKS_CHECKER_H

#include "wire/crash.h"
#include "worker/checks/shadow.h"

struct ab_address_range {
    uintptr_t begin, end;
};

enum { AB_FOREIGN_MAX = 8, AB_FREED_MAX = 64 };

/* What is reported when it is wrong. A check of `verify` reports its own matter alone, so that what
 * it finds is a finding of that matter. */
enum ab_proof {
    AB_PROVE_ALIGN = 1u << 0,
    AB_PROVE_PLACE = 1u << 1, /* no overlap with a live block, nor with what is somebody else's */
    AB_PROVE_CONTENT = 1u << 2,
    AB_PROVE_PREFIX = 1u << 3, /* of a resize */
    AB_PROVE_ZERO = 1u << 4,
    AB_PROVE_USABLE = 1u << 5,
    AB_PROVE_STALE = 1u << 6, /* the handle of a freed block resolves to nothing */
    AB_PROVE_ALL = (1u << 7) - 1
};

struct ab_checker {
    const struct ab_target *target;
    struct ab_shadow shadow;
    /* Says what is wrong and does not come back. */
    void (*fail)(void *user, const char *text) __attribute__((noreturn));
    /* The same of a NULL that is a failure; NULL = fail. */
    void (*fail_null)(void *user, const char *text) __attribute__((noreturn));
    void *user;
    unsigned proves;   /* enum ab_proof */
    size_t edge_bytes; /* blocks of twice as much or more are filled at both ends only */
    bool fills;        /* else no byte is written: only addresses are checked */
    bool fills_usable; /* up to usable_size */
    bool is_shared;    /* several threads call */
    bool is_null_told; /* a NULL where size > 0 is a failure: the caller knows there is room */
    struct ab_address_range foreign[AB_FOREIGN_MAX]; /* memory that no allocator may give */
    uint32_t n_foreign;
    struct ab_address_range freed[AB_FREED_MAX]; /* the last ones, round and round */
    uint32_t n_gone;                             /* ever */
    int lock;
    uint64_t seq;                                 /* calls so far */
    uint64_t n_asked, n_freed, n_resized, n_read; /* n_read: blocks read back */
};

/* False when there is no memory. All that can be proven is. */
bool ab_checker_open(struct ab_checker *c, const struct ab_target *target);
void ab_checker_close(struct ab_checker *c);

/* 0: NULL was given. Blocks of size 0 of a heap are not followed: NULL is as good there. */
ab_ref ab_checker_ask(struct ab_checker *c, struct ab_heap *heap, const struct ab_ask *ask);
void ab_checker_free(struct ab_checker *c, struct ab_heap *heap, ab_ref ref, size_t size);
void ab_checker_free_sized(struct ab_checker *c, struct ab_heap *heap, ab_ref ref,
                           const struct ab_sized *sized);
/* 0: the block is still there, as it was. Neither size is 0. */
ab_ref ab_checker_resize(struct ab_checker *c, struct ab_heap *heap, ab_ref ref,
                         const size_t sizes[2]);
/* Reads the block back, which then goes with a call that ends several. */
void ab_checker_drop(struct ab_checker *c, struct ab_heap *heap, ab_ref ref, size_t size);
/* Reads one block back, and all that live. */
void ab_checker_read(struct ab_checker *c, struct ab_heap *heap, ab_ref ref, size_t size);
void ab_checker_sweep(struct ab_checker *c);
/* All live blocks are gone, as by a reset. */
void ab_checker_forget(struct ab_checker *c);
/* What is at an address, for who died there: in a signal handler, on any thread. False: it is not
 * known, because another thread is changing the record or because blocks move. */
bool ab_checker_locate(struct ab_checker *c, uintptr_t address, struct ab_near_block *out);
/* The allocator may give nothing of [begin, end). */
void ab_checker_forbid(struct ab_checker *c, const void *begin, size_t bytes);

#endif
