/* SPDX-License-Identifier: MIT
 *
 * The pool of equal slots of pool.h over a buffer of the caller, for a small system: one header
 * without a library. It makes no system call, knows no threads, and works on 32-bit systems too. It
 * needs gcc or clang, and memcpy and memset.
 *
 *     static char memory[4096];
 *     struct ab_pool pool;
 *     struct ab_pool_options options = {.slot_bytes = sizeof(struct shot)};
 *     if (ab_pool_init_buffer(&pool, memory, sizeof memory, &options) != 0) …
 *     struct shot *shot = AB_POOL_NEW(&pool, struct shot);      NULL: all slots are used
 *     AB_POOL_DELETE(&pool, shot);
 *
 * The functions are those of pool.h, with the same names and results. So a program can be tested
 * with pool.h and its checked build on a workstation. A program includes one of the two headers,
 * never both. This header leaves out pools that grow, cursors, locks and the checked build.
 * AddressSanitizer and Valgrind (-DAB_WITH_VALGRIND) report wrong frees here as well.
 *
 * A free is not checked, as in pool.h: ab_pool_owns refuses foreign and inner pointers, and nothing
 * finds a second free. One thread at a time. The pool may be moved, except under Valgrind; the
 * buffer must stay where it is.
 */
#ifndef AB_ALLOCATORS_POOL_BUFFER_H
#define AB_ALLOCATORS_POOL_BUFFER_H

#define AB_ANY_POINTER_SIZE
#include "../ab_allocator.h"
#include "../common/language.h"
#include "../common/marks.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef AB_ALLOCATORS_POOL_H
#error "pool.h was included before: it has everything that this header has"
#endif
#ifdef AB_WITH_CHECKS
#error "this header has no checked build: include pool.h, which has the same functions"
#endif

#define AB_POOL_ALIGN ((size_t)16) /* default alignment of every slot */

struct ab_pool_slot { /* the link inside a free slot */
    struct ab_pool_slot *next;
};

struct ab_pool {
    /* first slot of the free list; the slot freed last is served first */
    struct ab_pool_slot *free;
    char *next; /* first slot that was not handed out since the pool was empty */
    char *base, *limit;
    char *top; /* slots from here on were never handed out */
    size_t slot_bytes, stride;
    size_t align;
    size_t n_live;
};

struct ab_pool_options {
    size_t slot_bytes; /* bytes; rounded up to the alignment, and to the size of a pointer */
    size_t align;      /* alignment of every slot: 0 = AB_POOL_ALIGN, otherwise a power of two */
};

/* Sets slot_bytes and stride. Returns 0, EINVAL or ENOMEM. */
static inline int ab_pool_measure(struct ab_pool *made, const struct ab_pool_options *options)
{
    size_t align = options->align == 0 || AB_MARKS ? AB_POOL_ALIGN : 1;
    size_t slot = options->slot_bytes, most = PTRDIFF_MAX / 4;
    if ((options->align & (options->align - 1)) != 0)
        return EINVAL;
    align = options->align > align ? options->align : align;
    slot = slot < sizeof(struct ab_pool_slot) ? sizeof(struct ab_pool_slot) : slot;
    if (slot > most || align > most)
        return ENOMEM;
    made->align = align;
    made->slot_bytes = (slot + align - 1) & ~(align - 1);
    made->stride = (made->slot_bytes + AB_MARK_GAP + align - 1) & ~(align - 1);
    return 0;
}

/* Opens the pool over `bytes` at `buffer`, which need not be aligned or zero, with as many slots as
 * fit. Returns 0, EINVAL (the alignment is not a power of two) or ENOMEM (no slot fits). On failure
 * *pool is untouched. */
static inline AB_MUST_USE int ab_pool_init_buffer(struct ab_pool *pool, void *buffer, size_t bytes,
                                                  const struct ab_pool_options *options)
{
    struct ab_pool made;
    memset(&made, 0, sizeof made);
    int error = ab_pool_measure(&made, options);
    if (error != 0)
        return error;
    size_t head = (size_t)(-(uintptr_t)buffer & (made.align - 1));
    size_t room = head < bytes ? bytes - head : 0;
    if (room < made.stride)
        return ENOMEM;
    made.base = made.next = made.top = (char *)buffer + head;
    made.limit = made.base + (room - room % made.stride);
    *pool = made;
    AB_MARK_POOL_CREATE(pool);
    AB_MARK_UNUSED(made.base, (size_t)(made.limit - made.base));
    return 0;
}

/* Closes the pool. The buffer is the caller's again. */
static inline void ab_pool_fini(struct ab_pool *pool)
{
    AB_MARK_POOL_DESTROY(pool);
    AB_MARK_DEFINED(pool->base, (size_t)(pool->limit - pool->base));
    memset(pool, 0, sizeof *pool);
}

/* Returns the number of slots that are handed out. */
static inline size_t ab_pool_live(const struct ab_pool *pool)
{
    return pool->n_live;
}

/* True if p is the beginning of a slot that is or was handed out. */
static inline bool ab_pool_owns(const struct ab_pool *pool, const void *p)
{
    const char *top = pool->next > pool->top ? pool->next : pool->top;
    size_t offset = (size_t)((uintptr_t)p - (uintptr_t)pool->base);
    return offset < (size_t)(top - pool->base) && offset % pool->stride == 0;
}

/* Makes all slots free. */
static inline void ab_pool_reset(struct ab_pool *pool)
{
    AB_MARK_POOL_TRIM(pool, pool->base, 0);
    AB_MARK_UNUSED(pool->base, (size_t)(pool->next - pool->base));
    if (pool->next > pool->top)
        pool->top = pool->next;
    pool->free = NULL;
    pool->next = pool->base;
    pool->n_live = 0;
}

/* Returns a slot; NULL if `size` is larger than a slot or all slots are used. */
static inline void *ab_pool_alloc(struct ab_pool *pool, size_t size)
{
    void *slot = pool->free;
    if (size > pool->slot_bytes || (slot == NULL && pool->next == pool->limit))
        return NULL;
    if (slot != NULL) {
        AB_MARK_DEFINED(slot, sizeof(struct ab_pool_slot));
        /* memcpy, because a slot may be aligned to less than a pointer */
        memcpy((void *)&pool->free, slot, sizeof pool->free);
        AB_MARK_UNUSED(slot, sizeof(struct ab_pool_slot));
    } else {
        slot = pool->next;
        pool->next += pool->stride;
    }
    pool->n_live++;
    AB_MARK_ALLOC(pool, slot, size + (size == 0));
    return slot;
}

/* Allocates like ab_pool_alloc. Also returns NULL if the slots are aligned to less than `align`. */
static inline void *ab_pool_alloc_aligned(struct ab_pool *pool, size_t align, size_t size)
{
    return align <= pool->align ? ab_pool_alloc(pool, size) : NULL;
}

static inline void *ab_pool_alloc_zeroed(struct ab_pool *pool, size_t size)
{
    void *slot = ab_pool_alloc(pool, size);
    return slot == NULL ? NULL : memset(slot, 0, size);
}

/* Makes the slot free; NULL does nothing. A pool that becomes empty forgets its list of free slots
 * and hands out slots in the order of their addresses again. */
static inline void ab_pool_free(struct ab_pool *pool, void *block)
{
    if (block == NULL)
        return;
    AB_MARK_EXPECT(block, ab_pool_owns(pool, block));
    AB_MARK_FREE(pool, block, pool->slot_bytes);
    AB_MARK_DEFINED(block, sizeof(struct ab_pool_slot));
    memcpy(block, (const void *)&pool->free, sizeof pool->free);
    AB_MARK_UNUSED(block, sizeof(struct ab_pool_slot));
    pool->free = (struct ab_pool_slot *)block;
    if (--pool->n_live == 0)
        ab_pool_reset(pool);
}

static inline void ab_pool_free_sized(struct ab_pool *pool, void *block, size_t size)
{
    (void)size;
    ab_pool_free(pool, block);
}

/* Returns the usable bytes of a block. */
static inline size_t ab_pool_usable(const struct ab_pool *pool, const void *block)
{
    (void)block;
    AB_MARK_DEFINED(block, pool->slot_bytes);
    return pool->slot_bytes;
}

/* Allocate a slot for a type, or return NULL; free a slot. */
#define AB_POOL_NEW(pool, type) \
    ((type *)ab_pool_alloc_aligned((pool), AB_ALIGNOF(type), sizeof(type)))
#define AB_POOL_DELETE(pool, ptr) ab_pool_free((pool), (ptr))

/* The pool with the interface of ab_allocator.h. */
AB_ALLOCATOR_DEFINE(ab_pool, struct ab_pool, ab_pool_alloc_aligned(heap, AB_ALLOCATOR_ALIGN, size),
                    ab_pool_free_sized(heap, ptr, size),
                    new_size <= ab_pool_usable(heap, ptr) ? ptr : NULL)

#endif
