/* SPDX-License-Identifier: MIT
 *
 * Size classes from 8 to 4096 bytes, each served from slabs of 64 KiB; larger blocks are mappings
 * of their own, some of which are kept for reuse. All slabs are in one reserved range of addresses
 * and their records in a dense array beside it: a pointer finds its slab by a subtraction and a
 * shift, and no two records fight for a cache set, as headers at the same place of every slab would
 * (22 ns a free, not 4). Usable on its own: this folder, ../common and ../ab_allocator.h. One
 * thread at a time; slab_shared.h is for more.
 * 64-bit Linux with mmap and pthread.
 *
 * A free block is in one of three places:
 *   hot    freed lately, last in first out, of any slab of its class: what churn needs
 *   free   list of its slab, which shows when a slab is empty
 *   not carved yet: nothing is touched before it is needed
 * A class that runs empty forgets its lists, and its slabs are carved from the start again.
 *
 * A free is believed, as that of ../pool/pool.h: a block freed twice is served twice. With
 * -DAB_WITH_CHECKS for all files it is not: the checked build, ../common/checked.h.
 *
 * The struct must not be moved while it is open: large blocks know where it is.
 *
 * Not for many blocks a little larger than 4096: each has two pages or more to itself.
 */
#ifndef AB_ALLOCATORS_SLAB_H
#define AB_ALLOCATORS_SLAB_H

#include "../ab_allocator.h"
#include "../common/language.h"
#include "../common/marks.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AB_SLABS_CHECKS AB_CHECKS
/* What is called, or, in the checked build, what is below that. */
#ifdef AB_WITH_CHECKS
#define AB_SLABS_PLAIN(name) ab_slabs_plain_##name
#else
#define AB_SLABS_PLAIN(name) ab_slabs_##name
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Powers of two lose a third of what is asked for, 8 … 256 bytes. Fine: steps of 16 up to 256, then
 * an eighth of a power of two: 6 %. */
enum ab_slab_spacing { AB_SLAB_POW2, AB_SLAB_FINE };
enum { AB_SLAB_CLASSES_MAX = 49, AB_SLAB_LOG2 = 16 };
enum { AB_SLAB_SPARE_PAGES = 64 }; /* larger mappings go back to the system immediately */

#define AB_SLAB_BYTES ((size_t)1 << AB_SLAB_LOG2)
#define AB_SLAB_LARGEST ((size_t)4096) /* of the last class */

/* What an option of 0 stands for: a system call for each empty slab makes a free ten times as dear.
 * Who wants nothing to be kept says so. */
#define AB_SLAB_RESERVE_USUAL ((size_t)1 << 34) /* half as much each time that the system refuses */
#define AB_SLAB_KEEP_USUAL ((size_t)1024)
#define AB_SLAB_SPARE_USUAL ((size_t)4 << 20)
#define AB_SLAB_KEEP_NOTHING SIZE_MAX

struct ab_slab_block { /* inside the free block */
    struct ab_slab_block *next;
};

struct ab_slab { /* record of one slab: 32 bytes, two a cache line */
    struct ab_slab_block *free;
    struct ab_slab *prev, *next; /* in `full` or `partial` of the class; next: empty ones too */
    uint16_t n_out;              /* blocks that are not in `free`: live, hot, or not carved yet */
    uint8_t class_index;
    bool is_zero; /* what is not carved yet is zero */
};

/* One cache line. Only what leaves or enters a slab's own list is counted; carving moves `next` and
 * nothing else, a hot block `room` and nothing else. Blocks out of the lists are
 * (out_bytes - (limit - next)) / bytes, of which (full_bytes / bytes - room) are hot. */
struct ab_slab_class {
    struct ab_slab_block *hot;
    char *next, *limit; /* of the slab that is being carved */
    uint32_t room;      /* frees until hot is full */
    uint32_t bytes;     /* of a block */
    size_t out_bytes;   /* of blocks not in the list of a slab: live, hot, or not carved yet */
    size_t full_bytes;  /* of hot blocks when room is 0 */
    struct ab_slab *full, *partial; /* `free` is empty; is not */
};

struct ab_slab_large { /* before the block */
    struct ab_slab_large *prev, *next;
    struct ab_slabs *home;
    char *map;
    size_t map_bytes;
};

struct ab_slabs {
    AB_ALIGNAS(64) struct ab_slab_class classes[AB_SLAB_CLASSES_MAX];
    uint8_t class_of[AB_SLAB_LARGEST / 8 + 1]; /* by size in steps of 8, rounded up */
    uint8_t n_classes;
    bool is_range_given, huge;
    char *base;               /* the reservation, at a multiple of AB_SLAB_BYTES */
    size_t span_bytes;        /* of it */
    struct ab_slab *slabs;    /* one a slab of the reservation */
    size_t n_fresh;           /* slabs from here on were never used */
    size_t n_committed;       /* slabs from here on are inaccessible */
    struct ab_slab *kept;     /* empty, their pages still there */
    struct ab_slab *returned; /* empty, their pages given back */
    size_t n_kept, keep_max, n_returned;
    struct ab_slab_large *large;
    size_t n_large, large_bytes, large_map_bytes;
    uint64_t spare_mask; /* bit n: there are spare mappings of n + 1 pages */
    struct ab_slab_large *spare[AB_SLAB_SPARE_PAGES];
    size_t spare_bytes, spare_max_bytes;
    uint64_t n_os_calls;
    /* Heaps among which keep_max and spare_max_bytes are divided, atomic; NULL: this is the only
     * one. */
    const uint32_t *n_sharing;
    /* For several threads, see slab_shared.h: the lock that callers hold, let go around system
     * calls; empty slabs that wait for such a call; and where to look for blocks before new memory
     * is taken: true when there were any. NULL all three for one thread. */
    pthread_mutex_t *mutex;
    struct ab_slab *leaving;
    bool (*collect)(struct ab_slabs *slabs);
    AB_CHECKED(struct ab_block_list blocks;)
};

struct ab_slabs_options {
    size_t reserve_bytes; /* addresses for slabs, rounded up to whole ones; large blocks are not
                               among them. 0 = AB_SLAB_RESERVE_USUAL */
    size_t keep_max;      /* empty slabs that may keep their pages; 0 = AB_SLAB_KEEP_USUAL, none =
                               AB_SLAB_KEEP_NOTHING */
    size_t
        spare_max_bytes; /* mappings of freed large blocks that may; 0 = AB_SLAB_SPARE_USUAL, none
                               = AB_SLAB_KEEP_NOTHING */
    enum ab_slab_spacing spacing;
    bool huge;   /* ask for huge pages; 2 MiB of slabs are committed at least */
    char *range; /* reserve_bytes without access, at a multiple of AB_SLAB_BYTES, which stay the
                    caller's; NULL: reserved and given back here */
};

/* Commits nothing. 0, or an errno; *slabs is untouched on failure. */
AB_MUST_USE int ab_slabs_init(struct ab_slabs *slabs, const struct ab_slabs_options *options);
/* Gives everything back to the system. The checked build lists what was never freed, unless a reset
 * came before. */
void ab_slabs_fini(struct ab_slabs *slabs);

/* After the inline fast paths. */
void *ab_slabs_alloc_slow(struct ab_slabs *slabs, struct ab_slab_class *c, size_t size);
void *ab_slabs_alloc_odd(struct ab_slabs *slabs, size_t size);
void ab_slabs_settle(struct ab_slabs *slabs, struct ab_slab *slab);

/* align must be a power of two, size need not be a multiple of it. NULL else, or when exhausted. */
void *ab_slabs_alloc_aligned(struct ab_slabs *slabs, size_t align, size_t size);
/* Clears only what was handed out before: fresh pages are zero already. */
void *ab_slabs_alloc_zeroed(struct ab_slabs *slabs, size_t size);
/* In place within a class, and within the pages of a large block; in the checked build it always
 * moves. NULL leaves the block as it was; shrinking never fails. block is not NULL. */
void *ab_slabs_resize(struct ab_slabs *slabs, void *block, size_t old_size, size_t new_size);
size_t ab_slabs_usable(const struct ab_slabs *slabs, const void *block);
/* A pointer that a block of this heap may have, live or not: what free needs to be safe. Slow with
 * many large blocks. */
bool ab_slabs_owns(const struct ab_slabs *slabs, const void *p);
/* All blocks die. Empty slabs are kept up to the bound. */
void ab_slabs_reset(struct ab_slabs *slabs);
/* Returns the pages of all empty slabs, those that hot blocks hold too, and spare mappings. */
void ab_slabs_purge(struct ab_slabs *slabs);
/* With a mutex: gives back what waits for a system call. Callers hold the lock; nothing else is in
 * progress. */
void ab_slabs_let_go(struct ab_slabs *slabs);
/* Usable bytes of all live blocks. */
size_t ab_slabs_live(const struct ab_slabs *slabs);

#ifdef AB_WITH_CHECKS
void *ab_slabs_alloc(struct ab_slabs *slabs, size_t size);
void ab_slabs_free(struct ab_slabs *slabs, void *block);
void ab_slabs_free_sized(struct ab_slabs *slabs, void *block, size_t size);
/* Every live block, the youngest first. */
void ab_slabs_visit(const struct ab_slabs *slabs,
                    void (*visit)(void *block, size_t size, void *context), void *context);
int ab_slabs_plain_init(struct ab_slabs *slabs, const struct ab_slabs_options *options);
void ab_slabs_plain_fini(struct ab_slabs *slabs);
void *ab_slabs_plain_alloc_aligned(struct ab_slabs *slabs, size_t align, size_t size);
size_t ab_slabs_plain_usable(const struct ab_slabs *slabs, const void *raw);
bool ab_slabs_plain_owns(const struct ab_slabs *slabs, const void *raw);
void ab_slabs_plain_reset(struct ab_slabs *slabs);
#endif

/* Of a block beyond the classes. */
size_t ab_slabs_large_usable(const void *block);
void ab_slabs_large_free(struct ab_slabs *slabs, void *block); /* NULL does nothing */

/* The links of free blocks, which must not be touched elsewhere. */
static inline struct ab_slab_block *ab_slab_next(struct ab_slab_block *block)
{
    AB_MARK_DEFINED(block, sizeof *block);
    struct ab_slab_block *next = block->next;
    AB_MARK_UNUSED(block, sizeof *block);
    return next;
}

static inline void ab_slab_link(struct ab_slab_block *block, struct ab_slab_block *next)
{
    AB_MARK_DEFINED(block, sizeof *block);
    block->next = next;
    AB_MARK_UNUSED(block, sizeof *block);
}

/* The class of a size from 1 to AB_SLAB_LARGEST. */
static inline struct ab_slab_class *ab_slab_class_of(struct ab_slabs *s, size_t size)
{
    return &s->classes[s->class_of[(size + 7) >> 3]];
}

/* False: the block is a large one, or NULL. */
static inline bool ab_slabs_is_small(const struct ab_slabs *s, const void *block)
{
    return (uintptr_t)block - (uintptr_t)s->base < s->span_bytes;
}

static inline struct ab_slab *ab_slab_of(const struct ab_slabs *s, const void *block)
{
    return &s->slabs[((uintptr_t)block - (uintptr_t)s->base) >> AB_SLAB_LOG2];
}

static inline void *ab_slabs_alloc_from(struct ab_slabs *s, struct ab_slab_class *c, size_t size)
{
    struct ab_slab_block *block = c->hot;
    (void)size; /* for the marks only */
    if (block != NULL) {
        c->hot = ab_slab_next(block);
        c->room++;
        AB_MARK_ALLOC(s, block, size);
        return block;
    }
    char *fresh = c->next;
    if (__builtin_expect(fresh == c->limit, 0))
        return ab_slabs_alloc_slow(s, c, size);
    c->next = fresh + c->bytes;
    AB_MARK_ALLOC(s, fresh, size);
    return fresh;
}

/* Size 0 gives a block of its own. NULL when exhausted. */
static inline void *AB_SLABS_PLAIN(alloc)(struct ab_slabs *s, size_t size)
{
    if (__builtin_expect(size - 1 >= AB_SLAB_LARGEST, 0))
        return ab_slabs_alloc_odd(s, size);
    return ab_slabs_alloc_from(s, ab_slab_class_of(s, size), size);
}

/* block is small. */
static inline void ab_slabs_free_small(struct ab_slabs *s, struct ab_slab_block *block)
{
    struct ab_slab *slab = ab_slab_of(s, block);
    struct ab_slab_class *c = &s->classes[slab->class_index];
    AB_MARK_EXPECT(block, AB_SLABS_PLAIN(owns)(s, block));
    AB_MARK_FREE(s, block, c->bytes);
    if (c->room != 0) {
        c->room--;
        ab_slab_link(block, c->hot);
        c->hot = block;
        return;
    }
    struct ab_slab_block *free = slab->free;
    ab_slab_link(block, free);
    slab->free = block;
    slab->n_out--;
    c->out_bytes -= c->bytes;
    if (__builtin_expect(free == NULL || slab->n_out == 0 ||
                             c->out_bytes - (size_t)(c->limit - c->next) == c->full_bytes,
                         0))
        ab_slabs_settle(s, slab);
}

static inline void AB_SLABS_PLAIN(free)(struct ab_slabs *s, void *block)
{
    if (__builtin_expect(ab_slabs_is_small(s, block), 1))
        ab_slabs_free_small(s, (struct ab_slab_block *)block);
    else
        ab_slabs_large_free(s, block);
}

#ifndef AB_WITH_CHECKS
/* size is what the block was asked for with: the checked build looks whether it is. */
static inline void ab_slabs_free_sized(struct ab_slabs *s, void *block, size_t size)
{
    (void)size;
    ab_slabs_free(s, block);
}
#endif

/* ---- with the interface of ab_allocator.h ---- */

/* The smallest class is aligned to its 8 bytes only. */
AB_ALLOCATOR_DEFINE(ab_slab, struct ab_slabs, ab_slabs_alloc(heap, ab_allocator_least(size)),
                    ab_slabs_free_sized(heap, ptr, ab_allocator_least(size)),
                    ab_slabs_resize(heap, ptr, ab_allocator_least(size),
                                    ab_allocator_least(new_size)))

#ifdef __cplusplus
}
#endif

#endif
