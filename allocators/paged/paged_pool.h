/* SPDX-License-Identifier: MIT
 *
 * A memory pool: one large region that serves blocks of any size from a free list, first fit.
 * Blocks are split when the rest is worth it and merged with free neighbours when they die. A
 * program has a few, each with a name and a budget that it cannot exceed. Usable on its own:
 * paged_pool.h, paged_pool.c, ../common and ../ab_allocator.h. One thread at a time. 64-bit Linux
 * with mmap.
 *
 * Meant to serve large blocks to arenas (paged_arena.h); it serves small ones too, but a search
 * through many small free blocks takes its time. Every block has a header of 16 bytes with a magic
 * number: a free of what is no live block is refused. The first word after a dead block's header
 * and its gap hold the links of the list.
 *
 * -fsanitize=address, -DAB_WITH_VALGRIND and -DAB_WITH_CHECKS as for the arena; the checked build
 * of the pool refuses no wrong free but ends the process.
 */
#ifndef AB_ALLOCATORS_PAGED_POOL_H
#define AB_ALLOCATORS_PAGED_POOL_H

#include "../ab_allocator.h"
#include "../common/language.h"
#include "../common/marks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AB_PAGED_CHECKS AB_CHECKS
/* What is called, or, in the checked build, what is below that. */
#ifdef AB_WITH_CHECKS
#define AB_PAGED_PLAIN(name) ab_paged_pool_plain_##name
#else
#define AB_PAGED_PLAIN(name) ab_paged_pool_##name
#endif

#define AB_PAGED_ALIGN ((size_t)16)
#define AB_PAGED_POOL_MAX ((size_t)1 << 36) /* sizes are kept in 32 bits, in units of 16 */
enum { AB_PAGED_TAGS = 16, AB_PAGED_NAME_MAX = 31 };

struct ab_paged_tag { /* what is live under a tag, 0 … AB_PAGED_TAGS − 1 */
    uint64_t n_blocks, bytes;
};

struct ab_paged_header;

struct ab_paged_pool {
    char *base, *end;
    char *dirty; /* nothing was written from here on: still zero */
    struct ab_paged_header *free;
    size_t live_bytes, live_blocks; /* headers included */
    uint64_t n_os_calls;
    struct ab_paged_tag tags[AB_PAGED_TAGS];
    struct ab_paged_pool *next; /* in a set of pools */
    char name[AB_PAGED_NAME_MAX + 1];
    AB_CHECKED(struct ab_block_list blocks;)
};

/* Maps the region; pages come when they are first written. A longer name is cut. 0, or an errno;
 * *pool is untouched on failure. The pool must not be moved while it is in a set. */
AB_MUST_USE int ab_paged_pool_init(struct ab_paged_pool *pool, const char *name, size_t bytes);
/* The checked build lists what was never freed, unless a reset came before. */
void ab_paged_pool_fini(struct ab_paged_pool *pool);

/* Size 0 gives a block of its own. NULL when no free block is large enough, and for a tag that is
 * not below AB_PAGED_TAGS. */
void *ab_paged_pool_alloc(struct ab_paged_pool *pool, size_t size, unsigned tag);
void *ab_paged_pool_alloc_zeroed(struct ab_paged_pool *pool, size_t size, unsigned tag);
/* align must be a power of two; NULL else. */
void *ab_paged_pool_alloc_aligned(struct ab_paged_pool *pool, size_t align, size_t size,
                                  unsigned tag);
/* In place where the next block is free and large enough, else a copy. NULL leaves the block as
 * it was. */
void *ab_paged_pool_resize(struct ab_paged_pool *pool, void *block, size_t new_size);
/* The same without the copy: false, and the block as it was, where it would take one. */
bool ab_paged_pool_resize_in_place(struct ab_paged_pool *pool, void *block, size_t new_size);
/* False, and nothing done, when it is no live block of this pool. NULL is fine and nothing. */
bool ab_paged_pool_free(struct ab_paged_pool *pool, void *block);
/* What may be used of the block. */
size_t ab_paged_pool_usable(const void *block);
/* All blocks die. Takes time for each, so that their free is refused afterwards. */
void ab_paged_pool_reset(struct ab_paged_pool *pool);
/* Returns the pages inside free blocks to the system. */
void ab_paged_pool_purge(struct ab_paged_pool *pool);

/* Every live block in the order of addresses: what may be used of it, its tag. */
void ab_paged_pool_visit(struct ab_paged_pool *pool,
                         void (*visit)(void *block, size_t bytes, unsigned tag, void *context),
                         void *context);

#ifdef AB_WITH_CHECKS
void ab_paged_pool_free_sized(struct ab_paged_pool *pool, void *block, size_t size);
int ab_paged_pool_plain_init(struct ab_paged_pool *pool, const char *name, size_t bytes);
void ab_paged_pool_plain_fini(struct ab_paged_pool *pool);
void *ab_paged_pool_plain_alloc(struct ab_paged_pool *pool, size_t size, unsigned tag);
void *ab_paged_pool_plain_alloc_aligned(struct ab_paged_pool *pool, size_t align, size_t size,
                                        unsigned tag);
bool ab_paged_pool_plain_resize_in_place(struct ab_paged_pool *pool, void *raw, size_t new_size);
bool ab_paged_pool_plain_free(struct ab_paged_pool *pool, void *raw);
size_t ab_paged_pool_plain_usable(const void *raw);
void ab_paged_pool_plain_reset(struct ab_paged_pool *pool);
#else
/* size is what the block was asked for with: the checked build looks whether it is. */
static inline void ab_paged_pool_free_sized(struct ab_paged_pool *pool, void *block, size_t size)
{
    (void)size;
    (void)ab_paged_pool_free(pool, block);
}
#endif

static inline size_t ab_paged_pool_size(const struct ab_paged_pool *pool)
{
    return (size_t)(pool->end - pool->base);
}

/* ---- pools by name ---- */

struct ab_paged_pools { /* {0} is an empty set */
    struct ab_paged_pool *first;
};

/* Opens a pool under a name of its own; EEXIST, ENAMETOOLONG, or what ab_paged_pool_init says. */
AB_MUST_USE int ab_paged_pools_add(struct ab_paged_pools *pools, struct ab_paged_pool *pool,
                                   const char *name, size_t bytes);
/* NULL when there is none of that name. */
struct ab_paged_pool *ab_paged_pools_find(const struct ab_paged_pools *pools, const char *name);
/* Closes all of them. */
void ab_paged_pools_fini(struct ab_paged_pools *pools);

/* ---- with the interface of ab_allocator.h: blocks are counted under tag 0 ---- */

AB_ALLOCATOR_DEFINE(ab_paged_pool, struct ab_paged_pool, ab_paged_pool_alloc(heap, size, 0),
                    ab_paged_pool_free_sized(heap, ptr, size),
                    ab_paged_pool_resize(heap, ptr, new_size))

#ifdef __cplusplus
}
#endif

#endif
