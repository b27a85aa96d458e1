/* SPDX-License-Identifier: MIT
 *
 * Makes an aged heap. Blocks with the work's own sizes are allocated,
 * shuffled, and freed except for a part that stays. Calls only the two functions that it is given,
 * so it runs in a worker and in a real program alike. The same plan gives the same blocks on every
 * machine.
 */
#ifndef AB_BASE_AGING_H
#define AB_BASE_AGING_H

#include <stddef.h>
#include <stdint.h>

/* Limits of the request: the share of the bytes that stays, and the number of live peaks of the
 * work that are allocated. */
#define AB_AGING_LEAST 0.01
#define AB_AGING_MOST 0.95
#define AB_AGING_LEAST_MULTIPLE 0.01
#define AB_AGING_MOST_MULTIPLE 16.0

struct ab_aging_request { /* occupancy 0 = the heap is not aged */
    double occupancy, multiple;
    uint64_t seed;
};

struct ab_aging_count {               /* requested bytes */
    uint64_t made_blocks, made_bytes; /* all blocks that were allocated */
    uint64_t blocks, bytes;           /* blocks that stay */
};

struct ab_aging_plan {
    struct ab_aging_request request;
    const uint64_t *sizes; /* each is equally likely; 0 is allocated as 1 */
    uint32_t n_sizes;
    uint64_t live_peak_bytes; /* live peak of the work */
};

struct ab_aging_block {
    uintptr_t ref;
    uint64_t size;
};

struct ab_aging_calls {
    void *user;
    uintptr_t (*alloc)(void *user, size_t size); /* 0 = no memory; ends the aging */
    void (*free)(void *user, uintptr_t ref, size_t size);
};

/* Most blocks; drawing ends at multiple × live_peak_bytes or at this number. */
#define AB_AGING_BLOCKS_MOST (UINT64_C(1) << 27)

/* Computes how many blocks and bytes will be made, without allocating. The fields for what stays
 * are 0. */
struct ab_aging_count ab_aging_foresee(const struct ab_aging_plan *plan);

/* Makes the aged heap. `blocks` has room for all foreseen blocks; on return those that stay come
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
