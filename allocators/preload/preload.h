/* SPDX-License-Identifier: MIT
 *
 * liballocbench-slab.so: the slab of ../slab as the malloc of a whole process, for LD_PRELOAD.
 *
 * What it shares with ../slab: the size classes (../slab/size_class.h), slabs of 64 KiB whose
 * records are dense and apart from the blocks, lists inside the free blocks, memory that is carved
 * in order and touched only when it is needed. What is different, and why: a program has threads,
 * so each has a heap of its own; it runs for days, so memory has to go back while other threads
 * work; it has wrong frees, which must be reported and not believed; and it asks for all sizes, so
 * there are classes and runs between the slab's largest block and a mapping of its own.
 *
 *     size            served from
 *     … 4 KiB         slabs of 64 KiB, one class each, of the thread's heap
 *     … 128 KiB       the same with slabs of 512 KiB
 *     … 1 MiB         runs of units of 64 KiB from the page heap, which all threads share
 *     beyond          a mapping of its own; some freed ones are kept for a moment
 *
 * Regions (page_heap.c). Addresses come from the system in regions of 32 MiB at multiples of 32
 * MiB. A region is 512 units of 64 KiB; the first one holds the records of all. So a pointer finds
 * its record by arithmetic, and one look into a byte map (which regions are ours) keeps it from
 * touching what is not: a pointer to anything is distinguished from a block before anything is read
 * there. Spans of free units are joined with their free neighbours.
 *
 * Heaps (heap.c). A slab belongs to the heap that carved it. The owner allocates and frees without
 * a lock or an atomic operation. Of each class one slab is `current`; others with room are
 * `partial`; full ones are in no list. One counter in the record says when a free has to look
 * closer: it reaches 0 when a full slab has room again, and when a partial one is empty. Taking a
 * block counts nothing: what is current leaves that place when it is full. Others
 * push what they free on the heap's remote list, and its owner takes the whole list when a slab
 * runs empty.
 *
 * Threads (threads.c). A thread takes a heap at its first request and leaves it, as it is, at its
 * end; the next new thread goes on with it. So there are as many heaps as threads lived at the same
 * time. What is freed in a heap without an owner is put in order by who frees it. In the child of a
 * fork the heaps of the threads that are not there any more are left alone: they may have been in
 * the middle of something.
 *
 * Giving back. An empty slab leaves its heap immediately. The page heap keeps the pages of free
 * spans for about 100 ms, and of not more than 32 MiB, or half of what is in use where that is
 * more; it looks at the clock when spans come and go, so there is no thread for it. malloc_trim
 * gives back everything.
 * Known limit: what others freed in the heap of a thread that lives and never allocates again stays
 * until its end.
 *
 * Wrong frees. Every free checks that the pointer is in one of our regions, at the start of a block
 * that was given once, and that the block's second word is not the mark of a freed one (its own
 * address, changed; malloc clears it). What fails ends the process with one line.
 *
 * Nothing here calls malloc, directly or in the C library.
 */
#ifndef AB_ALLOCATORS_PRELOAD_H
#define AB_ALLOCATORS_PRELOAD_H

#include "allocators/slab/size_class.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AB_LIKELY(x) __builtin_expect(!!(x), 1)

enum {
    AB_UNIT_LOG2 = 16,
    AB_REGION_LOG2 = 25,
    AB_REGION_UNITS = 1 << (AB_REGION_LOG2 - AB_UNIT_LOG2),
    AB_SPAN_LOG2 = 6,             /* of a record */
    AB_ADDRESS_BITS = 48,         /* of a program's addresses, unless it asks for more */
    AB_MEDIUM_UNITS = 8,          /* of a slab of blocks above 4 KiB */
    AB_HEAP_CLASSES = 16 + 9 * 8, /* 16 bytes … 128 KiB */
    AB_DIRECT_BYTES = 1024,       /* up to here a size finds its slab by one look */
    AB_N_DIRECT = AB_DIRECT_BYTES / 16 + 1,
};
#define AB_UNIT_BYTES ((size_t)1 << AB_UNIT_LOG2)
#define AB_REGION_BYTES ((size_t)1 << AB_REGION_LOG2)
#define AB_N_REGIONS ((size_t)1 << (AB_ADDRESS_BITS - AB_REGION_LOG2))
#define AB_SMALL_BYTES ((size_t)4096)      /* largest block of a slab of one unit */
#define AB_CLASS_BYTES ((size_t)128 << 10) /* of a class */
#define AB_RUN_BYTES ((size_t)1 << 20)     /* of a run; must fit into a region */
#define AB_DECAY_MS 100u

struct ab_free_block { /* inside the free block: two words, the smallest block */
    struct ab_free_block *next;
    uintptr_t mark; /* ab_mark_of(block) while it is free */
};

enum ab_span_kind {
    AB_SPAN_NONE, /* nothing: its record may be part of a free span */
    AB_SPAN_HEADER,
    AB_SPAN_FREE,
    AB_SPAN_SLAB,
    AB_SPAN_RUN,
    AB_SPAN_PART, /* not the first unit of a slab or run */
};
enum ab_slab_place { AB_SLAB_CURRENT, AB_SLAB_PARTIAL, AB_SLAB_FULL };

/* Record of a unit: that of the first one stands for the whole span. What concerns blocks belongs
 * to the owner of the slab; kind, n_units, back and the links of free spans to the page heap. */
struct ab_span {
    struct ab_free_block *free;
    uint32_t left;     /* frees until ab_heap_settle has to look; of a free span: since when, ms */
    uint32_t n_carved; /* blocks that were ever linked; atomic: any thread may ask */
    uint32_t capacity; /* blocks */
    uint32_t bytes;    /* of a block, or of the run */
    struct ab_thread_heap *heap; /* NULL but for the first unit of a slab */
    uint32_t inverse, shift;     /* of bytes, for ab_span_index */
    struct ab_span *prev, *next; /* slabs: the partial ones of a class; free spans: their bin */
    uint16_t n_units, back;      /* back: units to the first one */
    uint8_t kind, class, place;
    bool is_zero; /* nothing was ever written here, but for blocks that were carved */
};
_Static_assert(sizeof(struct ab_span) == 1 << AB_SPAN_LOG2, "a cache line");

/* Who may touch a heap. BUSY: a thread puts an idle one in order, or has borrowed it. DEAD: its
 * thread is not in this process (fork). */
enum ab_heap_state { AB_HEAP_IDLE, AB_HEAP_BUSY, AB_HEAP_OWNED, AB_HEAP_DEAD };

struct ab_span_queue { /* first in, first out, and from the middle */
    struct ab_span *first, *last;
};

struct ab_thread_heap {
    struct ab_span *direct[AB_N_DIRECT]; /* current slab by size in steps of 16, rounded up */
    struct ab_span *current[AB_HEAP_CLASSES];
    struct ab_span_queue partial[AB_HEAP_CLASSES];
    struct ab_thread_heap *older;              /* list of all */
    _Alignas(64) struct ab_free_block *remote; /* freed by others; atomic */
    uint32_t state;                            /* atomic */
};

extern uint8_t ab_region_map[AB_N_REGIONS]; /* 1: ours; only ever set */
extern struct ab_thread_heap ab_empty_heap; /* of a thread that has none: nothing to give */
extern struct ab_span ab_empty_span;        /* its slabs, full */
#define AB_PRELOAD_TLS __thread __attribute__((tls_model("initial-exec")))
extern AB_PRELOAD_TLS struct ab_thread_heap *ab_own_heap;
extern AB_PRELOAD_TLS bool ab_is_forking; /* this thread, which holds all locks */
/* Of what each file keeps, in the order in which they may be taken: ab_lock_take,
 * ab_lock_release. */
extern pthread_mutex_t ab_threads_mutex, ab_page_heap_mutex, ab_large_mutex;

/* ---- blocks.c: what malloc.c exports. NULL and errno when there is no memory ---- */

void *ab_block_alloc_slow(size_t size);
void ab_block_free_slow(void *p);
void *ab_block_alloc_zeroed(size_t size);
/* align is a power of two. */
void *ab_block_alloc_aligned(size_t align, size_t size);
/* p and size are not 0. NULL leaves the block as it was; shrinking never fails. */
void *ab_block_resize(void *p, size_t size);
size_t ab_block_usable(const void *p);

/* ---- heap.c: the slabs of one heap; the caller may touch it ---- */

/* A slab of the class with a free block, which was never used when *is_carved and the slab is zero.
 * NULL: no memory. */
struct ab_span *ab_heap_refill(struct ab_thread_heap *heap, unsigned class, bool *is_carved);
/* After a free made `left` 0. */
void ab_heap_settle(struct ab_thread_heap *heap, struct ab_span *slab);
/* Takes what others pushed. */
void ab_heap_drain(struct ab_thread_heap *heap);
/* No slab is current any more: empty ones go back, others become partial or full. */
void ab_heap_settle_all(struct ab_thread_heap *heap);

/* ---- threads.c: whose heap it is ---- */

/* The heap of this thread, or a borrowed one when the thread is about to end. NULL: no memory. */
struct ab_thread_heap *ab_threads_enter(void);
void ab_threads_leave(struct ab_thread_heap *heap);
/* Another's block, from any thread. Puts the heap in order if it has no owner. */
void ab_threads_push(struct ab_thread_heap *heap, struct ab_free_block *block);
/* The empty slabs of this thread's heap and of those without an owner go back. */
void ab_threads_trim(void);
/* Registers what happens around a fork: once, without a lock (it may allocate). */
void ab_fork_prepare(void);

/* ---- page_heap.c: spans of units; any thread ---- */

/* kind: SLAB or RUN. n_units, kind, is_zero and the records of its other units are set. */
struct ab_span *ab_page_heap_alloc(unsigned n_units, enum ab_span_kind kind);
void ab_page_heap_free(struct ab_span *span);
/* Of a run, in place: what it loses goes back, what it gains was free. False: it stays. */
bool ab_page_heap_resize(struct ab_span *run, unsigned n_units);
/* Free spans that are older than AB_DECAY_MS, or all: their pages go back to the system. */
void ab_page_heap_purge(uint32_t now_ms, bool all);
/* Monotonic, since some moment. */
uint32_t ab_clock_ms(void);

/* AB_DECAY_MS or more have passed. Who asks may have read the clock first and waited for a lock
 * while `since` was noted: up to a minute before `since` counts as no time. */
static inline bool ab_clock_is_due(uint32_t since_ms, uint32_t now_ms)
{
    return now_ms - since_ms - AB_DECAY_MS < UINT32_MAX - AB_DECAY_MS - 60000;
}

/* For tests: units of spans in use, and of free ones that hold pages. */
void ab_page_heap_count(size_t *n_used, size_t *n_dirty);

/* ---- large.c: mappings; any thread. Sizes up to PTRDIFF_MAX - align ---- */

void *ab_large_alloc(size_t size, size_t align, bool *is_zero);
void ab_large_free(void *p);           /* ends the process when p is none */
size_t ab_large_usable(const void *p); /* 0 when p is none */
void *ab_large_resize(void *p, size_t size);
void ab_large_purge(uint32_t now_ms, bool all);

/* Where spans and mappings come and go, without a lock: gives back what was free for a while. */
void ab_decay_tick(void);

/* ---- fail.c ---- */

/* One line to standard error, and the end of the process. */
_Noreturn void ab_fail_free(const void *p, const char *why);

/* Handlers of others may allocate while this thread forks: it holds the lock. */
static inline void ab_lock_take(pthread_mutex_t *mutex)
{
    if (AB_LIKELY(!ab_is_forking))
        pthread_mutex_lock(mutex);
}

static inline void ab_lock_release(pthread_mutex_t *mutex)
{
    if (AB_LIKELY(!ab_is_forking))
        pthread_mutex_unlock(mutex);
}

/* ---- the fast paths ---- */

static inline uintptr_t ab_mark_of(const void *block)
{
    return (uintptr_t)block ^ 0x5bd1e995a7c3f01dull;
}

static inline bool ab_region_is_ours(const void *p)
{
    size_t index = (uintptr_t)p >> AB_REGION_LOG2;
    return index < AB_N_REGIONS && __atomic_load_n(&ab_region_map[index], __ATOMIC_RELAXED) != 0;
}

/* The record of the unit of p, which is in one of our regions. */
static inline struct ab_span *ab_span_of_unit(const void *p)
{
    uintptr_t a = (uintptr_t)p, region = a & ~(AB_REGION_BYTES - 1);
    uintptr_t record = a >> (AB_UNIT_LOG2 - AB_SPAN_LOG2) & (AB_REGION_UNITS - 1) << AB_SPAN_LOG2;
    return (struct ab_span *)(region + record);
}

static inline char *ab_span_base(const struct ab_span *span)
{
    uintptr_t a = (uintptr_t)span, region = a & ~(AB_REGION_BYTES - 1);
    return (char *)(region + ((a - region) >> AB_SPAN_LOG2 << AB_UNIT_LOG2));
}

/* Which block begins there; a number of 2^15 or more where none does. bytes is odd << shift, and
 * inverse is that of the odd part modulo 2^32: the product of a multiple is the quotient << shift,
 * all that is no multiple ends, turned right by shift, above (2^32 - 1) / bytes (T. Granlund,
 * P. Montgomery, Division by invariant integers using multiplication, 1994, section 9). */
static inline uint32_t ab_span_index(const struct ab_span *slab, size_t offset)
{
    uint32_t product = (uint32_t)offset * slab->inverse;
    return product >> (slab->shift & 31) | product << (-slab->shift & 31);
}

/* A free block of a current slab of the caller's, or NULL. */
static inline void *ab_span_take(struct ab_span *slab)
{
    struct ab_free_block *block = slab->free;
    if (AB_LIKELY(block != NULL)) {
        slab->free = block->next;
        block->mark = 0;
    }
    return block;
}

/* The slab is the caller's, and so is its heap. */
static inline void ab_span_put(struct ab_span *slab, struct ab_free_block *block)
{
    block->mark = ab_mark_of(block);
    block->next = slab->free;
    slab->free = block;
    if (__builtin_expect(--slab->left == 0, 0))
        ab_heap_settle(slab->heap, slab);
}

static inline void *ab_block_alloc(size_t size)
{
    if (AB_LIKELY(size <= AB_DIRECT_BYTES)) {
        void *block = ab_span_take(ab_own_heap->direct[(size + 15) >> 4]);
        if (AB_LIKELY(block != NULL))
            return block;
    }
    return ab_block_alloc_slow(size);
}

static inline void ab_block_free(void *p)
{
    if (AB_LIKELY(ab_region_is_ours(p))) {
        struct ab_span *slab = ab_span_of_unit(p);
        struct ab_free_block *block = p;
        size_t offset = (uintptr_t)p & (AB_UNIT_BYTES - 1);
        if (AB_LIKELY(slab->heap == ab_own_heap && ab_span_index(slab, offset) < slab->n_carved &&
                      block->mark != ab_mark_of(block))) {
            ab_span_put(slab, block);
            return;
        }
    }
    ab_block_free_slow(p);
}

#endif
