/* SPDX-License-Identifier: MIT
 *
 * A memory pool for one thread: one large region that serves blocks of any size from a free list,
 * first fit. A block is split if the rest is large enough for another block; a freed block is
 * merged with its free neighbours. A program has a few pools, each with a name and a budget that it
 * cannot exceed. Can be used on its own: paged_pool.h, paged_pool.c, ../common and
 * ../ab_allocator.h. Needs 64-bit Linux with mmap.
 *
 * The pool is meant for large blocks, which paged_arena.h divides. It serves small blocks too, but
 * a search through many small free blocks is slow. Every block has a header of 16 bytes with a
 * magic number, so that a free of anything but a live block is refused. The links of the free list
 * are inside the free blocks.
 *
 * -fsanitize=address, -DAB_WITH_VALGRIND and -DAB_WITH_CHECKS find mistakes as for the arena
 * (arena.h in ../arena). The checked build does not refuse a wrong free but ends the process.
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
/* AB_PAGED_PLAIN(name) names a function without checks. Programs call it directly, except in the
 * checked build. There they call a wrapper, which checks and then calls it. */
#ifdef AB_WITH_CHECKS
#define AB_PAGED_PLAIN(name) ab_paged_pool_plain_##name
#else
#define AB_PAGED_PLAIN(name) ab_paged_pool_##name
#endif

#define AB_PAGED_ALIGN ((size_t)16)
/* largest pool, because sizes are stored in 32 bits, in units of 16 bytes */
#define AB_PAGED_POOL_MAX ((size_t)1 << 36)
enum { AB_PAGED_TAGS = 16, AB_PAGED_NAME_MAX = 31 };

struct ab_paged_tag { /* the live blocks of one tag; tags are 0 … AB_PAGED_TAGS − 1 */
    uint64_t n_blocks, bytes;
};

struct ab_paged_header;

struct ab_paged_pool {
    char *base, *end;
    char *dirty; /* memory from here on was never written and is still zero */
    struct ab_paged_header *free;
    size_t live_bytes, live_blocks; /* live_bytes includes the headers */
    uint64_t n_os_calls;
    struct ab_paged_tag tags[AB_PAGED_TAGS];
    struct ab_paged_pool *next; /* next pool of the same ab_paged_pools */
    char name[AB_PAGED_NAME_MAX + 1];
    AB_CHECKED(struct ab_block_list blocks;)
};

/* Maps the region; pages come when they are first written. A name that is too long is cut. Returns
 * 0 or an errno; on failure *pool is untouched. The pool must not be moved while it is in a set. */
AB_MUST_USE int ab_paged_pool_init(struct ab_paged_pool *pool, const char *name, size_t bytes);
/* Returns all memory to the system. The checked build lists the blocks that were never freed,
 * unless there was a reset before. */
void ab_paged_pool_fini(struct ab_paged_pool *pool);

/* Allocates a block; size 0 gives a block of its own. Returns NULL if no free block is large
 * enough, or if the tag is not below AB_PAGED_TAGS. */
void *ab_paged_pool_alloc(struct ab_paged_pool *pool, size_t size, unsigned tag);
void *ab_paged_pool_alloc_zeroed(struct ab_paged_pool *pool, size_t size, unsigned tag);
/* Allocates a block aligned to `align`. Returns NULL also if that is not a power of two. */
void *ab_paged_pool_alloc_aligned(struct ab_paged_pool *pool, size_t align, size_t size,
                                  unsigned tag);
/* Resizes in place if the next block is free and large enough, otherwise copies the block. Returns
 * NULL on failure and leaves the block as it was. */
void *ab_paged_pool_resize(struct ab_paged_pool *pool, void *block, size_t new_size);
/* Resizes in place only. Returns false and leaves the block as it was if it would have to move. */
bool ab_paged_pool_resize_in_place(struct ab_paged_pool *pool, void *block, size_t new_size);
/* Frees a block. Returns false and does nothing if it is not a live block of this pool. NULL does
 * nothing and returns true. */
bool ab_paged_pool_free(struct ab_paged_pool *pool, void *block);
/* Returns the usable bytes of a block. */
size_t ab_paged_pool_usable(const void *block);
/* Ends the life of all blocks. Visits each of them, so that a later free of one is refused. */
void ab_paged_pool_reset(struct ab_paged_pool *pool);
/* Returns the pages inside free blocks to the system. */
void ab_paged_pool_purge(struct ab_paged_pool *pool);

/* Calls `visit` for every live block in the order of addresses, with its usable bytes and its tag.
 * The checked build visits the youngest block first, with its requested bytes. */
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
/* Frees a block. `size` must be the size that it was requested with; the checked build verifies
 * it. */
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

struct ab_paged_pools { /* an empty set is {0} */
    struct ab_paged_pool *first;
};

/* Opens a pool under an unused name. Returns 0, EEXIST, ENAMETOOLONG, or an error of
 * ab_paged_pool_init. */
AB_MUST_USE int ab_paged_pools_add(struct ab_paged_pools *pools, struct ab_paged_pool *pool,
                                   const char *name, size_t bytes);
/* Returns the pool of that name, or NULL if there is none. */
struct ab_paged_pool *ab_paged_pools_find(const struct ab_paged_pools *pools, const char *name);
/* Closes all pools of the set. */
void ab_paged_pools_fini(struct ab_paged_pools *pools);

/* ---- with the interface of ab_allocator.h: blocks are counted under tag 0 ---- */

AB_ALLOCATOR_DEFINE(ab_paged_pool, struct ab_paged_pool, ab_paged_pool_alloc(heap, size, 0),
                    ab_paged_pool_free_sized(heap, ptr, size),
                    ab_paged_pool_resize(heap, ptr, new_size))

#ifdef __cplusplus
}
#endif

#endif
