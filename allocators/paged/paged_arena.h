/* SPDX-License-Identifier: MIT
 *
 * An arena of linked pages from a memory pool: it begins with one, takes another when it is full,
 * and `clear` gives back all but the first. The last block allocated can be given back (`pop`).
 *
 * A growing vector is what it is good at. The last block of a page grows in place, and where the
 * page is full the page itself does, within the pool. Only where another block of the pool follows
 * it the vector moves, into a page that holds twice as much; a page that held nothing else
 * goes back to the pool immediately. So a vector that grows to n bytes in small steps moves O(log n)
 * times at most, and holds 2n at most once it has moved.
 *
 * Usable on its own: paged_*.[ch], ../common and ../ab_allocator.h. One thread at a time.
 *
 * It differs from arena.h in that several share one budget, and none needs to know how large it
 * will become. The fast path is inline: one comparison, one addition.
 */
#ifndef AB_ALLOCATORS_PAGED_ARENA_H
#define AB_ALLOCATORS_PAGED_ARENA_H

#include "../ab_allocator.h"
#include "../common/language.h"
#include "../common/marks.h"
#include "paged_pool.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AB_PAGED_GAP (AB_PAGED_CHECKS ? AB_MARK_GAP : (size_t)0)

struct ab_paged_page { /* in front of each page's bytes */
    uint32_t magic;
    uint32_t serial;             /* pages above have larger ones: what a save point is bound to */
    struct ab_paged_page *below; /* the one before it; NULL: the first */
    size_t bytes;                /* with this header */
    size_t used;                 /* set when another page goes on top */
};

struct ab_paged_arena {
    char *next, *limit; /* in the top page */
    struct ab_paged_page *top;
    struct ab_paged_pool *pool;
    size_t page_bytes;
    size_t used_below;          /* in the pages under the top one */
    size_t held_bytes, n_pages; /* from the pool */
    uint32_t first_serial;      /* of the first page; renewed by a clear */
    unsigned pool_tag;          /* what the pool counts them under */
    struct ab_paged_tag tags[AB_PAGED_TAGS];
};

/* Takes the first page. page_bytes 0 = 64 KiB; larger requests get a page of their size. 0, or
 * ENOMEM when the pool has none; *arena is untouched then. */
AB_MUST_USE int ab_paged_arena_init(struct ab_paged_arena *arena, struct ab_paged_pool *pool,
                                    size_t page_bytes, unsigned pool_tag);
/* Gives all pages back to the pool. */
void ab_paged_arena_fini(struct ab_paged_arena *arena);

/* Another page; NULL when the pool has none. */
void *ab_paged_arena_take_slow(struct ab_paged_arena *arena, size_t align, size_t size);
/* align must be a power of two; NULL else. */
void *ab_paged_arena_alloc_aligned(struct ab_paged_arena *arena, size_t align, size_t size);
void *ab_paged_arena_alloc_zeroed(struct ab_paged_arena *arena, size_t size);
/* Counted under a tag, 1 … AB_PAGED_TAGS − 1; tag 0 is not counted, here and below. */
void *ab_paged_arena_alloc_tagged(struct ab_paged_arena *arena, size_t size, unsigned tag);
/* In place where the block shrinks, or is the last of the top page, or of a page not far below it,
 * and the page has room or can grow; else a copy, aligned as any block. NULL leaves the block as it
 * was. */
void *ab_paged_arena_resize(struct ab_paged_arena *arena, void *block, size_t old_size,
                            size_t new_size, unsigned tag);
/* Gives the block back when it is on top; else it stays until the next clear, and this is false.
 * The padding in front of an aligned block stays. */
bool ab_paged_arena_pop(struct ab_paged_arena *arena, void *block, size_t size, unsigned tag);
/* All blocks die; the arena keeps its first page. Tags are at 0 again. */
void ab_paged_arena_clear(struct ab_paged_arena *arena);
/* A save point; restoring it kills all younger blocks, whose tags stay counted until the next
 * clear. A block that a resize has moved since is a younger one; one that grew in place loses what
 * it gained. One that is ahead of the arena, or older than the last clear, is ignored. */
uint64_t ab_paged_arena_save(const struct ab_paged_arena *arena);
void ab_paged_arena_restore(struct ab_paged_arena *arena, uint64_t mark);

static inline char *ab_paged_page_begin(struct ab_paged_page *page)
{
    return (char *)(page + 1);
}

/* Sum of all blocks with padding and gaps. */
static inline size_t ab_paged_arena_used(const struct ab_paged_arena *a)
{
    return a->used_below + (size_t)(a->next - ab_paged_page_begin(a->top));
}

/* Only for sizes that were compared with the room. */
static inline size_t ab_paged_bytes(size_t size)
{
    return ((size - (size != 0)) | (AB_PAGED_ALIGN - 1)) + 1 + AB_PAGED_GAP;
}

static inline void *ab_paged_born(struct ab_paged_arena *a, void *block, size_t size)
{
    (void)a;
    if (block != NULL && (AB_MARKS || AB_PAGED_CHECKS)) {
        AB_MARK_DEFINED(block, size);
        if (AB_PAGED_CHECKS)
            memset(block, 0xCD, size);
        AB_MARK_ALLOC(a->top, block, size); /* each block a set of its own */
    }
    return block;
}

/* Size 0 gives a block of its own. NULL when the pool is exhausted. */
static inline void *ab_paged_arena_alloc(struct ab_paged_arena *a, size_t size)
{
    size_t last = size - (size != 0), room = (size_t)(a->limit - a->next);
    char *block = a->next;
    if (__builtin_expect(last >= room || (AB_PAGED_GAP != 0 && room - last <= AB_PAGED_GAP), 0))
        return ab_paged_born(a, ab_paged_arena_take_slow(a, AB_PAGED_ALIGN, size), size);
    a->next = block + ab_paged_bytes(size);
    return ab_paged_born(a, block, size);
}

/* ---- with the interface of ab_allocator.h: free is a pop ---- */

static inline void *ab_paged_client_alloc(size_t size, void *context)
{
    return size == 0 ? NULL : ab_paged_arena_alloc((struct ab_paged_arena *)context, size);
}

static inline void ab_paged_client_free(size_t size, void *ptr, void *context)
{
    ab_paged_arena_pop((struct ab_paged_arena *)context, ptr, size, 0);
}

static inline struct ab_allocator ab_paged_allocator(struct ab_paged_arena *arena)
{
    struct ab_allocator allocator = {ab_paged_client_alloc, ab_paged_client_free, arena};
    return allocator;
}

#ifdef __cplusplus
}
#endif

#endif
