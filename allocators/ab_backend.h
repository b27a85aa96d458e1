/* SPDX-License-Identifier: MIT
 *
 * The whole contract between allocbench and an allocator. Self-contained: copy this one header.
 *
 * A back end is one constant table of functions. Built-in ones are listed in
 * allocators/builtin.c; a shared object exports its table as the symbol `ab_backend_v1`:
 *
 *     const struct ab_backend ab_backend_v1 = {
 *         .abi = AB_BACKEND_ABI, .size = sizeof(struct ab_backend), .name = "mine", …
 *     };
 *
 * Valid for all functions:
 *   - Sizes are in bytes. A `heap` is what `open` made, or what `thread_enter` made of it.
 *   - A NULL hook means "cannot": the op is counted as unsupported, never emulated, and the run
 *     is `partial`: shown, but kept out of every ratio, ranking and gate.
 *   - An `ab_ref` of 0 means failure (out of memory); every non-zero ref is a live block until it
 *     is freed, resized, or its heap is reset, released or closed. Without `resolve` a ref is the
 *     address, aligned to 16 bytes, or to the largest power of two ≤ size for smaller blocks.
 *   - Hooks print nothing, start no process, install no signal handler and never exit.
 *   - Called concurrently from several threads only with AB_TRAIT_THREAD_SAFE, or per heap when
 *     `thread_enter` gives each thread its own.
 *
 * Frozen: a change of meaning or order needs a new ABI number; new hooks go at the end and are
 * recognised by `size`: those after AB_BACKEND_SIZE_MIN need not be there.
 */
#ifndef AB_BACKEND_H
#define AB_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#define AB_BACKEND_ABI 1u
#define AB_BACKEND_SYMBOL "ab_backend_v1"

typedef uintptr_t ab_ref; /* an address, or a handle that `resolve` turns into one; 0 = failure */

struct ab_heap; /* private to each back end */

enum ab_trait {                                 /* what a NULL hook cannot say */
                AB_TRAIT_THREAD_SAFE = 1u << 0, /* one heap serves concurrent threads */
                AB_TRAIT_FIXED_SIZE = 1u << 1,  /* serves one block size, facts.largest_bytes */
                AB_TRAIT_MOVES = 1u << 2,       /* blocks may move; only refs are stable */
                AB_TRAIT_REMOTE_FREE =
                    1u << 3, /* a block may be freed by another thread than its own */
                AB_TRAIT_NO_FREE =
                    1u << 4, /* free gives nothing back before reset: memory use is the sum
                                       of all allocations, not the live peak */
                /* Claims, which `allocbench verify` holds it to: */
                AB_TRAIT_DETECTS_MISUSE =
                    1u << 5, /* a second free, or one of what is no block, ends the
                                          process or changes nothing */
                AB_TRAIT_REPEATABLE =
                    1u << 6, /* the same calls give the same addresses, counted from the
                                      first block */
                /* Says why NULL may be for good: */
                AB_TRAIT_WEARS = 1u
                                 << 7, /* places serve so many blocks and no more, frees or not */
};

enum ab_param_type { AB_PARAM_BYTES, AB_PARAM_COUNT, AB_PARAM_BOOL, AB_PARAM_CHOICE };

/* A setting of the back end, `slab:NAME=VALUE`. Values arrive in `ab_open_args.values`, in the
 * order of the table; a CHOICE is the index into `choices`. */
struct ab_param {
    const char *name, *help;
    enum ab_param_type type;
    uint64_t def, min, max;
    const char *const *choices; /* CHOICE only, ends with NULL */
};

/* What the work to come will ask for, so that a pool can size itself. All exact. */
struct ab_facts {
    uint64_t largest_bytes; /* largest request */
    uint64_t largest_align; /* largest alignment asked for; 0 = none beyond the natural one */
    uint64_t live_peak_blocks;
    uint64_t live_peak_bytes; /* of requested bytes */
    uint64_t total_bytes;  /* requested over the whole run, resizes counted with their new size */
    uint64_t total_blocks; /* allocations and resizes */
    uint32_t lanes;
    uint32_t kinds; /* bit 1 << AB_OP_… for each kind of op used */
};

enum ab_op_kind { /* the ops of a back end, as named in results: bits of ab_facts.kinds */
                  AB_OP_ALLOC,
                  AB_OP_ALLOC_ZEROED,
                  AB_OP_ALLOC_ALIGNED,
                  AB_OP_RESIZE,
                  AB_OP_FREE,
                  AB_OP_RESET,
                  /* no hook: the first byte of a block is read or written, after `resolve` */
                  AB_OP_ACCESS,
                  AB_OP_KIND_COUNT
};

struct ab_open_args {
    uint32_t size; /* of this struct */
    uint32_t reserved;
    const struct ab_facts *facts;
    const uint64_t *values; /* one a param */
};

#define AB_UNKNOWN UINT64_MAX
struct ab_heap_stats { /* what the heap knows of itself; AB_UNKNOWN where it does not */
    uint64_t reserved_bytes, committed_bytes, live_bytes, metadata_bytes, os_calls;
};

struct ab_backend {
    uint32_t abi, size;  /* AB_BACKEND_ABI, sizeof(struct ab_backend): checked before all else */
    const char *name;    /* [A-Za-z0-9._-]{1,64} */
    const char *summary; /* one line */
    uint64_t traits;     /* enum ab_trait */
    const struct ab_param *params;
    size_t n_params;

    /* -- required -- */

    /* 0, or an errno; *out is untouched on failure. May map memory, must not commit what the
     * first alloc has no use for. */
    int (*open)(const struct ab_open_args *args, struct ab_heap **out);
    void (*close)(struct ab_heap *heap);                /* gives everything back to the system */
    ab_ref (*alloc)(struct ab_heap *heap, size_t size); /* size 0: a live block or 0, both fine */

    /* -- optional -- */

    /* align is a power of two; size need not be a multiple of it. */
    ab_ref (*alloc_aligned)(struct ab_heap *heap, size_t align, size_t size);
    ab_ref (*alloc_zeroed)(struct ab_heap *heap, size_t size);
    /* size is what was asked for last; ref 0 does nothing. */
    void (*free)(struct ab_heap *heap, ab_ref ref, size_t size);
    /* Keeps the first min(old, new) bytes. On failure returns 0 and leaves the block as it was.
     * new_size is never 0, ref never 0. */
    ab_ref (*resize)(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size);
    size_t (*usable_size)(struct ab_heap *heap, ab_ref ref);
    void (*reset)(struct ab_heap *heap); /* all blocks die together */
    uint64_t (*mark)(struct ab_heap *heap);
    void (*release)(struct ab_heap *heap, uint64_t mark); /* all blocks younger than mark die */
    void (*purge)(struct ab_heap *heap);                /* return unused memory to the system now */
    void *(*resolve)(struct ab_heap *heap, ab_ref ref); /* NULL for a stale handle */
    int (*stats)(struct ab_heap *heap, struct ab_heap_stats *out);
    /* 0, or an errno. *out is what this thread passes as heap from now on; may be heap itself. */
    int (*thread_enter)(struct ab_heap *heap, uint32_t lane, struct ab_heap **out);
    void (*thread_leave)(struct ab_heap *heap);

    /* -- after AB_BACKEND_SIZE_MIN -- */

    /* The table that serves these settings, where they change traits or which hooks there are: of
     * the same name and params, never NULL. NULL hook: this table, whatever the settings. */
    const struct ab_backend *(*variant)(const uint64_t *values);
};

#define AB_BACKEND_SIZE_MIN offsetof(struct ab_backend, variant)

static inline const struct ab_backend *ab_backend_variant(const struct ab_backend *b,
                                                          const uint64_t *values)
{
    return b->size > AB_BACKEND_SIZE_MIN && b->variant != NULL ? b->variant(values) : b;
}

#endif
