/* SPDX-License-Identifier: MIT
 *
 * A heap that is not fresh: blocks of the work's own sizes are allocated, shuffled, and freed but for a
 * part that stays. Calls nothing but the two functions that it is given, so that it runs in a worker
 * and in a real program alike; the same plan gives the same blocks on every machine.
 */
#ifndef AB_BASE_LITTER_H
#define AB_BASE_LITTER_H

#include <stddef.h>
#include <stdint.h>

/* Of the bytes, what stays; and how many live peaks of the work are allocated. */
#define AB_LITTER_LEAST 0.01
#define AB_LITTER_MOST 0.95
#define AB_LITTER_LEAST_MULTIPLE 0.01
#define AB_LITTER_MOST_MULTIPLE 16.0

struct ab_litter_request { /* occupancy 0: the heap is fresh */
    double occupancy, multiple;
    uint64_t seed;
};

struct ab_litter_count {              /* requested bytes */
    uint64_t made_blocks, made_bytes; /* allocated */
    uint64_t blocks, bytes;           /* of these, what stays */
};

struct ab_litter_plan {
    struct ab_litter_request request;
    const uint64_t *sizes; /* each is drawn as often as any other; 0 is allocated as 1 */
    uint32_t n_sizes;
    uint64_t live_peak_bytes; /* of the work */
};

struct ab_litter_block {
    uintptr_t ref;
    uint64_t size;
};

struct ab_litter_calls {
    void *user;
    uintptr_t (*alloc)(void *user, size_t size); /* 0 ends it */
    void (*free)(void *user, uintptr_t ref, size_t size);
};

/* Blocks are drawn until they have multiple x live_peak_bytes, or there are so many. */
#define AB_LITTER_BLOCKS_MOST (UINT64_C(1) << 27)

/* How many blocks and bytes will be made; nothing is allocated, and what stays is 0. */
struct ab_litter_count ab_litter_foresee(const struct ab_litter_plan *plan);

/* `blocks` has room for all that is foreseen; those that stay are the first of it. An `alloc` that gives
 * nothing ends it: then fewer are made than foreseen, and all of these stay. */
struct ab_litter_count ab_litter_make(const struct ab_litter_plan *plan,
                                      const struct ab_litter_calls *calls,
                                      struct ab_litter_block *blocks);

/* A fair sample of sizes that come one after the other: of any number, the `cap` that are kept are
 * each as likely as the others. The stream of the seed that draws it is the same for a tape and for
 * a trace. */
enum { AB_LITTER_SAMPLE_STREAM = 0x6c73 };
struct ab_litter_sizes {
    uint64_t *sizes; /* cap */
    uint32_t cap, n;
    uint64_t n_seen;
};
struct ab_rng;
void ab_litter_sizes_take(struct ab_litter_sizes *s, struct ab_rng *rng, uint64_t size);

#endif
