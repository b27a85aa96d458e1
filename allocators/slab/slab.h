/* SPDX-License-Identifier: MIT
 *
 * A general-purpose allocator for one thread. It has size classes from 8 to 4096 bytes, each served
 * from slabs of 64 KiB. Each larger block is a mapping of its own; some freed ones are kept for
 * reuse. slab_shared.h is for several threads. Example: allocators/examples/library_hooks.c.
 *
 * All slabs are in one reserved range of addresses, and their records in a dense array beside it.
 * The slab of a pointer is found by a subtraction and a shift. Headers inside the slabs would all
 * compete for the same cache sets: a free would take 22 ns instead of 4.
 *
 * Can be used on its own: this folder, ../common and ../ab_allocator.h. Needs 64-bit Linux with
 * mmap and pthread.
 *
 * A free block is in one of three places:
 *   hot      recently freed blocks of any slab of the class, last in first out
 *   free     the list of its slab, which shows when the slab is empty
 *   uncarved the part of the slab that was never handed out and is not touched before it is needed
 * A class that runs empty forgets its lists, and its slabs are carved from the start again.
 *
 * A free is not checked: a block that is freed twice is handed out twice. To find wrong frees,
 * compile all files with -DAB_WITH_CHECKS (../common/checked.h).
 *
 * The struct must not be moved while it is open, because large blocks store its address.
 *
 * Do not use it for many blocks slightly larger than 4096 bytes: each takes at least two pages.
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
/* AB_SLABS_PLAIN(name) names a function without checks. Programs call it directly, except in the
 * checked build. There they call a wrapper, which checks and then calls it. */
#ifdef AB_WITH_CHECKS
#define AB_SLABS_PLAIN(name) ab_slabs_plain_##name
#else
#define AB_SLABS_PLAIN(name) ab_slabs_##name
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Spacing of the size classes. POW2: powers of two, which waste a third of the requested bytes on
 * average. FINE: steps of 16 up to 256, then an eighth of a power of two, which waste 6 %. */
enum ab_slab_spacing { AB_SLAB_POW2, AB_SLAB_FINE };
enum { AB_SLAB_CLASSES_MAX = 49, AB_SLAB_LOG2 = 16 };
enum { AB_SLAB_SPARE_PAGES = 64 }; /* larger mappings go back to the system immediately */

#define AB_SLAB_BYTES ((size_t)1 << AB_SLAB_LOG2)
#define AB_SLAB_LARGEST ((size_t)4096) /* bytes of a block of the largest class */

/* Defaults for options that are 0. Empty slabs are kept, because a system call for each makes a
 * free ten times as slow. Use AB_SLAB_KEEP_NOTHING to keep none. */
#define AB_SLAB_RESERVE_USUAL ((size_t)1 << 34) /* halved each time the system refuses */
#define AB_SLAB_KEEP_USUAL ((size_t)1024)
#define AB_SLAB_SPARE_USUAL ((size_t)4 << 20)
#define AB_SLAB_KEEP_NOTHING SIZE_MAX

struct ab_slab_block { /* the link inside a free block */
    struct ab_slab_block *next;
};

struct ab_slab { /* record of one slab: 32 bytes, two a cache line */
    struct ab_slab_block *free;
    /* links in `full` or `partial` of the class; `next` also links empty slabs */
    struct ab_slab *prev, *next;
    uint16_t n_out; /* number of blocks not in `free`: live, hot, or not carved yet */
    uint8_t class_index;
    bool is_zero; /* True if the part that is not carved yet is zero. */
};

/* A size class, in one cache line. Only blocks that leave or enter a slab's own list are counted.
 * Carving a block moves only `next`; freeing or allocating a hot block changes only `hot` and
 * `room`. The class has (out_bytes - (limit - next)) / bytes blocks outside of the lists;
 * (full_bytes / bytes - room) of these are hot. */
struct ab_slab_class {
    struct ab_slab_block *hot;
    char *next, *limit; /* the uncarved part of the current slab is [next, limit) */
    uint32_t room;      /* number of frees until `hot` is full */
    uint32_t bytes;     /* size of a block */
    /* bytes of blocks not in the list of a slab: live, hot, or not carved yet */
    size_t out_bytes;
    size_t full_bytes; /* bytes of hot blocks when `room` is 0 */
    /* `full`: slabs whose list `free` is empty; `partial`: slabs whose list is not */
    struct ab_slab *full, *partial;
};

struct ab_slab_large { /* the header before a large block */
    struct ab_slab_large *prev, *next;
    struct ab_slabs *home;
    char *map;
    size_t map_bytes;
};

struct ab_slabs {
    AB_ALIGNAS(64) struct ab_slab_class classes[AB_SLAB_CLASSES_MAX];
    /* class index by size in steps of 8 bytes, rounded up */
    uint8_t class_of[AB_SLAB_LARGEST / 8 + 1];
    uint8_t n_classes;
    bool is_range_given, huge;
    char *base;               /* start of the reservation, a multiple of AB_SLAB_BYTES */
    size_t span_bytes;        /* size of the reservation */
    struct ab_slab *slabs;    /* one record per slab of the reservation */
    size_t n_fresh;           /* index of the first slab that was never used */
    size_t n_committed;       /* index of the first slab that is still inaccessible */
    struct ab_slab *kept;     /* empty slabs that keep their pages */
    struct ab_slab *returned; /* empty slabs whose pages were given back */
    size_t n_kept, keep_max, n_returned;
    struct ab_slab_large *large;
    size_t n_large, large_bytes, large_map_bytes;
    uint64_t spare_mask; /* bit n: there are spare mappings of n + 1 pages */
    struct ab_slab_large *spare[AB_SLAB_SPARE_PAGES];
    size_t spare_bytes, spare_max_bytes;
    uint64_t n_os_calls;
    /* Number of heaps among which keep_max and spare_max_bytes are divided; atomic. NULL: this heap
     * is the only one. */
    const uint32_t *n_sharing;
    /* For several threads (slab_shared.h); all three are NULL for one thread. `mutex` is the lock
     * that callers hold; it is released around system calls. `leaving` lists empty slabs that wait
     * for such a call. `collect` takes over blocks freed by other threads before new memory is
     * taken; it returns true if there were any. */
    pthread_mutex_t *mutex;
    struct ab_slab *leaving;
    bool (*collect)(struct ab_slabs *slabs);
    AB_CHECKED(struct ab_block_list blocks;)
};

struct ab_slabs_options {
    /* bytes of addresses for slabs, rounded up to whole slabs, without large blocks; 0 =
     * AB_SLAB_RESERVE_USUAL */
    size_t reserve_bytes;
    /* number of empty slabs that keep their pages; 0 = AB_SLAB_KEEP_USUAL, AB_SLAB_KEEP_NOTHING =
     * none */
    size_t keep_max;
    /* bytes of freed large blocks whose mappings are kept; 0 = AB_SLAB_SPARE_USUAL,
     * AB_SLAB_KEEP_NOTHING = none */
    size_t spare_max_bytes;
    enum ab_slab_spacing spacing;
    bool huge; /* ask for huge pages; slabs are then committed at least 2 MiB at a time */
    /* Memory without access, reserve_bytes long, at a multiple of AB_SLAB_BYTES; the caller keeps
     * owning it. NULL: the heap reserves its own range and gives it back. */
    char *range;
};

/* Reserves addresses and commits no memory. Returns 0 or an errno; on failure *slabs is
 * untouched. */
AB_MUST_USE int ab_slabs_init(struct ab_slabs *slabs, const struct ab_slabs_options *options);
/* Returns all memory to the system. The checked build lists the blocks that were never freed,
 * unless there was a reset before. */
void ab_slabs_fini(struct ab_slabs *slabs);

/* Slow paths of the inline functions below. */
void *ab_slabs_alloc_slow(struct ab_slabs *slabs, struct ab_slab_class *c, size_t size);
void *ab_slabs_alloc_odd(struct ab_slabs *slabs, size_t size);
void ab_slabs_settle(struct ab_slabs *slabs, struct ab_slab *slab);

/* Allocates a block aligned to `align`; size need not be a multiple of it. Returns NULL if align is
 * not a power of two, or if memory is exhausted. */
void *ab_slabs_alloc_aligned(struct ab_slabs *slabs, size_t align, size_t size);
/* Allocates a zeroed block. Clears only memory that was handed out before, because fresh pages are
 * zero already. */
void *ab_slabs_alloc_zeroed(struct ab_slabs *slabs, size_t size);
/* Resizes in place within a size class, or within the pages of a large block; otherwise moves the
 * block. Returns NULL on failure and leaves the block as it was. Shrinking never fails. The checked
 * build moves the block whenever there is memory. `block` must not be NULL. */
void *ab_slabs_resize(struct ab_slabs *slabs, void *block, size_t old_size, size_t new_size);
size_t ab_slabs_usable(const struct ab_slabs *slabs, const void *block);
/* True if `p` is where a block of this heap may start, live or not. A program that does not trust a
 * pointer asks this before it frees it. Slow with many large blocks. */
bool ab_slabs_owns(const struct ab_slabs *slabs, const void *p);
/* Ends the life of all blocks. Keeps the pages of at most keep_max empty slabs. */
void ab_slabs_reset(struct ab_slabs *slabs);
/* Returns the pages of all empty slabs and all spare mappings to the system. Moves hot blocks back
 * to their slabs before, so that these may become empty. */
void ab_slabs_purge(struct ab_slabs *slabs);
/* Gives back the slabs that wait for a system call; only for heaps with a mutex. The caller holds
 * the lock, and no other call is in progress. */
void ab_slabs_let_go(struct ab_slabs *slabs);
/* Returns the sum of the usable bytes of all live blocks. */
size_t ab_slabs_live(const struct ab_slabs *slabs);

#ifdef AB_WITH_CHECKS
void *ab_slabs_alloc(struct ab_slabs *slabs, size_t size);
void ab_slabs_free(struct ab_slabs *slabs, void *block);
void ab_slabs_free_sized(struct ab_slabs *slabs, void *block, size_t size);
/* Calls `visit` for every live block, the youngest first. */
void ab_slabs_visit(const struct ab_slabs *slabs,
                    void (*visit)(void *block, size_t size, void *context), void *context);
int ab_slabs_plain_init(struct ab_slabs *slabs, const struct ab_slabs_options *options);
void ab_slabs_plain_fini(struct ab_slabs *slabs);
void *ab_slabs_plain_alloc_aligned(struct ab_slabs *slabs, size_t align, size_t size);
size_t ab_slabs_plain_usable(const struct ab_slabs *slabs, const void *raw);
bool ab_slabs_plain_owns(const struct ab_slabs *slabs, const void *raw);
void ab_slabs_plain_reset(struct ab_slabs *slabs);
#endif

/* Return the usable bytes of a block larger than AB_SLAB_LARGEST, and free such a block. */
size_t ab_slabs_large_usable(const void *block);
void ab_slabs_large_free(struct ab_slabs *slabs, void *block); /* NULL does nothing */

/* Read and write the link inside a free block. ASan and Valgrind see that memory as accessible only
 * meanwhile. */
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

/* Returns the class of a size from 1 to AB_SLAB_LARGEST. */
static inline struct ab_slab_class *ab_slab_class_of(struct ab_slabs *s, size_t size)
{
    return &s->classes[s->class_of[(size + 7) >> 3]];
}

/* True if the block is in a slab. False for a large block and for NULL. */
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
    (void)size; /* only the marks for ASan and Valgrind use it */
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

/* Allocates a block; size 0 gives a block of its own. Returns NULL when memory is exhausted. */
static inline void *AB_SLABS_PLAIN(alloc)(struct ab_slabs *s, size_t size)
{
    if (__builtin_expect(size - 1 >= AB_SLAB_LARGEST, 0))
        return ab_slabs_alloc_odd(s, size);
    return ab_slabs_alloc_from(s, ab_slab_class_of(s, size), size);
}

/* Frees a block that is in a slab. */
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
/* Frees a block. `size` must be the size that it was requested with; the checked build verifies
 * it. */
static inline void ab_slabs_free_sized(struct ab_slabs *s, void *block, size_t size)
{
    (void)size;
    ab_slabs_free(s, block);
}
#endif

/* ---- with the interface of ab_allocator.h ---- */

/* Small requests are rounded up, because blocks of the smallest class are aligned to 8 bytes
 * only. */
AB_ALLOCATOR_DEFINE(ab_slab, struct ab_slabs, ab_slabs_alloc(heap, ab_allocator_least(size)),
                    ab_slabs_free_sized(heap, ptr, ab_allocator_least(size)),
                    ab_slabs_resize(heap, ptr, ab_allocator_least(size),
                                    ab_allocator_least(new_size)))

#ifdef __cplusplus
}
#endif

#endif
