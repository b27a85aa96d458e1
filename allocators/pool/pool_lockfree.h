/* SPDX-License-Identifier: MIT
 *
 * The pool of equal slots for any number of threads without a lock: no thread waits for one that
 * was put to sleep. One range of addresses; slots that were never used are carved by an atomic
 * step, freed ones are in a stack whose head is one word of 64 bits: where the top slot is in
 * units of 16 bytes (40 bits) and a number that every pop raises (24 bits), so that a head which
 * was A, then B, then A again is not taken for the old one (ABA). One word rather than a pair of
 * them: it needs no 128-bit compare-and-swap, which not every processor has.
 *
 * What is left of ABA: a thread stalls between its reading the head and its compare-and-swap, and
 * when it goes on the same slot is on top again after exactly 2^24 pops by others, or a multiple of
 * it. Then the pool gives a slot twice or loses one, and nothing notices. At 16 ns a pop and its
 * push that is a stall of a quarter of a second, to the pop. Nothing less than that is left.
 *
 * For tests pool_lockfree.c is included with these defined, which are nothing and 24 otherwise:
 *   AB_POOL_LOCKFREE_STALL(pool)  in a pop, between its reading the link and its compare-and-swap
 *   AB_POOL_LOCKFREE_NUMBER_BITS  of the number, 24 at most; 0 is no protection at all
 *
 * Usable on its own: these two files, ../common and ../ab_allocator.h.
 * The checked build, -DAB_WITH_CHECKS, looks after blocks as in a pool for one thread; see
 * ../pool/pool.h. It has no list of them, so that its messages know less, and no lock.
 *
 * Not for few threads: each call is an atomic operation or two on the same cache line. It does not
 * notice that it ran empty, because nothing is counted.
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
    size_t span_bytes, map_bytes; /* of slots; of the mapping */
    bool huge;
    AB_ALIGNAS(64) uint64_t head; /* number << 40 | (offset / 16 + 1), which is 0 for none */
    AB_ALIGNAS(64) size_t carved; /* bytes handed out so far */
#ifdef AB_WITH_CHECKS
    struct ab_block_list blocks; /* always empty */
    size_t dirty;                /* bytes from here on were not handed out since they were zero */
#endif
};

/* Half as many each time that the system refuses. */
#define AB_POOL_LOCKFREE_USUAL ((size_t)1 << 34)

struct ab_pool_lockfree_options {
    size_t slot_bytes, align; /* as of ab_pool_options */
    size_t n_slots;           /* at most; addresses are reserved for all, pages come on first use.
                                 0 = as many as AB_POOL_LOCKFREE_USUAL addresses hold */
    bool huge;                /* ask for huge pages of 2 MiB */
};

/* 0, EINVAL (an alignment that is no power of two, or `huge` where the kernel has no huge pages),
 * or an errno; *pool is untouched on failure. */
AB_MUST_USE int ab_pool_lockfree_init(struct ab_pool_lockfree *pool,
                                      const struct ab_pool_lockfree_options *options);
/* The checked build lists what was never freed, unless a reset came before. */
void ab_pool_lockfree_fini(struct ab_pool_lockfree *pool);

/* From any thread. NULL when size is larger than a slot, or all are used. */
void *ab_pool_lockfree_alloc(struct ab_pool_lockfree *pool, size_t size);
void *ab_pool_lockfree_alloc_zeroed(struct ab_pool_lockfree *pool, size_t size);
void ab_pool_lockfree_free(struct ab_pool_lockfree *pool, void *block); /* NULL does nothing */
/* size is what the block was asked for with: the checked build looks whether it is. */
void ab_pool_lockfree_free_sized(struct ab_pool_lockfree *pool, void *block, size_t size);
bool ab_pool_lockfree_owns(const struct ab_pool_lockfree *pool, const void *p);

/* While no other thread calls. */
void ab_pool_lockfree_reset(struct ab_pool_lockfree *pool);
/* Gives all pages back if no slot is live. */
void ab_pool_lockfree_purge(struct ab_pool_lockfree *pool);
/* Slots; walks the free ones. */
size_t ab_pool_lockfree_live(const struct ab_pool_lockfree *pool);

/* With the interface of ab_allocator.h, from any thread. NULL for what is larger than a slot. */
AB_ALLOCATOR_DEFINE(ab_pool_lockfree, struct ab_pool_lockfree, ab_pool_lockfree_alloc(heap, size),
                    ab_pool_lockfree_free_sized(heap, ptr, size), NULL)

#ifdef __cplusplus
}
#endif

#endif
