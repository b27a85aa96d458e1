/* SPDX-License-Identifier: MIT
 *
 * The checker stands between a caller and an allocator and proves each call: alignment, no overlap
 * with any live block, contents, the prefix after a resize, zeroes, usable_size. Contents must last
 * from the call that wrote them to the free. The pattern fills the whole block, or both ends of a
 * large one (edge_bytes).
 *
 * Several threads may call. The allocator itself is called without the checker's lock. A block
 * leaves the record of live blocks (the shadow) before it is freed, and enters it after it was
 * returned. So no order of threads can make a sound allocator look wrong.
 */
#ifndef AB_WORKER_CHECKS_CHECKER_H
#define AB_WORKER_CHECKS_CHECKER_H

#include "wire/crash_report.h"
#include "worker/checks/shadow.h"

struct ab_address_range {
    uintptr_t begin, end;
};

enum { AB_FOREIGN_MAX = 8, AB_FREED_MAX = 64 };

/* Properties that the checker proves. A check of `verify` reports violations of its own properties
 * only, so that a finding is about this check's rule. */
enum ab_proof {
    AB_PROVE_ALIGN = 1u << 0,
    AB_PROVE_PLACE = 1u << 1, /* no overlap with a live block or with foreign memory */
    AB_PROVE_CONTENT = 1u << 2,
    AB_PROVE_PREFIX = 1u << 3, /* contents after a resize */
    AB_PROVE_ZERO = 1u << 4,
    AB_PROVE_USABLE = 1u << 5,
    AB_PROVE_STALE = 1u << 6, /* the handle of a freed block resolves to nothing */
    AB_PROVE_ALL = (1u << 7) - 1
};

struct ab_checker {
    const struct ab_target *target;
    struct ab_shadow shadow;
    /* Reports an error; does not return. */
    void (*fail)(void *user, const char *text) __attribute__((noreturn));
    /* Reports a NULL that is a failure; does not return. NULL = `fail` reports it. */
    void (*fail_null)(void *user, const char *text) __attribute__((noreturn));
    void *user;
    unsigned proves;   /* properties that are reported, as bits of enum ab_proof */
    size_t edge_bytes; /* blocks of at least twice this size are filled at both ends only */
    /* True if blocks are filled with the pattern; otherwise only addresses are checked. */
    bool fills;
    bool fills_usable; /* True if the pattern extends up to usable_size. */
    bool is_shared;    /* True if several threads call the checker. */
    /* True if a NULL for a size > 0 is a failure, because the caller knows that there is room. */
    bool is_null_failure;
    /* ranges of memory that the allocator must not return */
    struct ab_address_range foreign[AB_FOREIGN_MAX];
    uint32_t n_foreign;
    /* ranges that were freed recently, in a ring buffer */
    struct ab_address_range freed[AB_FREED_MAX];
    uint32_t n_gone; /* number of ranges freed so far */
    int lock;
    uint64_t seq;                                 /* number of calls so far */
    uint64_t n_asked, n_freed, n_resized, n_read; /* n_read: number of blocks read back */
};

/* Opens a checker that proves all properties. Returns false if there is no memory. */
bool ab_checker_open(struct ab_checker *c, const struct ab_target *target);

/* Requests a block; returns 0 if the allocator returned NULL. Blocks of size 0 of a heap are not
 * tracked, because a heap may return NULL for them. */
ab_ref ab_checker_ask(struct ab_checker *c, struct ab_heap *heap, const struct ab_ask *ask);
void ab_checker_free(struct ab_checker *c, struct ab_heap *heap, ab_ref ref, size_t size);
void ab_checker_free_sized(struct ab_checker *c, struct ab_heap *heap, ab_ref ref,
                           const struct ab_sized *sized);
/* Resizes a block; returns 0 if the resize failed and the block is unchanged. Neither size may be
 * 0. */
ab_ref ab_checker_resize(struct ab_checker *c, struct ab_heap *heap, ab_ref ref,
                         const size_t sizes[2]);
/* Reads the block back and forgets it. For a call that follows and frees several blocks at once. */
void ab_checker_drop(struct ab_checker *c, struct ab_heap *heap, ab_ref ref, size_t size);
/* ab_checker_read() reads back one block, ab_checker_sweep() all live blocks. */
void ab_checker_read(struct ab_checker *c, struct ab_heap *heap, ab_ref ref, size_t size);
void ab_checker_sweep(struct ab_checker *c);
/* Forgets all live blocks, as after a reset. */
void ab_checker_forget(struct ab_checker *c);
/* Finds the block near an address, for the report of a crash. May run in a signal handler, on any
 * thread. Returns false if another thread is changing the record of live blocks, or if blocks
 * move. */
bool ab_checker_locate(struct ab_checker *c, uintptr_t address, struct ab_near_block *out);
/* Declares [begin, begin + bytes) as foreign memory, in which the allocator must return no
 * block. */
void ab_checker_forbid(struct ab_checker *c, const void *begin, size_t bytes);

#endif
