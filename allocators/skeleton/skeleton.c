/* SPDX-License-Identifier: MIT
 *
 * A back end to copy. It works, passes the contract suite and shows every part that a back end can
 * have. Each part says what it is for and when to leave it out. Copy this file to mine.c, then
 * build and measure it from the root of the repository (-I. lets the compiler find the header):
 *
 *     cc -std=gnu17 -O2 -Wall -fPIC -shared -I. -o libmine.so mine.c
 *     allocbench run configs/quickstart.yaml -b glibc,./libmine.so
 *
 * This allocator serves blocks of powers of two, carved from one large mapping. Freed blocks are
 * recycled through one free list per size. `free` gets the size, so that blocks need no headers.
 */
#include "allocators/ab_backend.h" /* the only header needed; copy it along */

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* ---- 1. The heap. allocbench never looks inside; its contents are up to you. ----
 *
 * Keep all state here and none in globals: allocbench may open two heaps at the same time. */

enum { SMALLEST_LOG2 = 4, N_CLASSES = 48 - SMALLEST_LOG2 };

struct free_block { /* the link inside a free block, so that a free list costs no memory */
    struct free_block *next;
};

struct ab_heap {
    struct free_block *free_lists[N_CLASSES];
    char *first, *next, *end; /* the mapping is [first, end); blocks were carved up to next */
    size_t mapped_bytes;
    uint64_t fill; /* the value of the parameter below */
};

/* ---- 2. Parameters, if you have any: `skeleton:fill=on`. ----
 *
 * Set as `-b ./libmine.so:fill=on`. Type and range are checked by this table before `open`. `open`
 * gets a valid value for each row, in the order of the table: the one that was set, or the
 * default. */

enum { PARAM_FILL, N_PARAMS };

static const struct ab_param params[N_PARAMS] = {
    [PARAM_FILL] = {.name = "fill",
                    .help = "fill freed blocks with 0xDD, to find uses after free",
                    .type = AB_PARAM_BOOL,
                    .def = 0,
                    .max = 1},
};

/* ---- 3. Helpers ---- */

/* Returns the class of a size. Blocks of class c have 16 << c bytes. */
static unsigned class_of(size_t size)
{
    if (size <= (size_t)1 << SMALLEST_LOG2)
        return 0;
    return 64u - (unsigned)__builtin_clzll(size - 1) - SMALLEST_LOG2;
}

static size_t class_bytes(unsigned class)
{
    return (size_t)1 << (class + SMALLEST_LOG2);
}

/* Returns a block that was never used. Compares before it adds, because a hostile size must not
 * wrap around. */
static ab_ref carve(struct ab_heap *heap, size_t align, size_t bytes)
{
    size_t pad = -(uintptr_t)heap->next & (align - 1);
    size_t room = (size_t)(heap->end - heap->next);
    if (pad > room || bytes > room - pad)
        return 0; /* a failed request returns 0; never exit, never print */
    char *block = heap->next + pad;
    heap->next = block + bytes;
    return (ab_ref)block;
}

/* ---- 4. Required: open, close, alloc ---- */

/* `facts` describes the workload exactly, so that a heap can be sized before the clock starts. This
 * one needs only addresses: memory of MAP_NORESERVE costs nothing until it is touched. Do not use
 * malloc in a back end, because its memory and its time would be counted as yours. */
static int skeleton_open(const struct ab_open_args *args, struct ab_heap **out)
{
    const struct ab_facts *facts = args->facts;
    double want = 2.0 * (double)facts->total_bytes +
                  (16.0 + 2.0 * (double)facts->largest_align) * (double)facts->total_blocks +
                  (double)(1 << 20);
    size_t bytes = want < 0x1p46 ? (size_t)want : (size_t)1 << 46;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (p == MAP_FAILED)
        return errno; /* *out stays untouched on failure */
    struct ab_heap *heap = (struct ab_heap *)p;
    *heap = (struct ab_heap){
        .first = p + (sizeof *heap + 15) / 16 * 16,
        .end = p + bytes,
        .mapped_bytes = bytes,
        .fill = args->values[PARAM_FILL],
    };
    heap->next = heap->first;
    *out = heap;
    return 0;
}

/* Returns all memory to the system, live blocks too. */
static void skeleton_close(struct ab_heap *heap)
{
    munmap(heap, heap->mapped_bytes);
}

/* Returns a block aligned to 16 bytes. Smaller blocks may be aligned to the largest power of two in
 * their size. */
static ab_ref skeleton_alloc(struct ab_heap *heap, size_t size)
{
    unsigned class = class_of(size);
    if (class >= N_CLASSES)
        return 0;
    struct free_block *block = heap->free_lists[class];
    if (block == NULL)
        return carve(heap, 16, class_bytes(class));
    heap->free_lists[class] = block->next;
    return (ab_ref)block;
}

/* ---- 5. Optional hooks. Leave out the operations that your allocator cannot do; the report then
 * says so. Do not emulate: leave out a resize that always copies. ---- */

/* Frees a block; ref 0 does nothing. Without this hook, workloads that free are partial. If an
 * allocator gives nothing back on purpose, as an arena does, its free does nothing and it declares
 * AB_TRAIT_NO_FREE. */
static void skeleton_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    if (ref == 0)
        return;
    unsigned class = class_of(size);
    struct free_block *block = (struct free_block *)ref;
    if (heap->fill)
        memset(block, 0xDD, class_bytes(class));
    block->next = heap->free_lists[class];
    heap->free_lists[class] = block;
}

/* Returns a block aligned to any power of two. The free lists guarantee only 16, so that this takes
 * fresh memory. A freed block goes to the list of its size. */
static ab_ref skeleton_alloc_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    unsigned class = class_of(size);
    if (align <= 16 || class >= N_CLASSES)
        return skeleton_alloc(heap, size);
    return carve(heap, align, class_bytes(class));
}

/* Returns a zeroed block. Memory from the system is zero, recycled memory is not. A better
 * allocator remembers which is which and clears only the latter. */
static ab_ref skeleton_alloc_zeroed(struct ab_heap *heap, size_t size)
{
    ab_ref ref = skeleton_alloc(heap, size);
    return ref == 0 ? 0 : (ab_ref)memset((void *)ref, 0, size);
}

/* Resizes a block and keeps its first min(old, new) bytes. On failure the old block stays as it
 * was. */
static ab_ref skeleton_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    if (class_of(old_size) == class_of(new_size))
        return ref;
    ab_ref moved = skeleton_alloc(heap, new_size);
    if (moved == 0)
        return 0;
    memcpy((void *)moved, (void *)ref, old_size < new_size ? old_size : new_size);
    skeleton_free(heap, ref, old_size);
    return moved;
}

/* Ends the life of all blocks. */
static void skeleton_reset(struct ab_heap *heap)
{
    memset(heap->free_lists, 0, sizeof heap->free_lists);
    heap->next = heap->first;
}

/* Reports figures of the heap. Use AB_UNKNOWN, not 0, for figures that you do not have. */
static int skeleton_stats(struct ab_heap *heap, struct ab_heap_stats *out)
{
    *out = (struct ab_heap_stats){
        .reserved_bytes = heap->mapped_bytes,
        .committed_bytes = AB_UNKNOWN,
        .live_bytes = AB_UNKNOWN,
        .metadata_bytes = sizeof *heap,
        .os_calls = 1,
    };
    return 0;
}

/* Left out here:
 *   usable_size    blocks do not store their size; a NULL hook makes that figure "n/a"
 *   mark, release  the allocator is not a stack
 *   purge          would give unused memory back to the system (madvise) while blocks live
 *   resolve        would convert a handle to an address; without it, a ref is the address
 *   thread_enter, thread_leave   would give each thread a heap of its own */

/* ---- 6. The table. A shared object exports it under exactly this name. ---- */

extern const struct ab_backend ab_backend_v1;

const struct ab_backend ab_backend_v1 = {
    .abi = AB_BACKEND_ABI, /* .abi and .size are checked before everything else */
    .size = sizeof(struct ab_backend),
    .name = "skeleton",
    .summary = "powers of two with free lists; a template for new back ends",
    /* e.g. AB_TRAIT_THREAD_SAFE; traits are promises, read about each in ab_backend.h */
    .traits = 0,
    .params = params,
    .n_params = N_PARAMS,
    .open = skeleton_open,
    .close = skeleton_close,
    .alloc = skeleton_alloc,
    .alloc_aligned = skeleton_alloc_aligned,
    .alloc_zeroed = skeleton_alloc_zeroed,
    .free = skeleton_free,
    .resize = skeleton_resize,
    .reset = skeleton_reset,
    .stats = skeleton_stats,
};
