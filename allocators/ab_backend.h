/* SPDX-License-Identifier: MIT
 *
 * The complete interface between allocbench and an allocator. Self-contained: copy this one header.
 *
 * A back end is one constant table of functions. Built-in ones are listed in allocators/builtin.c;
 * a shared object exports its table as the symbol `ab_backend_v1`:
 *
 *     const struct ab_backend ab_backend_v1 = {
 *         .abi = AB_BACKEND_ABI, .size = sizeof(struct ab_backend), .name = "mine", …
 *     };
 *
 * Rules for all functions:
 *   - Sizes are in bytes. A `heap` is one that `open` made, or that `thread_enter` made from it.
 *   - A NULL hook means "cannot": the op is counted as unsupported and never emulated. The run is
 *     then `partial`: shown, but kept out of every ratio, ranking and gate.
 *   - An `ab_ref` of 0 means failure (out of memory). Every other ref is a live block until it is
 *     freed or resized, or its heap is reset, released or closed.
 *   - Without `resolve` a ref is the address. It is aligned to 16 bytes, or for smaller blocks to
 *     the largest power of two ≤ size.
 *   - Hooks print nothing, start no process, install no signal handler and never exit.
 *   - Several threads call hooks at the same time only with AB_TRAIT_THREAD_SAFE, or with one heap
 *     per thread if there is a `thread_enter`.
 *
 * Frozen: a change of meaning or order needs a new ABI number. New hooks are added at the end and
 * recognized by `size`: those after AB_BACKEND_SIZE_MIN may be missing.
 */
#ifndef AB_BACKEND_H
#define AB_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#define AB_BACKEND_ABI 1u
#define AB_BACKEND_SYMBOL "ab_backend_v1"

typedef uintptr_t ab_ref; /* an address, or a handle that `resolve` turns into one; 0 = failure */

struct ab_heap; /* private to each back end */

/* Properties of a back end that a NULL hook cannot express. */
enum ab_trait {
    /* one heap serves several threads at the same time */
    AB_TRAIT_THREAD_SAFE = 1u << 0,
    /* serves one block size only, facts.largest_bytes */
    AB_TRAIT_FIXED_SIZE = 1u << 1,
    /* blocks may move; only refs stay valid */
    AB_TRAIT_MOVES = 1u << 2,
    /* another thread than the one that allocated a block may free it */
    AB_TRAIT_REMOTE_FREE = 1u << 3,
    /* free gives nothing back before a reset: memory use is the sum of all allocations, not the
     * live peak */
    AB_TRAIT_NO_FREE = 1u << 4,

    /* The next two traits are claims, which `allocbench verify` tests: */

    /* a second free, or a free of a pointer to no block, ends the process or changes nothing */
    AB_TRAIT_DETECTS_MISUSE = 1u << 5,
    /* the same calls give the same addresses, relative to the first block */
    AB_TRAIT_REPEATABLE = 1u << 6,

    /* Limit: each slot serves a limited number of blocks, freed or not. When all slots are used up,
     * every request fails, even if all blocks are free. */
    AB_TRAIT_WEARS = 1u << 7,
};

enum ab_param_type { AB_PARAM_BYTES, AB_PARAM_COUNT, AB_PARAM_BOOL, AB_PARAM_CHOICE };

/* A parameter of the back end, set as `slab:NAME=VALUE`. The values are passed in
 * `ab_open_args.values`, in the order of the table; the value of a CHOICE is the index into
 * `choices`. */
struct ab_param {
    const char *name, *help;
    enum ab_param_type type;
    uint64_t def, min, max;
    const char *const *choices; /* for CHOICE only; ends with NULL */
};

/* Facts about the workload, so that a pool can size itself. All are exact. */
struct ab_facts {
    uint64_t largest_bytes; /* the largest request */
    uint64_t largest_align; /* the largest requested alignment; 0 = none beyond the natural one */
    uint64_t live_peak_blocks;
    uint64_t live_peak_bytes; /* peak of the requested bytes of live blocks */
    uint64_t total_bytes;  /* sum of all requests of the run; a resize counts with its new size */
    uint64_t total_blocks; /* number of allocations and resizes */
    uint32_t lanes;
    uint32_t kinds; /* bit 1 << AB_OP_… for each kind of op used */
};

/* Ops of a back end, as named in results; also the bits of ab_facts.kinds. */
enum ab_op_kind {
    AB_OP_ALLOC,
    AB_OP_ALLOC_ZEROED,
    AB_OP_ALLOC_ALIGNED,
    AB_OP_RESIZE,
    AB_OP_FREE,
    AB_OP_RESET,
    /* no hook: reads or writes the first byte of a block, after `resolve` */
    AB_OP_ACCESS,
    AB_OP_KIND_COUNT
};

struct ab_open_args {
    uint32_t size; /* size of this struct, in bytes */
    uint32_t reserved;
    const struct ab_facts *facts;
    const uint64_t *values; /* one value for each parameter, in the order of the table */
};

#define AB_UNKNOWN UINT64_MAX
/* Figures that a heap reports about itself; AB_UNKNOWN for those that it does not know. */
struct ab_heap_stats {
    uint64_t reserved_bytes, committed_bytes, live_bytes, metadata_bytes, os_calls;
};

struct ab_backend {
    /* abi is AB_BACKEND_ABI, size is sizeof(struct ab_backend); both are checked before everything
     * else */
    uint32_t abi, size;
    const char *name;    /* matches [A-Za-z0-9._-]{1,64} */
    const char *summary; /* one line */
    uint64_t traits;     /* bits of enum ab_trait */
    const struct ab_param *params;
    size_t n_params;

    /* -- required -- */

    /* Opens a heap. Returns 0 or an errno; on failure *out is untouched. May map memory, but must
     * not commit memory that the first alloc does not need. */
    int (*open)(const struct ab_open_args *args, struct ab_heap **out);
    void (*close)(struct ab_heap *heap);                /* gives everything back to the system */
    ab_ref (*alloc)(struct ab_heap *heap, size_t size); /* size 0 may return a live block or 0 */

    /* -- optional -- */

    /* Allocates a block at a multiple of `align`, a power of two; size need not be a multiple of
     * it. */
    ab_ref (*alloc_aligned)(struct ab_heap *heap, size_t align, size_t size);
    ab_ref (*alloc_zeroed)(struct ab_heap *heap, size_t size);
    /* Frees a block; `size` is the size requested last. ref 0 does nothing. */
    void (*free)(struct ab_heap *heap, ab_ref ref, size_t size);
    /* Resizes a block and keeps the first min(old, new) bytes. On failure returns 0 and leaves the
     * block as it was. new_size and ref are never 0. */
    ab_ref (*resize)(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size);
    size_t (*usable_size)(struct ab_heap *heap, ab_ref ref);
    void (*reset)(struct ab_heap *heap); /* ends the life of all blocks */
    uint64_t (*mark)(struct ab_heap *heap);
    /* ends the life of the blocks younger than mark */
    void (*release)(struct ab_heap *heap, uint64_t mark);
    /* returns unused memory to the system now */
    void (*purge)(struct ab_heap *heap);
    void *(*resolve)(struct ab_heap *heap, ab_ref ref); /* returns NULL for a stale handle */
    int (*stats)(struct ab_heap *heap, struct ab_heap_stats *out);
    /* Makes a heap ready for the calling thread. Returns 0 or an errno. The thread passes *out,
     * which may be `heap` itself, to all hooks from now on. */
    int (*thread_enter)(struct ab_heap *heap, uint32_t lane, struct ab_heap **out);
    void (*thread_leave)(struct ab_heap *heap);

    /* -- after AB_BACKEND_SIZE_MIN -- */

    /* Returns the table that serves these settings, if they change the traits or the hooks. It has
     * the same name and params and is never NULL. A NULL hook means that this table serves all
     * settings. */
    const struct ab_backend *(*variant)(const uint64_t *values);
};

#define AB_BACKEND_SIZE_MIN offsetof(struct ab_backend, variant)

static inline const struct ab_backend *ab_backend_variant(const struct ab_backend *b,
                                                          const uint64_t *values)
{
    return b->size > AB_BACKEND_SIZE_MIN && b->variant != NULL ? b->variant(values) : b;
}

#endif
