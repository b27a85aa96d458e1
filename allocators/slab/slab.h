/* SPDX-License-Identifier: MIT
 *
 * Size classes in powers of two, 8 … 4096, each served from slabs of 64 KiB; larger blocks are
 * mappings of their own, some of which are kept for reuse. All slabs lie in one reserved range of addresses and their records in a
 * dense array beside it: a pointer finds its slab by a subtraction and a shift, and no two records
 * fight for a cache set, as headers at the same place of every slab would (22 ns a free, not 4).
 * Usable on its own: copy slab.h, slab.c, slab_large.c and ../os_map.h. One thread at a time.
 *
 * A free block is in one of three places:
 *   hot    freed lately, last in first out, of any slab of its class: what churn needs
 *   free   list of its slab, which tells when a slab is empty
 *   not carved yet: nothing is touched before it is needed
 * A class that runs empty forgets its lists, and its slabs are carved from the start again.
 *
 * Not for many blocks a little larger than 4096: each has two pages or more to itself.
 */
#ifndef AB_ALLOCATORS_SLAB_H
#define AB_ALLOCATORS_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AB_SLAB_CLASSES = 10, AB_SLAB_SMALLEST_LOG2 = 3, AB_SLAB_LOG2 = 16 };
enum { AB_SLAB_SPARE_PAGES = 64 }; /* larger mappings go back to the system at once */

#define AB_SLAB_BYTES ((size_t)1 << AB_SLAB_LOG2)
#define AB_SLAB_LARGEST ((size_t)4096) /* of the last class */

struct ab_slab_block { /* lies inside the free block */
    struct ab_slab_block *next;
};

struct ab_slab { /* record of one slab: 32 bytes, two a cache line */
    struct ab_slab_block *free;
    struct ab_slab *prev, *next; /* in `full` or `partial` of the class; next: empty ones too */
    uint16_t n_out;              /* blocks that are not in `free`: live, hot, or not carved yet */
    uint8_t class;
    bool is_zero; /* what is not carved yet is zero */
};

struct ab_slab_class { /* one cache line */
    struct ab_slab_block *hot;
    char *next, *limit;        /* of the slab that is being carved */
    struct ab_slab_block *run; /* the free list of a partial slab, taken over whole */
    uint32_t n_hot, hot_max;
    size_t n_out;                   /* blocks that are live or hot */
    struct ab_slab *full, *partial; /* `free` is empty; is not */
};

struct ab_slab_large { /* lies before the block */
    struct ab_slab_large *prev, *next;
    char *map;
    size_t map_bytes;
};

struct ab_slabs {
    _Alignas(64) struct ab_slab_class classes[AB_SLAB_CLASSES];
    char *base;           /* the reservation, at a multiple of AB_SLAB_BYTES */
    size_t span_bytes;    /* of it */
    struct ab_slab *slabs; /* one a slab of the reservation */
    size_t n_fresh;       /* slabs from here on were never used */
    size_t n_committed;   /* slabs from here on are inaccessible */
    struct ab_slab *kept; /* empty, their pages still there */
    struct ab_slab *returned; /* empty, their pages given back */
    size_t n_kept, keep_max, n_returned;
    struct ab_slab_large *large;
    size_t n_large, large_bytes, large_map_bytes;
    uint64_t spare_mask; /* bit n: there are spare mappings of n + 1 pages */
    struct ab_slab_large *spare[AB_SLAB_SPARE_PAGES];
    size_t spare_bytes, spare_max_bytes;
    uint64_t n_os_calls;
};

/* Reserves addresses for slabs, rounded up to whole ones; large blocks are not among them. Commits
 * nothing. keep_max: empty slabs that may keep their pages; spare_max_bytes: mappings of freed
 * large blocks that may. 0, or an errno; *slabs is untouched on failure. */
int ab_slabs_init(struct ab_slabs *slabs, size_t reserve_bytes, size_t keep_max,
                  size_t spare_max_bytes);
/* Gives everything back to the system. */
void ab_slabs_fini(struct ab_slabs *slabs);

/* Behind the inline fast paths. */
void *ab_slabs_alloc_slow(struct ab_slabs *slabs, struct ab_slab_class *class);
void *ab_slabs_alloc_odd(struct ab_slabs *slabs, size_t size);
void ab_slabs_settle(struct ab_slabs *slabs, struct ab_slab *slab);
void ab_slabs_class_idle(struct ab_slabs *slabs, struct ab_slab_class *class);

/* align must be a power of two, size need not be a multiple of it. NULL else, or when exhausted. */
void *ab_slabs_alloc_aligned(struct ab_slabs *slabs, size_t align, size_t size);
/* Clears only what was handed out before: fresh pages are zero already. */
void *ab_slabs_alloc_zeroed(struct ab_slabs *slabs, size_t size);
/* In place within a class, and within the pages of a large block. NULL leaves the block as it was;
 * shrinking never fails. block is not NULL. */
void *ab_slabs_resize(struct ab_slabs *slabs, void *block, size_t old_size, size_t new_size);
size_t ab_slabs_usable(const struct ab_slabs *slabs, const void *block);
/* All blocks die. Empty slabs are kept up to the bound. */
void ab_slabs_reset(struct ab_slabs *slabs);
/* Returns the pages of all empty slabs, those that hot blocks hold too, and spare mappings. */
void ab_slabs_purge(struct ab_slabs *slabs);
/* Usable bytes of all live blocks. */
size_t ab_slabs_live(const struct ab_slabs *slabs);

/* slab_large.c; align 0 = the natural one. */
void *ab_slabs_large_alloc(struct ab_slabs *slabs, size_t align, size_t size, bool zeroed);
void *ab_slabs_large_resize(struct ab_slabs *slabs, void *block, size_t new_size);
size_t ab_slabs_large_usable(const void *block);
void ab_slabs_large_free(struct ab_slabs *slabs, void *block); /* NULL does nothing */
void ab_slabs_large_purge(struct ab_slabs *slabs);

/* The class of a size from 1 to AB_SLAB_LARGEST. */
static inline unsigned ab_slab_class_of(size_t size)
{
    unsigned log2 = (unsigned)__builtin_clzll((size - 1) | 7) ^ 63; /* one bsr */
    return log2 + 1 - AB_SLAB_SMALLEST_LOG2;
}

static inline size_t ab_slab_class_bytes(unsigned class)
{
    return (size_t)1 << (AB_SLAB_SMALLEST_LOG2 + class);
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

/* Size 0 gives a block of its own. NULL when exhausted. */
static inline void *ab_slabs_alloc(struct ab_slabs *s, size_t size)
{
    if (__builtin_expect(size - 1 >= AB_SLAB_LARGEST, 0))
        return ab_slabs_alloc_odd(s, size);
    unsigned class = ab_slab_class_of(size);
    struct ab_slab_class *c = &s->classes[class];
    struct ab_slab_block *block = c->hot;
    if (block != NULL) {
        c->hot = block->next;
        c->n_hot--;
        return block;
    }
    char *fresh = c->next;
    if (__builtin_expect(fresh == c->limit, 0))
        return ab_slabs_alloc_slow(s, c);
    c->next = fresh + ab_slab_class_bytes(class);
    c->n_out++;
    return fresh;
}

static inline void ab_slabs_free(struct ab_slabs *s, void *p)
{
    struct ab_slab_block *block = p;
    if (__builtin_expect(!ab_slabs_is_small(s, p), 0)) {
        ab_slabs_large_free(s, p);
        return;
    }
    struct ab_slab *slab = ab_slab_of(s, p);
    struct ab_slab_class *c = &s->classes[slab->class];
    if (c->n_hot < c->hot_max) {
        block->next = c->hot;
        c->hot = block;
        if (__builtin_expect(++c->n_hot == c->n_out, 0))
            ab_slabs_class_idle(s, c);
        return;
    }
    struct ab_slab_block *free = slab->free;
    block->next = free;
    slab->free = block;
    slab->n_out--;
    c->n_out--;
    if (__builtin_expect(free == NULL || slab->n_out == 0 || c->n_out == c->n_hot, 0))
        ab_slabs_settle(s, slab);
}

#endif
