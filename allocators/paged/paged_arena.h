/* SPDX-License-Identifier: MIT
 *
 * An arena of linked pages from a memory pool: it begins with one, takes another when it is full,
 * and `clear` gives back all but the first. The last block allocated can be given back (`pop`).
 *
 * A growing vector is what it is good at. The last block of a page grows in place, and where the
 * page is full the page itself does, within the pool. Only where another block of the pool follows
 * it the vector moves, into a page that holds twice as much; a page that held nothing else
 * goes back to the pool immediately. So a vector that grows to n bytes in small steps moves O(log
 * n) times at most, and holds 2n at most once it has moved.
 *
 * What is allocated can be counted under tags with names (AB_PAGED_NEW_NAMED), which cost 16 bytes
 * a block, follow it through resize, pop, restore and clear, and are shown by
 * ab_paged_arena_report (paged_report.h). paged_ready.h opens the arenas of a game by name.
 *
 * Usable on its own: paged_*.[ch], ../common and ../ab_allocator.h. One thread at a time.
 * 64-bit Linux with mmap.
 *
 * It differs from arena.h in that several share one budget, and none needs to know how large it
 * will become. The fast path is inline: one comparison, one addition.
 */
#ifndef AB_ALLOCATORS_PAGED_ARENA_H
#define AB_ALLOCATORS_PAGED_ARENA_H

#include "paged_pool.h"

#include <string.h>

#define AB_PAGED_FRONT AB_CHECKED_FRONT /* what the checked build has around a block */
#define AB_PAGED_GAP AB_CHECKED_GAP

#ifdef __cplusplus
extern "C" {
#endif

struct ab_paged_page { /* in front of each page's bytes */
    uint32_t magic;
    uint32_t serial;             /* pages above have larger ones: what a save point is bound to */
    struct ab_paged_page *below; /* the one before it; NULL: the first */
    size_t bytes;                /* with this header */
    size_t used;                 /* set when another page goes on top */
#ifdef AB_WITH_CHECKS
    char *dead_end; /* what follows its blocks is filled with 0xDD up to there */
    uint64_t unused;
#endif
};

/* What is live under a tag. */
struct ab_paged_tag_count {
    const char *name; /* not copied; NULL: it has none */
    uint64_t n_blocks, bytes;
    uint64_t n_all, peak_bytes; /* since the arena was opened */
    size_t align;               /* the largest that was asked for */
    uint32_t name_hash, next;   /* next: of the same bucket, or 0 */
};

struct ab_paged_tagged;

enum {
    AB_PAGED_BUCKETS = 64,
    AB_PAGED_TAGS_MAX = 65535, /* names of an arena */
};

struct ab_paged_arena {
    char *next, *limit; /* in the top page */
    struct ab_paged_page *top;
    struct ab_paged_pool *pool;
    size_t page_bytes;
    size_t used_below;              /* in the pages under the top one */
    size_t held_bytes, n_pages;     /* from the pool */
    uint32_t first_serial;          /* of the first page; renewed by a clear */
    unsigned pool_tag;              /* what the pool counts them under */
    struct ab_paged_tagged *tagged; /* the youngest block with a tag */
    struct ab_paged_tag_count tags[AB_PAGED_TAGS];
    struct ab_paged_tag_count *more; /* tags from AB_PAGED_TAGS on, in a block of the pool */
    unsigned n_more, more_capacity;
    uint32_t buckets[AB_PAGED_BUCKETS]; /* the first tag of each; 0: none */
    AB_CHECKED(struct ab_block_list blocks;)
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

/* Returns the tag of that name: the one it has, or the next that is not used. Any number of names,
 * up to AB_PAGED_TAGS_MAX; from the 16th on they take memory of the pool. The name is kept by its
 * address. 0 when there is no memory for one more. */
unsigned ab_paged_arena_tag(struct ab_paged_arena *arena, const char *name);
/* Counted under a tag that has a name, or one below AB_PAGED_TAGS; tag 0 is not counted, here and
 * below. NULL for another tag, for an alignment that is no power of two, and when the pool has no
 * memory. */
void *ab_paged_arena_alloc_tagged(struct ab_paged_arena *arena, size_t size, unsigned tag);
void *ab_paged_arena_push(struct ab_paged_arena *arena, size_t align, size_t size, unsigned tag);
/* n objects of each_bytes, zero or as they are. */
void *ab_paged_arena_push_array(struct ab_paged_arena *arena, size_t align, size_t n,
                                size_t each_bytes, unsigned tag);
void *ab_paged_arena_push_array_zeroed(struct ab_paged_arena *arena, size_t align, size_t n,
                                       size_t each_bytes, unsigned tag);
/* The same by the name of the tag, which need not be known before. Where there is no memory for one
 * more name the block is not counted. For pop and resize: ab_paged_arena_tag(arena, name). */
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

/* In place where the block shrinks, or is the last of the top page, or of a page not far below it,
 * and the page has room or can grow; else a copy, aligned as any block. NULL leaves the block as it
 * was; so does another tag than the one it was allocated with. */
void *ab_paged_arena_resize(struct ab_paged_arena *arena, void *block, size_t old_size,
                            size_t new_size, unsigned tag);
/* Gives the block back when it is on top and has that tag; else it stays, and this is false.
 * The padding in front of an aligned block stays. */
bool ab_paged_arena_pop(struct ab_paged_arena *arena, void *block, size_t size, unsigned tag);
/* All blocks die; the arena keeps its first page. */
void ab_paged_arena_clear(struct ab_paged_arena *arena);
/* A save point; restoring it kills all younger blocks. A block that a resize has moved since is a
 * younger one; one that grew in place loses what it gained. One that is ahead of the arena, or
 * older than the last clear, is ignored; the checked build reports any that is not valid any
 * more. */
struct ab_paged_mark {
    uint64_t place;
    uint32_t arena_id, serial; /* in the checked build, else 0 */
};
struct ab_paged_mark ab_paged_arena_save(const struct ab_paged_arena *arena);
void ab_paged_arena_restore(struct ab_paged_arena *arena, struct ab_paged_mark mark);
/* What restore does, for who keeps places himself: nothing more is looked at. */
void ab_paged_arena_restore_place(struct ab_paged_arena *arena, uint64_t place);

#ifdef AB_WITH_CHECKS
void *ab_paged_checked_born(struct ab_paged_arena *arena, void *block, size_t size);
#endif

/* Returns how many tags there are: all are smaller. */
static inline unsigned ab_paged_arena_tags(const struct ab_paged_arena *arena)
{
    return AB_PAGED_TAGS + arena->n_more;
}

/* Returns what is counted under a tag below ab_paged_arena_tags(). */
static inline const struct ab_paged_tag_count *ab_paged_arena_tag_count(
    const struct ab_paged_arena *arena, unsigned tag)
{
    return tag < AB_PAGED_TAGS ? &arena->tags[tag] : &arena->more[tag - AB_PAGED_TAGS];
}

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

AB_CHECKED_INLINE static inline void *ab_paged_born(struct ab_paged_arena *a, void *block,
                                                    size_t size)
{
    (void)a, (void)size;
#ifdef AB_WITH_CHECKS
    return ab_paged_checked_born(a, block, size);
#else
    if (AB_MARKS && block != NULL) {
        AB_MARK_DEFINED(block, size);
        AB_MARK_ALLOC(a->top, block, size); /* each block a set of its own */
    }
    return block;
#endif
}

/* Size 0 gives a block of its own. NULL when the pool is exhausted. */
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
