/* SPDX-License-Identifier: MIT
 *
 * A pool of slots of one size, for one thread; pool_shared.h and pool_lockfree.h are for more
 * threads. The fast paths are inline. Example: allocators/examples/particles.c.
 *
 * The free list is inside the free slots. Slots that were never used are carved one after the
 * other, so that no memory is touched before it is needed. A pool that runs empty forgets its list
 * and carves from the start again. Following a list in the random order of its frees costs 50–100
 * ns a slot; carving a slot costs 3 ns.
 *
 * Can be used on its own: this folder, ../common and ../ab_allocator.h. Needs 64-bit Linux with
 * mmap and pthread; ../buffer/pool_buffer.h is for other systems.
 *
 * The struct may be moved, except under Valgrind, which identifies the pool by its address.
 *
 * Requests larger than a slot fail.
 *
 * A free is not checked: the block must be a live one of this pool. A block that is freed twice is
 * handed out to two owners. It also counts as two free slots, so that the pool may believe that it
 * is empty and hand out live blocks again. To find wrong frees, compile all files with
 * -DAB_WITH_CHECKS (the checked build, ../common/checked.h), -fsanitize=address or
 * -DAB_WITH_VALGRIND. Or ask ab_pool_owns before a free: it refuses foreign and inner pointers, but
 * does not notice a second free.
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
/* AB_POOL_PLAIN(name) names a function without checks. Programs call it directly, except in the
 * checked build. There they call a wrapper, which checks and then calls it. */
#ifdef AB_WITH_CHECKS
#define AB_POOL_PLAIN(name) ab_pool_plain_##name
#else
#define AB_POOL_PLAIN(name) ab_pool_##name
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define AB_POOL_ALIGN ((size_t)16) /* default alignment of every slot, like malloc's */

/* enough for any address space, because each chunk is as large as all before it */
enum { AB_POOL_CHUNKS_MAX = 56 };

struct ab_pool_slot { /* the link inside a free slot */
    struct ab_pool_slot *next;
};

struct ab_pool_chunk {
    char *base, *end; /* [base, end) holds whole slots */
    /* memory from here on is zero, because it was not handed out since it was mapped */
    char *dirty;
    size_t map_bytes;
};

struct ab_pool {
    /* first slot of the free list; the slot freed last is served first */
    struct ab_pool_slot *free;
    /* [next, limit): slots of the current chunk that were not handed out yet */
    char *next, *limit;
    /* next - origin is the number of bytes carved, with those of earlier chunks. Carving a slot
     * only moves `next`; live slots are not counted. */
    uintptr_t origin;
    size_t free_bytes;
    size_t slot_bytes, stride; /* usable bytes of a slot; distance from slot to slot */
    /* current: index of the chunk that slots are carved from; later chunks are empty */
    uint32_t n_chunks, current;
    bool grows, huge;
    bool is_buffer; /* True if the only chunk is a buffer of the caller. */
    size_t align;   /* alignment of every slot, in bytes */
    uint64_t n_os_calls;
    /* the memory from which chunks are taken; NULL: each chunk is a mapping */
    char *range, *range_end;
    /* For several threads (pool_shared.h); both are NULL for one thread. `mutex` is the lock that
     * callers hold; it is released while the pool grows. `collect` takes over slots freed by other
     * threads before the pool grows; it returns true if there were any. */
    pthread_mutex_t *mutex;
    bool (*collect)(struct ab_pool *pool);
    struct ab_pool_chunk chunks[AB_POOL_CHUNKS_MAX];
    AB_CHECKED(struct ab_block_list blocks;)
};

struct ab_pool_options {
    size_t slot_bytes; /* bytes; rounded up to the alignment, and to the size of a pointer */
    /* Alignment of every slot, a power of two. With the alignment of a type, slots are placed as in
     * an array. 0 = AB_POOL_ALIGN; slots of a multiple of 256 bytes are then placed slightly
     * further apart, because otherwise few cache sets would serve all of them. */
    size_t align;
    /* number of slots of the first chunk; 0 = as many as 64 KiB hold, at least 8, and the pool
     * grows */
    size_t n_slots;
    bool grows; /* False: the pool never has more than n_slots, unless that is 0. */
    bool huge;  /* ask for huge pages; chunks are then multiples of 2 MiB */
    /* Memory without access, range_bytes long, from which chunks are taken; the caller keeps owning
     * it. NULL: each chunk is a mapping. */
    char *range;
    size_t range_bytes;
};

/* Maps the first chunk and touches nothing. Returns 0, EINVAL or ENOMEM; on failure *pool is
 * untouched. EINVAL means that the alignment is not a power of two, or that `huge` is set and the
 * kernel has no huge pages. */
AB_MUST_USE int ab_pool_init(struct ab_pool *pool, const struct ab_pool_options *options);
/* Opens a pool over the `bytes` at `buffer`, with as many slots as fit. The caller keeps owning the
 * buffer, which need not be aligned or zero. The pool never grows and makes no system call. Only
 * the options slot_bytes and align are used. Returns 0, EINVAL as above, or ENOMEM if no slot fits;
 * on failure *pool is untouched. */
AB_MUST_USE int ab_pool_init_buffer(struct ab_pool *pool, void *buffer, size_t bytes,
                                    const struct ab_pool_options *options);
/* Returns all memory to the system. The checked build lists the blocks that were never freed,
 * unless there was a reset before. */
void ab_pool_fini(struct ab_pool *pool);

/* Goes on with the next chunk when all slots are used up. Returns NULL when the pool or the memory
 * of the system is exhausted. */
void *ab_pool_alloc_slow(struct ab_pool *pool, size_t size);
/* Allocates a zeroed block. Clears only memory that was handed out before, because fresh pages are
 * zero already. */
void *ab_pool_alloc_zeroed(struct ab_pool *pool, size_t size);
/* Makes all slots free and keeps the pages. O(1). */
void ab_pool_reset(struct ab_pool *pool);
/* Gives back chunks after the current one and pages after the last slot handed out. Gives back
 * whole pages inside free slots too, if slots are that large. */
void ab_pool_purge(struct ab_pool *pool);

/* True if `p` is the address of a slot that was handed out, live or not. A program that does not
 * trust a pointer asks this before it frees it. */
bool ab_pool_owns(const struct ab_pool *pool, const void *p);

/* Return the bytes of the pages that the pool has mapped, and of those handed out since they were
 * last given back. */
size_t ab_pool_mapped(const struct ab_pool *pool);
size_t ab_pool_used(const struct ab_pool *pool);
/* Returns the number of live slots. */
size_t ab_pool_live(const struct ab_pool *pool);

#ifdef AB_WITH_CHECKS
void *ab_pool_alloc(struct ab_pool *pool, size_t size);
void ab_pool_free(struct ab_pool *pool, void *block);
void ab_pool_free_sized(struct ab_pool *pool, void *block, size_t size);
size_t ab_pool_usable(const struct ab_pool *pool, const void *block);
/* Calls `visit` for every live block, the youngest first. */
void ab_pool_visit(const struct ab_pool *pool,
                   void (*visit)(void *block, size_t size, void *context), void *context);
void ab_pool_plain_reset(struct ab_pool *pool);
void ab_pool_plain_fini(struct ab_pool *pool);
bool ab_pool_plain_owns(const struct ab_pool *pool, const void *raw);
#endif

/* A pool for one type. AB_POOL_INIT opens it as above; `n` is the number of slots of the first
 * chunk (0 = as many as 64 KiB hold, and the pool grows). AB_POOL_NEW returns a slot or NULL;
 * AB_POOL_DELETE frees it. */
#define AB_POOL_INIT(pool, type, n, grows) \
    ab_pool_init_type((pool), sizeof(type), AB_ALIGNOF(type), (n), (grows))
#define AB_POOL_NEW(pool, type) \
    ((type *)ab_pool_alloc_aligned((pool), AB_ALIGNOF(type), sizeof(type)))
#define AB_POOL_DELETE(pool, ptr) ab_pool_free((pool), (ptr))

AB_MUST_USE int ab_pool_init_type(struct ab_pool *pool, size_t slot_bytes, size_t align,
                                  size_t n_slots, bool grows);

/* Read and write the link inside a free slot. ASan and Valgrind see that memory as accessible only
 * meanwhile. memcpy is used because a slot may be aligned to less than a pointer. */
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

/* Takes a slot, on the slow path if the current chunk has none left. `size` must fit a slot; only
 * the marks for ASan and Valgrind use it. */
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

/* Allocates a slot. Returns NULL when size is larger than a slot, or when the pool is exhausted. */
static inline void *AB_POOL_PLAIN(alloc)(struct ab_pool *pool, size_t size)
{
    return __builtin_expect(size > pool->slot_bytes, 0) ? NULL : ab_pool_take(pool, size);
}

/* The position in the current chunk, for a loop that allocates many slots that were never used. The
 * cursor is a local variable, so that the compiler keeps it in registers, which it cannot do with a
 * pool accessed through a pointer. Nothing else may use the pool until ab_pool_cursor_end. */
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

/* Allocates from the cursor. Returns NULL when the cursor cannot serve the request. Then give the
 * cursor back and call ab_pool_alloc, which also serves freed slots and may grow. */
static inline void *ab_pool_cursor_alloc(struct ab_pool_cursor *cursor, size_t size)
{
    char *slot = cursor->next;
    if (__builtin_expect(size > cursor->slot_bytes || slot == cursor->limit, 0))
        return NULL;
    if (slot == NULL)
        __builtin_unreachable(); /* the compiler may rely on a result that is not NULL */
    cursor->next = slot + cursor->stride;
    return slot;
}

/* Allocates like ab_pool_alloc. Also returns NULL if the slots are aligned to less than `align`. */
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

/* Returns the usable size, which is the same for every block. */
static inline size_t AB_POOL_PLAIN(usable)(const struct ab_pool *pool, const void *block)
{
    (void)block;
    AB_MARK_DEFINED(block, pool->slot_bytes);
    return pool->slot_bytes;
}

#ifndef AB_WITH_CHECKS
/* Frees a block. `size` must be the size that it was requested with; the checked build verifies
 * it. */
static inline void ab_pool_free_sized(struct ab_pool *pool, void *block, size_t size)
{
    (void)size;
    ab_pool_free(pool, block);
}
#endif

/* ---- with the interface of ab_allocator.h ---- */

/* Returns NULL for requests larger than a slot. Returns NULL for every request if the slots are
 * aligned to less than two pointers. */
AB_ALLOCATOR_DEFINE(ab_pool, struct ab_pool, ab_pool_alloc_aligned(heap, AB_ALLOCATOR_ALIGN, size),
                    ab_pool_free_sized(heap, ptr, size),
                    !AB_CHECKS && new_size <= ab_pool_usable(heap, ptr) ? ptr : NULL)

#ifdef __cplusplus
}
#endif

#endif
