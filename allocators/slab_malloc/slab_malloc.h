/* SPDX-License-Identifier: MIT
 *
 * liballocbench-slab.so: the slab allocator of ../slab as the malloc of a whole process, for
 * LD_PRELOAD.
 *
 * Common with ../slab are the size classes (../slab/size_class.h) and slabs of 64 KiB whose records
 * are dense and apart from the blocks. Lists are inside the free blocks, and memory is carved in
 * order and touched only when it is needed.
 *
 * Different from ../slab, and why:
 *   - A program has threads, so that each has a heap of its own.
 *   - It runs for days, so that memory must go back while other threads work.
 *   - It has wrong frees, which must be found and reported.
 *   - It requests all sizes, so that there are classes and runs between the slab's largest block
 *     and a mapping of its own.
 *
 *     size            served from
 *     … 4 KiB         slabs of 64 KiB, one class each, of the thread's heap
 *     … 128 KiB       the same with slabs of 512 KiB
 *     … 1 MiB         runs of units of 64 KiB from the page heap, which all threads share
 *     larger          a mapping of its own; some freed ones are kept for a moment
 *
 * Regions (page_heap.c). Addresses come from the system in regions of 32 MiB at multiples of 32
 * MiB. A region is 512 units of 64 KiB; the first unit holds the records of all units. So the
 * record of a pointer is found by arithmetic. A byte map says which regions are ours. A pointer is
 * looked up in the map before any memory near it is read, because it may be foreign. Spans of free
 * units are merged with their free neighbours.
 *
 * Heaps (heap.c). A slab belongs to the heap that carved it. The owner allocates and frees without
 * a lock or an atomic operation. In each class one slab is `current`, others with room are
 * `partial`, and full ones are in no list. One counter in the record says when a free has to do
 * more. It reaches 0 when a full slab has room again, and when a partial one is empty. An
 * allocation counts nothing, because a current slab is replaced when it is full. Other threads push
 * the blocks that they free on the heap's remote list. The owner takes the whole list when a slab
 * runs empty.
 *
 * Threads (threads.c). A thread takes a heap at its first request and leaves it, as it is, at its
 * end; the next new thread continues with it. So there are as many heaps as threads that lived at
 * the same time. A block that is freed in a heap without an owner is put in order by the thread
 * that frees it. In the child of a fork, the heaps of missing threads are left alone, because they
 * may be in the middle of a change.
 *
 * Giving back. An empty slab leaves its heap immediately. The page heap keeps the pages of free
 * spans for about 100 ms. It keeps at most 32 MiB, or half of the memory in use if that is more. It
 * looks at the clock when spans come and go, so that no thread is needed for it. malloc_trim gives
 * back everything. Known limit: blocks that others freed in the heap of a thread that lives on and
 * never allocates again stay until that thread ends.
 *
 * Wrong frees. Every free checks that the pointer is in one of our regions and at the start of a
 * block that was handed out once. It also checks that the second word of the block is not the mark
 * of a freed one (a function of its address; malloc clears it). A failed check ends the process
 * with one line.
 *
 * No function here calls malloc, directly or in the C library.
 */
#ifndef AB_ALLOCATORS_SLAB_MALLOC_H
#define AB_ALLOCATORS_SLAB_MALLOC_H

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
    AB_SPAN_LOG2 = 6,             /* logarithm of the size of a record: 64 bytes */
    AB_ADDRESS_BITS = 48,         /* bits of an address, unless a program asks for more */
    AB_MEDIUM_UNITS = 8,          /* number of units of a slab whose blocks are larger than 4 KiB */
    AB_HEAP_CLASSES = 16 + 9 * 8, /* for blocks of 16 bytes … 128 KiB */
    AB_DIRECT_BYTES = 1024,       /* one lookup finds the slab for requests up to this size */
    AB_N_DIRECT = AB_DIRECT_BYTES / 16 + 1,
};
#define AB_UNIT_BYTES ((size_t)1 << AB_UNIT_LOG2)
#define AB_REGION_BYTES ((size_t)1 << AB_REGION_LOG2)
#define AB_N_REGIONS ((size_t)1 << (AB_ADDRESS_BITS - AB_REGION_LOG2))
#define AB_SMALL_BYTES ((size_t)4096)      /* size of the largest block in a slab of one unit */
#define AB_CLASS_BYTES ((size_t)128 << 10) /* size of the largest block of a class */
/* size of the largest run; a run must fit into a region */
#define AB_RUN_BYTES ((size_t)1 << 20)
#define AB_DECAY_MS 100u

/* Stored inside a free block. The smallest block has just the size of these two words. */
struct ab_free_block {
    struct ab_free_block *next;
    uintptr_t mark; /* ab_mark_of(block) while the block is free */
};

enum ab_span_kind {
    AB_SPAN_NONE, /* unused: the record may be inside a free span */
    AB_SPAN_HEADER,
    AB_SPAN_FREE,
    AB_SPAN_SLAB,
    AB_SPAN_RUN,
    AB_SPAN_PART, /* not the first unit of a slab or run */
};
enum ab_slab_place { AB_SLAB_CURRENT, AB_SLAB_PARTIAL, AB_SLAB_FULL };

/* Record of a unit; the first record stands for the whole span. Fields about blocks belong to the
 * owner of the slab. kind, n_units, back and the links of free spans belong to the page heap. */
struct ab_span {
    struct ab_free_block *free;
    /* number of frees until ab_heap_settle must act; in a free span: time when it was freed, in
     * ms */
    uint32_t left;
    /* number of blocks that were ever linked; atomic, because any thread may read it */
    uint32_t n_carved;
    uint32_t capacity;           /* number of blocks */
    uint32_t bytes;              /* size of a block, or of the run */
    struct ab_thread_heap *heap; /* NULL except in the first unit of a slab */
    uint32_t inverse, shift;     /* derived from `bytes`, for ab_span_index */
    struct ab_span *prev, *next; /* links of partial slabs of a class, or of free spans of a bin */
    /* back: number of units from the first unit of the span to this one */
    uint16_t n_units, back;
    uint8_t kind, class, place;
    bool is_zero; /* True if the span is still zero, except for blocks that were carved. */
};
_Static_assert(sizeof(struct ab_span) == 1 << AB_SPAN_LOG2, "a cache line");

/* State of a heap. BUSY: a thread puts an idle heap in order or has borrowed it. DEAD: its thread
 * is not in this process (fork). */
enum ab_heap_state { AB_HEAP_IDLE, AB_HEAP_BUSY, AB_HEAP_OWNED, AB_HEAP_DEAD };

/* Slabs leave the queue in the order in which they entered it; one in the middle can be taken
 * out. */
struct ab_span_queue {
    struct ab_span *first, *last;
};

struct ab_thread_heap {
    /* the current slab for a request: index = size / 16, rounded up */
    struct ab_span *direct[AB_N_DIRECT];
    struct ab_span *current[AB_HEAP_CLASSES];
    struct ab_span_queue partial[AB_HEAP_CLASSES];
    struct ab_thread_heap *older;              /* the next older heap; links all heaps */
    _Alignas(64) struct ab_free_block *remote; /* blocks freed by other threads; atomic */
    uint32_t state;                            /* atomic */
};

extern uint8_t ab_region_map[AB_N_REGIONS]; /* 1 for each region that is ours; never cleared */
/* stands for the heap of a thread that has none yet; has no blocks */
extern struct ab_thread_heap ab_empty_heap;
/* stands for every current slab of ab_empty_heap; has no free block */
extern struct ab_span ab_empty_span;
#define AB_PRELOAD_TLS __thread __attribute__((tls_model("initial-exec")))
extern AB_PRELOAD_TLS struct ab_thread_heap *ab_own_heap;
extern AB_PRELOAD_TLS bool ab_is_forking; /* True if this thread is forking and holds all locks. */
/* Each mutex protects the data of one file. Take several in this order, by ab_lock_take and
 * ab_lock_release. */
extern pthread_mutex_t ab_threads_mutex, ab_page_heap_mutex, ab_large_mutex;

/* ---- blocks.c: the functions that malloc.c exports; without memory they return NULL and set errno
 * ---- */

void *ab_block_alloc_slow(size_t size);
void ab_block_free_slow(void *p);
void *ab_block_alloc_zeroed(size_t size);
/* Allocates a block at a multiple of `align`, a power of two. */
void *ab_block_alloc_aligned(size_t align, size_t size);
/* Resizes a block; p and size must not be 0. Returns NULL on failure and leaves the block as it
 * was. Shrinking never fails. */
void *ab_block_resize(void *p, size_t size);
size_t ab_block_usable(const void *p);

/* ---- heap.c: the slabs of one heap, which the caller must own ---- */

/* Returns a slab of the class with a free block, or NULL without memory. If *is_carved is set and
 * the slab is zero, that block was never used. */
struct ab_span *ab_heap_refill(struct ab_thread_heap *heap, unsigned class, bool *is_carved);
/* Moves a slab to another list after a free made `left` 0. */
void ab_heap_settle(struct ab_thread_heap *heap, struct ab_span *slab);
/* Frees the blocks that other threads pushed. */
void ab_heap_drain(struct ab_thread_heap *heap);
/* Stops using the current slabs: each becomes a partial or a full one, or goes back to the page
 * heap if it is empty. */
void ab_heap_settle_all(struct ab_thread_heap *heap);

/* ---- threads.c: which thread has which heap ---- */

/* Returns the heap of this thread, or a borrowed one if the thread is about to end. Returns NULL if
 * there is no memory. */
struct ab_thread_heap *ab_threads_enter(void);
void ab_threads_leave(struct ab_thread_heap *heap);
/* Frees a block of another heap, from any thread. Puts the heap in order if it has no owner. */
void ab_threads_push(struct ab_thread_heap *heap, struct ab_free_block *block);
/* Gives back the empty slabs of this thread's heap and of the heaps without an owner. */
void ab_threads_trim(void);
/* Registers the handlers around a fork. Called once, without a lock, because it may allocate. */
void ab_fork_prepare(void);

/* ---- page_heap.c: spans of units; may be called from any thread ---- */

/* Allocates a span. `kind` is SLAB or RUN. Sets n_units, kind, is_zero and the records of its
 * units. */
struct ab_span *ab_page_heap_alloc(unsigned n_units, enum ab_span_kind kind);
void ab_page_heap_free(struct ab_span *span);
/* Resizes a run in place. Returns false and leaves it as it was if the units after it are not
 * free. */
bool ab_page_heap_resize(struct ab_span *run, unsigned n_units);
/* Gives back the pages of free spans that are older than AB_DECAY_MS; if `all` is set, of all free
 * spans. */
void ab_page_heap_purge(uint32_t now_ms, bool all);
/* Returns monotonic time in milliseconds from an unspecified start. */
uint32_t ab_clock_ms(void);

/* True if AB_DECAY_MS or more have passed from since_ms to now_ms. A thread may read the clock and
 * then wait for a lock while another thread sets the later `since_ms`. So a now_ms that is up to a
 * minute before since_ms counts as no time. */
static inline bool ab_clock_is_due(uint32_t since_ms, uint32_t now_ms)
{
    return now_ms - since_ms - AB_DECAY_MS < UINT32_MAX - AB_DECAY_MS - 60000;
}

/* For tests: returns the number of units of spans in use, and of free spans that hold pages. */
void ab_page_heap_count(size_t *n_used, size_t *n_dirty);

/* ---- large.c: mappings; may be called from any thread. Sizes up to PTRDIFF_MAX - align ---- */

void *ab_large_alloc(size_t size, size_t align, bool *is_zero);
void ab_large_free(void *p);           /* ends the process if p is not a mapping */
size_t ab_large_usable(const void *p); /* returns 0 if p is not a mapping */
void *ab_large_resize(void *p, size_t size);
void ab_large_purge(uint32_t now_ms, bool all);

/* Gives back spans and mappings that were free for a while. Called whenever spans or mappings are
 * allocated or freed; the caller holds no lock. */
void ab_decay_tick(void);

/* ---- fail.c ---- */

/* Reports the invalid free of p in one line on standard error, and ends the process. */
_Noreturn void ab_fail_free(const void *p, const char *why);

/* Take and release a lock. Do nothing while this thread forks: it holds all locks then, and fork
 * handlers of other libraries may allocate. */
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

/* Returns the record of the unit of p, which must be in one of our regions. */
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

/* Returns the index of the block that begins at `offset`; a number of 2^15 or more if none does.
 * `bytes` is odd << shift, and `inverse` is the inverse of the odd part modulo 2^32. The product
 * with a multiple of `bytes` is the quotient << shift. Every other product, rotated right by shift,
 * is above (2^32 - 1) / bytes (T. Granlund, P. Montgomery, Division by invariant integers using
 * multiplication, 1994, section 9). */
static inline uint32_t ab_span_index(const struct ab_span *slab, size_t offset)
{
    uint32_t product = (uint32_t)offset * slab->inverse;
    return product >> (slab->shift & 31) | product << (-slab->shift & 31);
}

/* Takes a free block of a current slab of the caller's heap; NULL if there is none. */
static inline void *ab_span_take(struct ab_span *slab)
{
    struct ab_free_block *block = slab->free;
    if (AB_LIKELY(block != NULL)) {
        slab->free = block->next;
        block->mark = 0;
    }
    return block;
}

/* Frees a block into a slab of the caller's heap. */
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
