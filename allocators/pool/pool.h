/* SPDX-License-Identifier: MIT
 *
 * A pool of equal slots. The free list is inside the free slots; slots that were never used are
 * carved one after the other, so nothing is touched before it is needed, and a pool that runs
 * empty forgets its list and carves from the start again: chasing a list in the random order of
 * its frees costs 50–100 ns a slot, carving 3. Usable on its own: this folder, ../common and
 * ../ab_allocator.h. One thread at a time; pool_shared.h and pool_lockfree.h are for more. Example:
 * allocators/examples/particles.c.
 * 64-bit Linux with mmap and pthread; ../buffer/pool_buffer.h is for other systems.
 *
 * The struct may be moved, but not under Valgrind, which knows it by its address.
 *
 * Not for blocks larger than a slot: they fail. The fast paths are inline.
 *
 * A free is believed: nothing looks whether the block is a live one of this pool. One freed twice
 * is served twice, to two owners, and it counts as two free slots, so that a pool may take itself
 * for empty and hand out live blocks again. To find such a free compile all files with
 * -DAB_WITH_CHECKS, the checked build (../common/checked.h), -fsanitize=address or
 * -DAB_WITH_VALGRIND, or ask ab_pool_owns before: that refuses foreign and inner pointers, not a
 * second free.
 */
#ifndef AB_ALLOCATORS_POOL_H
#define AB_ALLOCATORS_POOL_H

#ifdef AB_ALLOCATORS_POOL_BUFFER_H
#error "pool_buffer.h was included before: a program uses one of the two headers"
#endif

#include "../ab_allocator.h"
#include "../common/language.h"
#include "../common/marks.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define AB_POOL_CHECKS AB_CHECKS
/* What is called, or, in the checked build, what is below that. */
#ifdef AB_WITH_CHECKS
#define AB_POOL_PLAIN(name) ab_pool_plain_##name
#else
#define AB_POOL_PLAIN(name) ab_pool_##name
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define AB_POOL_ALIGN ((size_t)16) /* of every slot, unless less is asked for; what malloc gives */

enum { AB_POOL_CHUNKS_MAX = 56 }; /* each as large as all before: more than there are addresses */

struct ab_pool_slot { /* inside the free slot */
    struct ab_pool_slot *next;
};

struct ab_pool_chunk {
    char *base, *end; /* whole slots */
    char *dirty;      /* zero from here on: nothing after it was handed out since it was mapped */
    size_t map_bytes;
};

struct ab_pool {
    struct ab_pool_slot *free; /* freed last, served first */
    char *next, *limit;        /* of the current chunk: slots in between were not handed out yet */
    /* Bytes carved, those of earlier chunks too, are next - origin: carving a slot is a step of
     * `next` and no more, the live ones are not counted. */
    uintptr_t origin;
    size_t free_bytes;
    size_t slot_bytes, stride;  /* what a block may use; from slot to slot */
    uint32_t n_chunks, current; /* chunks after the current one are empty */
    bool grows, huge;
    bool is_buffer; /* the one chunk is the caller's */
    size_t align;   /* of every slot */
    uint64_t n_os_calls;
    char *range, *range_end; /* where chunks come from; NULL: the system */
    /* For several threads, see pool_shared.h: the lock that callers hold, let go while the pool
     * grows; and where to look for slots before: true when there were any. NULL both for one
     * thread. */
    pthread_mutex_t *mutex;
    bool (*collect)(struct ab_pool *pool);
    struct ab_pool_chunk chunks[AB_POOL_CHUNKS_MAX];
    AB_CHECKED(struct ab_block_list blocks;)
};

struct ab_pool_options {
    size_t slot_bytes; /* rounded up to the alignment, and to a pointer */
    size_t align;      /* of every slot: 0 = AB_POOL_ALIGN, and slots of a multiple of 256 bytes lie
                          somewhat further apart, or few cache lines would serve all of them. Else a
                          power of two: with the one of a type slots are placed as in an array */
    size_t n_slots;    /* of the first chunk; 0 = 64 KiB of them, at least 8, and the pool grows */
    bool grows;        /* false: no more than n_slots, where that is not 0 */
    bool huge;         /* ask for huge pages: chunks are whole ones of 2 MiB */
    char *range;       /* range_bytes without access, page by page, that chunks are taken from; they
                          stay the caller's. NULL: each chunk a mapping */
    size_t range_bytes;
};

/* Maps the first chunk and touches nothing. 0, EINVAL (an alignment that is no power of two), or
 * ENOMEM; EINVAL also where `huge` is asked for and the kernel has no huge pages. *pool is
 * untouched on failure. */
AB_MUST_USE int ab_pool_init(struct ab_pool *pool, const struct ab_pool_options *options);
/* Over `bytes` at `buffer`, which stay the caller's and need not be aligned or zero: as many slots
 * as fit. Never grows, makes no system call. Of the options slot_bytes and align count. 0, EINVAL
 * as above, or ENOMEM: there is no room for a slot; *pool is untouched then. */
AB_MUST_USE int ab_pool_init_buffer(struct ab_pool *pool, void *buffer, size_t bytes,
                                    const struct ab_pool_options *options);
/* Gives everything back to the system. The checked build lists what was never freed, unless a reset
 * came before. */
void ab_pool_fini(struct ab_pool *pool);

/* Slots are used up: the next chunk. NULL when the pool or the system's memory is exhausted. */
void *ab_pool_alloc_slow(struct ab_pool *pool, size_t size);
/* Clears only what was handed out before: fresh pages are zero already. */
void *ab_pool_alloc_zeroed(struct ab_pool *pool, size_t size);
/* All slots are free, the pages stay. O(1). */
void ab_pool_reset(struct ab_pool *pool);
/* Gives back: chunks after the current one, pages after the last slot that was handed out, and
 * whole pages inside free slots, if slots are that large. */
void ab_pool_purge(struct ab_pool *pool);

/* A pointer that a slot of this pool has or had: what free needs to be safe. */
bool ab_pool_owns(const struct ab_pool *pool, const void *p);

/* Of pages: mapped, and handed out at some time since they were last given back. */
size_t ab_pool_mapped(const struct ab_pool *pool);
size_t ab_pool_used(const struct ab_pool *pool);
/* Slots that are handed out. */
size_t ab_pool_live(const struct ab_pool *pool);

#ifdef AB_WITH_CHECKS
void *ab_pool_alloc(struct ab_pool *pool, size_t size);
void ab_pool_free(struct ab_pool *pool, void *block);
void ab_pool_free_sized(struct ab_pool *pool, void *block, size_t size);
size_t ab_pool_usable(const struct ab_pool *pool, const void *block);
/* Every live block, the youngest first. */
void ab_pool_visit(const struct ab_pool *pool,
                   void (*visit)(void *block, size_t size, void *context), void *context);
void ab_pool_plain_reset(struct ab_pool *pool);
void ab_pool_plain_fini(struct ab_pool *pool);
bool ab_pool_plain_owns(const struct ab_pool *pool, const void *raw);
#endif

/* A pool for one type: init as above, n = slots of the first chunk (0 = 64 KiB of them, and it
 * grows). A slot of it, or NULL; and back. */
#define AB_POOL_INIT(pool, type, n, grows) \
    ab_pool_init_type((pool), sizeof(type), AB_ALIGNOF(type), (n), (grows))
#define AB_POOL_NEW(pool, type) \
    ((type *)ab_pool_alloc_aligned((pool), AB_ALIGNOF(type), sizeof(type)))
#define AB_POOL_DELETE(pool, ptr) ab_pool_free((pool), (ptr))

AB_MUST_USE int ab_pool_init_type(struct ab_pool *pool, size_t slot_bytes, size_t align,
                                  size_t n_slots, bool grows);

/* The links of free slots, which must not be touched elsewhere. A slot may be aligned to less than
 * a pointer. */
static inline struct ab_pool_slot *ab_pool_next(struct ab_pool_slot *slot)
{
    AB_MARK_DEFINED(slot, sizeof *slot);
    struct ab_pool_slot *next;
    memcpy(&next, (const void *)slot, sizeof next);
    AB_MARK_UNUSED(slot, sizeof *slot);
    return next;
}

static inline void ab_pool_link(struct ab_pool_slot *slot, struct ab_pool_slot *next)
{
    AB_MARK_DEFINED(slot, sizeof *slot);
    memcpy((void *)slot, &next, sizeof next);
    AB_MARK_UNUSED(slot, sizeof *slot);
}

/* size, which only the marks need, is known to fit a slot. */
static inline void *ab_pool_take(struct ab_pool *pool, size_t size)
{
    struct ab_pool_slot *slot = pool->free;
    (void)size;
    if (slot != NULL) {
        pool->free = ab_pool_next(slot);
        pool->free_bytes -= pool->stride;
        AB_MARK_ALLOC(pool, slot, size + (size == 0));
        return slot;
    }
    char *fresh = pool->next;
    if (__builtin_expect(fresh == pool->limit, 0))
        return ab_pool_alloc_slow(pool, size);
    pool->next = fresh + pool->stride;
    AB_MARK_ALLOC(pool, fresh, size + (size == 0));
    return fresh;
}

/* NULL when size is larger than a slot, or the pool is exhausted. */
static inline void *AB_POOL_PLAIN(alloc)(struct ab_pool *pool, size_t size)
{
    return __builtin_expect(size > pool->slot_bytes, 0) ? NULL : ab_pool_take(pool, size);
}

/* For a loop that allocates much from slots that were never used: the cursor is a local of the
 * loop's, so the compiler keeps it in registers, which a pool accessed through a pointer does not
 * allow. Nothing else may use the pool until the cursor was given back. */
struct ab_pool_cursor {
    char *next, *limit;
    size_t stride, slot_bytes;
};

static inline struct ab_pool_cursor ab_pool_cursor_of(const struct ab_pool *pool)
{
    char *limit = pool->free == NULL && !AB_MARKS && !AB_CHECKS ? pool->limit : pool->next;
    struct ab_pool_cursor cursor = {pool->next, limit, pool->stride, pool->slot_bytes};
    return cursor;
}

static inline void ab_pool_cursor_end(struct ab_pool *pool, const struct ab_pool_cursor *cursor)
{
    pool->next = cursor->next;
}

/* NULL: give the cursor back and ask ab_pool_alloc, which serves freed slots first, and may
 * grow. */
static inline void *ab_pool_cursor_alloc(struct ab_pool_cursor *cursor, size_t size)
{
    char *slot = cursor->next;
    if (__builtin_expect(size > cursor->slot_bytes || slot == cursor->limit, 0))
        return NULL;
    if (slot == NULL)
        __builtin_unreachable(); /* there is room: callers need not look */
    cursor->next = slot + cursor->stride;
    return slot;
}

/* As ab_pool_alloc; also NULL when slots are not that much aligned. */
static inline void *ab_pool_alloc_aligned(struct ab_pool *pool, size_t align, size_t size)
{
    return align <= pool->align ? ab_pool_alloc(pool, size) : NULL;
}

static inline void AB_POOL_PLAIN(free)(struct ab_pool *pool, void *block)
{
    struct ab_pool_slot *slot = (struct ab_pool_slot *)block;
    if (__builtin_expect(slot == NULL, 0))
        return;
    AB_MARK_EXPECT(slot, AB_POOL_PLAIN(owns)(pool, slot));
    AB_MARK_FREE(pool, slot, pool->slot_bytes);
    ab_pool_link(slot, pool->free);
    pool->free = slot;
    pool->free_bytes += pool->stride;
    if (__builtin_expect((uintptr_t)pool->next - pool->origin == pool->free_bytes, 0))
        AB_POOL_PLAIN(reset)(pool);
}

/* Of every block. Who asks may use it. */
static inline size_t AB_POOL_PLAIN(usable)(const struct ab_pool *pool, const void *block)
{
    (void)block;
    AB_MARK_DEFINED(block, pool->slot_bytes);
    return pool->slot_bytes;
}

#ifndef AB_WITH_CHECKS
/* size is what the block was asked for with: the checked build looks whether it is. */
static inline void ab_pool_free_sized(struct ab_pool *pool, void *block, size_t size)
{
    (void)size;
    ab_pool_free(pool, block);
}
#endif

/* ---- with the interface of ab_allocator.h ---- */

/* NULL for what is larger than a slot, and for everything when the slots are aligned to less than
 * two pointers. */
AB_ALLOCATOR_DEFINE(ab_pool, struct ab_pool, ab_pool_alloc_aligned(heap, AB_ALLOCATOR_ALIGN, size),
                    ab_pool_free_sized(heap, ptr, size),
                    !AB_CHECKS && new_size <= ab_pool_usable(heap, ptr) ? ptr : NULL)

#ifdef __cplusplus
}
#endif

#endif
