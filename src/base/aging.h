/* SPDX-License-Identifier: MIT
 *
 * Makes an aged heap: allocates blocks with the sizes of the measured work, shuffles them, and
 * frees all except a part that stays. Calls only the two functions of struct ab_aging_calls, so
 * that it runs in a worker and in a real program alike. The same plan gives the same blocks on
 * every machine.
 */
#ifndef AB_BASE_AGING_H
#define AB_BASE_AGING_H

#include <stddef.h>
#include <stdint.h>

/* Limits of a request. AB_AGING_LEAST and AB_AGING_MOST limit `occupancy`, the share of the
 * allocated bytes that stays. The other two limit `multiple`: bytes to allocate, as a multiple of
 * the work's live peak. */
#define AB_AGING_LEAST 0.01
#define AB_AGING_MOST 0.95
#define AB_AGING_LEAST_MULTIPLE 0.01
#define AB_AGING_MOST_MULTIPLE 16.0

struct ab_aging_request { /* occupancy 0 = the heap is not aged */
    double occupancy, multiple;
    uint64_t seed;
};

/* Numbers of blocks, and the bytes that were requested for them. */
struct ab_aging_count {
    uint64_t made_blocks, made_bytes; /* all blocks that were allocated, also those freed later */
    uint64_t blocks, bytes;           /* the blocks that stay */
};

struct ab_aging_plan {
    struct ab_aging_request request;
    const uint64_t *sizes; /* sizes to draw from, each equally likely; size 0 is allocated as 1 */
    uint32_t n_sizes;
    uint64_t live_peak_bytes; /* live peak of the work that the heap is aged for */
};

struct ab_aging_block {
    uintptr_t ref;
    uint64_t size;
};

struct ab_aging_calls {
    void *user;
    /* returns 0 if there is no memory, which ends the aging */
    uintptr_t (*alloc)(void *user, size_t size);
    void (*free)(void *user, uintptr_t ref, size_t size);
};

/* Maximum number of blocks. Drawing ends at this number, or at multiple × live_peak_bytes bytes. */
#define AB_AGING_BLOCKS_MOST (UINT64_C(1) << 27)

/* Computes how many blocks and bytes will be made, without allocating. `blocks` and `bytes` of the
 * result, which count what stays, are 0. */
struct ab_aging_count ab_aging_foresee(const struct ab_aging_plan *plan);

/* Creates the aged heap. `blocks` has room for all foreseen blocks; on return those that stay come
 * first. If `alloc` fails, aging ends: fewer blocks than foreseen are made, and all of them
 * stay. */
struct ab_aging_count ab_aging_make(const struct ab_aging_plan *plan,
                                    const struct ab_aging_calls *calls,
                                    struct ab_aging_block *blocks);

/* A uniform sample of a sequence of sizes of unknown length: each size is equally likely to be
 * among the `cap` that are kept. The random stream is the same for a tape and for a trace. */
enum { AB_AGING_SAMPLE_STREAM = 0x6c73 };
struct ab_aging_sizes {
    uint64_t *sizes; /* array of cap sizes */
    uint32_t cap, n;
    uint64_t n_seen;
};
struct ab_rng;
void ab_aging_sizes_take(struct ab_aging_sizes *s, struct ab_rng *rng, uint64_t size);

#endif
