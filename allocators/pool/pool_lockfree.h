/* SPDX-License-Identifier: MIT
 *
 * A pool of slots of one size for any number of threads without a lock: no thread ever waits for
 * one that was descheduled. The pool has one range of addresses. Slots that were never used are
 * carved by an atomic addition; freed slots are in a stack. The head of the stack is one word of 64
 * bits: the offset of the top slot in units of 16 bytes (40 bits) and a number that every pop
 * increments (24 bits). Because of the number, a head that was A, then B, then A again is not taken
 * for the old one (the ABA problem). One word is enough, so that no 128-bit compare-and-swap is
 * needed, which not every processor has.
 *
 * One case of ABA remains. A thread stalls between its read of the head and its compare-and-swap.
 * When it goes on, the same slot is on top again after exactly 2^24 pops by others, or a multiple
 * of 2^24. Then the pool hands out a slot twice or loses one, and nothing reports it. At 16 ns for
 * a pop and a push, the stall must last a quarter of a second and match to the exact pop.
 *
 * Tests include pool_lockfree.c with these macros defined:
 *   AB_POOL_LOCKFREE_STALL(pool)  runs in a pop, between its read of the link and its
 *                                 compare-and-swap; does nothing by default
 *   AB_POOL_LOCKFREE_NUMBER_BITS  bits of the number, 24 at most and by default; 0 = no protection
 *
 * Can be used on its own: these two files, ../common and ../ab_allocator.h. The checked build,
 * -DAB_WITH_CHECKS, checks blocks as in a pool for one thread; see ../pool/pool.h. It has no lock
 * and no list of the blocks, so that its messages say less.
 *
 * Not meant for few threads: each call does one or two atomic operations on the same cache line.
 * The pool does not notice when it runs empty, because it counts nothing.
 */
#ifndef AB_ALLOCATORS_POOL_LOCKFREE_H
#define AB_ALLOCATORS_POOL_LOCKFREE_H

#include "../ab_allocator.h"
#include "../common/language.h"
#include "../common/marks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ab_pool_lockfree {
    char *base;
    size_t slot_bytes, stride, align;
    size_t span_bytes, map_bytes; /* bytes of all slots; bytes of the mapping */
    bool huge;
    /* number << 40 | (offset / 16 + 1); the offset part is 0 when the stack is empty */
    AB_ALIGNAS(64) uint64_t head;
    AB_ALIGNAS(64) size_t carved; /* bytes carved so far */
#ifdef AB_WITH_CHECKS
    struct ab_block_list blocks; /* always empty; only its id and name are used */
    size_t dirty;                /* bytes from here on were not handed out since they were zero */
#endif
};

/* Bytes of addresses by default; halved each time the system refuses. */
#define AB_POOL_LOCKFREE_USUAL ((size_t)1 << 34)

struct ab_pool_lockfree_options {
    size_t slot_bytes, align; /* like those of ab_pool_options */
    /* Maximum number of slots. Addresses are reserved for all, and pages come on first use. 0 = as
     * many as fit in AB_POOL_LOCKFREE_USUAL bytes of addresses. */
    size_t n_slots;
    bool huge; /* ask for huge pages of 2 MiB */
};

/* Opens the pool. Returns 0 or an errno; on failure *pool is untouched. EINVAL means that the
 * alignment is not a power of two, or that `huge` is set and the kernel has no huge pages. */
AB_MUST_USE int ab_pool_lockfree_init(struct ab_pool_lockfree *pool,
                                      const struct ab_pool_lockfree_options *options);
/* Returns all memory to the system. The checked build lists the blocks that were never freed,
 * unless there was a reset before. */
void ab_pool_lockfree_fini(struct ab_pool_lockfree *pool);

/* The functions up to ab_pool_lockfree_owns may be called from any thread. The next two return NULL
 * when size is larger than a slot, or when all slots are used. */
void *ab_pool_lockfree_alloc(struct ab_pool_lockfree *pool, size_t size);
void *ab_pool_lockfree_alloc_zeroed(struct ab_pool_lockfree *pool, size_t size);
void ab_pool_lockfree_free(struct ab_pool_lockfree *pool, void *block); /* NULL does nothing */
/* Frees a block. `size` must be the size that it was requested with; the checked build verifies
 * it. */
void ab_pool_lockfree_free_sized(struct ab_pool_lockfree *pool, void *block, size_t size);
bool ab_pool_lockfree_owns(const struct ab_pool_lockfree *pool, const void *p);

/* Makes all slots free. No other thread may be in a call. */
void ab_pool_lockfree_reset(struct ab_pool_lockfree *pool);
/* Gives all pages back if no slot is live. */
void ab_pool_lockfree_purge(struct ab_pool_lockfree *pool);
/* Returns the number of live slots. Takes time, because it walks the list of free slots. No other
 * thread may be in a call. */
size_t ab_pool_lockfree_live(const struct ab_pool_lockfree *pool);

/* With the interface of ab_allocator.h, from any thread. Returns NULL for requests larger than a
 * slot. */
AB_ALLOCATOR_DEFINE(ab_pool_lockfree, struct ab_pool_lockfree, ab_pool_lockfree_alloc(heap, size),
                    ab_pool_lockfree_free_sized(heap, ptr, size), NULL)

#ifdef __cplusplus
}
#endif

#endif
