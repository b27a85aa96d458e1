/* SPDX-License-Identifier: MIT
 *
 * An arena of linked pages from a memory pool, for one thread. The arena begins with one page,
 * takes another when it is full, and `clear` gives back all but the first. The last block allocated
 * can be given back (`pop`). The fast path is inline: one comparison, one addition.
 *
 * Unlike the arenas of arena.h, several paged arenas share one budget, and none needs to know how
 * large it will become.
 *
 * A paged arena is good at growing vectors. The last block of a page grows in place, and if the
 * page is full, the page itself grows within the pool. The vector moves only if another block of
 * the pool follows its page. It then moves to a page that holds twice as much; a page that held
 * nothing else goes back to the pool immediately. So a vector that grows to n bytes in small steps
 * moves at most O(log n) times. It holds at most 2n bytes once it has moved.
 *
 * Blocks can be counted under tags with names (AB_PAGED_NEW_NAMED), which cost 16 bytes per block.
 * The count follows a block through resize, pop, restore and clear; ab_paged_arena_report
 * (paged_report.h) shows it. paged_ready.h opens the arenas of a game by name.
 *
 * Can be used on its own: paged_*.[ch], ../common and ../ab_allocator.h. Needs 64-bit Linux with
 * mmap.
 */
#ifndef AB_ALLOCATORS_PAGED_ARENA_H
#define AB_ALLOCATORS_PAGED_ARENA_H

#include "paged_pool.h"

#include <string.h>

/* bytes that the checked build adds before a block; AB_PAGED_GAP: bytes after a block */
#define AB_PAGED_FRONT AB_CHECKED_FRONT
#define AB_PAGED_GAP AB_CHECKED_GAP

#ifdef __cplusplus
extern "C" {
#endif

struct ab_paged_page { /* the header of each page */
    uint32_t magic;
    /* serial number of the page, larger than those of the pages below; save points refer to it */
    uint32_t serial;
    struct ab_paged_page *below; /* the page below; NULL for the first page */
    size_t bytes;                /* size of the page, with this header */
    size_t used;                 /* bytes used by blocks; set when another page goes on top */
#ifdef AB_WITH_CHECKS
    char *dead_end; /* memory after the blocks is filled with 0xDD up to here */
    uint64_t unused;
#endif
};

/* Counts of a tag; n_blocks and bytes are those of its live blocks. */
struct ab_paged_tag_count {
    const char *name; /* not copied; NULL = the tag has no name */
    uint64_t n_blocks, bytes;
    /* n_all: number of allocations so far; peak_bytes: highest value of `bytes` so far */
    uint64_t n_all, peak_bytes;
    size_t align;             /* largest alignment that was requested */
    uint32_t name_hash, next; /* next: next tag in the same bucket, or 0 */
};

struct ab_paged_tagged;

enum {
    AB_PAGED_BUCKETS = 64,
    AB_PAGED_TAGS_MAX = 65535, /* maximum number of names of an arena */
};

struct ab_paged_arena {
    char *next, *limit; /* free memory of the top page: [next, limit) */
    struct ab_paged_page *top;
    struct ab_paged_pool *pool;
    size_t page_bytes;
    size_t used_below; /* bytes used in the pages below the top page */
    /* held_bytes, n_pages: bytes and number of the pages taken from the pool */
    size_t held_bytes, n_pages;
    uint32_t first_serial;          /* serial of the first page; renewed by a clear */
    unsigned pool_tag;              /* tag under which the pool counts the pages */
    struct ab_paged_tagged *tagged; /* the youngest block with a tag */
    struct ab_paged_tag_count tags[AB_PAGED_TAGS];
    /* counts of the tags from AB_PAGED_TAGS on, in a block of the pool */
    struct ab_paged_tag_count *more;
    unsigned n_more, more_capacity;
    uint32_t buckets[AB_PAGED_BUCKETS]; /* the first tag of each bucket; 0 = none */
    AB_CHECKED(struct ab_block_list blocks;)
};

/* Opens an arena and takes its first page. page_bytes 0 = 64 KiB; larger requests get a page of
 * their size. Returns 0, or ENOMEM if the pool has no page; *arena is then untouched. */
AB_MUST_USE int ab_paged_arena_init(struct ab_paged_arena *arena, struct ab_paged_pool *pool,
                                    size_t page_bytes, unsigned pool_tag);
/* Returns all pages to the pool. */
void ab_paged_arena_fini(struct ab_paged_arena *arena);

/* Slow path of ab_paged_arena_alloc: takes another page. Returns NULL if the pool has none. */
void *ab_paged_arena_take_slow(struct ab_paged_arena *arena, size_t align, size_t size);
/* Allocates a block aligned to `align`. Returns NULL if that is not a power of two, or if the pool
 * is exhausted. */
void *ab_paged_arena_alloc_aligned(struct ab_paged_arena *arena, size_t align, size_t size);
void *ab_paged_arena_alloc_zeroed(struct ab_paged_arena *arena, size_t size);

/* Returns the tag of that name: an existing one, or the next unused tag. There may be up to
 * AB_PAGED_TAGS_MAX names; from the 16th on, they take memory of the pool. The name is not copied.
 * Returns 0 if there is no memory for one more name. */
unsigned ab_paged_arena_tag(struct ab_paged_arena *arena, const char *name);
/* Allocates a block that is counted under a tag, which must have a name or be below AB_PAGED_TAGS.
 * Tag 0 is not counted, here and below. Returns NULL for any other tag, for an alignment that is
 * not a power of two, and if the pool is exhausted. */
void *ab_paged_arena_alloc_tagged(struct ab_paged_arena *arena, size_t size, unsigned tag);
void *ab_paged_arena_push(struct ab_paged_arena *arena, size_t align, size_t size, unsigned tag);
/* Allocate n objects of each_bytes, uninitialized or zero. */
void *ab_paged_arena_push_array(struct ab_paged_arena *arena, size_t align, size_t n,
                                size_t each_bytes, unsigned tag);
void *ab_paged_arena_push_array_zeroed(struct ab_paged_arena *arena, size_t align, size_t n,
                                       size_t each_bytes, unsigned tag);
/* Allocate under the tag of that name, which is created if it does not exist. If there is no memory
 * for one more name, the block is not counted. For pop and resize use ab_paged_arena_tag(arena,
 * name). */
void *ab_paged_arena_push_named(struct ab_paged_arena *arena, size_t align, size_t size,
                                const char *name);
void *ab_paged_arena_push_array_named(struct ab_paged_arena *arena, size_t align, size_t n,
                                      size_t each_bytes, const char *name);
#define AB_PAGED_NEW_NAMED(arena, type, name) \
    ((type *)ab_paged_arena_push_named((arena), AB_ALIGNOF(type), sizeof(type), (name)))
#define AB_PAGED_ARRAY_NAMED(arena, type, n, name) \
    ((type *)ab_paged_arena_push_array_named((arena), AB_ALIGNOF(type), (n), sizeof(type), (name)))
#define AB_PAGED_NEW(arena, type, tag) \
    ((type *)ab_paged_arena_push((arena), AB_ALIGNOF(type), sizeof(type), (tag)))
#define AB_PAGED_ARRAY(arena, type, n, tag) \
    ((type *)ab_paged_arena_push_array((arena), AB_ALIGNOF(type), (n), sizeof(type), (tag)))
#define AB_PAGED_ARRAY_ZEROED(arena, type, n, tag) \
    ((type *)ab_paged_arena_push_array_zeroed((arena), AB_ALIGNOF(type), (n), sizeof(type), (tag)))

/* Resizes a block. It stays in place if it shrinks, or if it is the last block of a page near the
 * top and that page has room or can grow. Otherwise it is copied, with the default alignment.
 * Returns NULL and leaves the block as it was if memory is exhausted, or if the tag is not the
 * block's. */
void *ab_paged_arena_resize(struct ab_paged_arena *arena, void *block, size_t old_size,
                            size_t new_size, unsigned tag);
/* Frees the block if it is the last one and has that tag; otherwise returns false and keeps it. The
 * padding in front of an aligned block stays. */
bool ab_paged_arena_pop(struct ab_paged_arena *arena, void *block, size_t size, unsigned tag);
/* Ends the life of all blocks; the arena keeps its first page. */
void ab_paged_arena_clear(struct ab_paged_arena *arena);
/* A save point. Restoring it ends the life of all younger blocks. A block that a resize has moved
 * since counts as younger; one that grew in place loses the bytes it gained. A save point that is
 * ahead of the arena, or older than the last clear, is ignored. The checked build reports all save
 * points that are no longer valid. */
struct ab_paged_mark {
    uint64_t place;
    uint32_t arena_id, serial; /* used in the checked build, otherwise 0 */
};
struct ab_paged_mark ab_paged_arena_save(const struct ab_paged_arena *arena);
void ab_paged_arena_restore(struct ab_paged_arena *arena, struct ab_paged_mark mark);
/* Restores a place without the checks of ab_paged_arena_restore, for callers that store places
 * themselves. */
void ab_paged_arena_restore_place(struct ab_paged_arena *arena, uint64_t place);

#ifdef AB_WITH_CHECKS
void *ab_paged_checked_born(struct ab_paged_arena *arena, void *block, size_t size);
#endif

/* Returns the number of tags that exist; their numbers begin at 0. */
static inline unsigned ab_paged_arena_tags(const struct ab_paged_arena *arena)
{
    return AB_PAGED_TAGS + arena->n_more;
}

/* Returns the counts of a tag, which must be below ab_paged_arena_tags(). */
static inline const struct ab_paged_tag_count *ab_paged_arena_tag_count(
    const struct ab_paged_arena *arena, unsigned tag)
{
    return tag < AB_PAGED_TAGS ? &arena->tags[tag] : &arena->more[tag - AB_PAGED_TAGS];
}

static inline char *ab_paged_page_begin(struct ab_paged_page *page)
{
    return (char *)(page + 1);
}

/* Returns the sum of the bytes of all blocks, with padding and gaps. */
static inline size_t ab_paged_arena_used(const struct ab_paged_arena *a)
{
    return a->used_below + (size_t)(a->next - ab_paged_page_begin(a->top));
}

/* Returns the bytes that a block of `size` takes. Call it only for a size that fits the room,
 * because the rounding can overflow. */
static inline size_t ab_paged_bytes(size_t size)
{
    return ((size - (size != 0)) | (AB_PAGED_ALIGN - 1)) + 1 + AB_PAGED_GAP;
}

AB_CHECKED_INLINE static inline void *ab_paged_born(struct ab_paged_arena *a, void *block,
                                                    size_t size)
{
    (void)a, (void)size;
#ifdef AB_WITH_CHECKS
    return ab_paged_checked_born(a, block, size);
#else
    if (AB_MARKS && block != NULL) {
        AB_MARK_DEFINED(block, size);
        /* To Valgrind each page is a pool of its own; the block is in the top page. */
        AB_MARK_ALLOC(a->top, block, size);
    }
    return block;
#endif
}

/* Allocates a block; size 0 gives a block of its own. Returns NULL when the pool is exhausted. */
AB_CHECKED_INLINE static inline void *ab_paged_arena_alloc(struct ab_paged_arena *a, size_t size)
{
    if (AB_CHECKS)
        return ab_paged_born(a, ab_paged_arena_take_slow(a, AB_PAGED_ALIGN, size), size);
    size_t last = size - (size != 0), room = (size_t)(a->limit - a->next);
    char *block = a->next;
    if (__builtin_expect(last >= room, 0))
        return ab_paged_born(a, ab_paged_arena_take_slow(a, AB_PAGED_ALIGN, size), size);
    a->next = block + ab_paged_bytes(size);
    return ab_paged_born(a, block, size);
}

/* ---- with the interface of ab_allocator.h: free is a pop ---- */

AB_ALLOCATOR_DEFINE(ab_paged, struct ab_paged_arena, ab_paged_arena_alloc(heap, size),
                    (void)ab_paged_arena_pop(heap, ptr, size, 0),
                    ab_paged_arena_resize(heap, ptr, size, new_size, 0))

#ifdef __cplusplus
}
#endif

#endif
