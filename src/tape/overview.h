/* SPDX-License-Identifier: MIT
 *
 * Overview of a work in a fixed size: sizes and lifetimes of blocks, live bytes over time, and
 * which thread frees blocks of which thread. Sizes are in bytes, lifetimes and times in calls.
 */
#ifndef AB_TAPE_OVERVIEW_H
#define AB_TAPE_OVERVIEW_H

#include "base/bits.h"

#include <stdint.h>

enum {
    AB_OVERVIEW_CLASSES = 48, /* powers of two; the last one includes everything larger */
    AB_OVERVIEW_STEPS = 1000, /* most points of the curve */
    AB_OVERVIEW_THREADS = 32, /* most rows of the matrix */
    AB_OVERVIEW_OTHERS = -1,  /* row of all threads without a row of their own */
};

/* Returns the class of a value. Class k covers (2^(k-1), 2^k], class 0 covers 0 and 1, like the
 * size classes of a result. */
static inline unsigned ab_overview_class(uint64_t v)
{
    unsigned k = v <= 1 ? 0 : ab_log2_up(v);
    return k < AB_OVERVIEW_CLASSES ? k : AB_OVERVIEW_CLASSES - 1;
}

struct ab_overview_step { /* range of the live requested bytes during a step's calls */
    uint64_t low, high;
};

struct ab_overview {
    uint64_t n_calls;
    /* blocks by last requested size and by the number of calls from allocation to free; last
     * column: never freed */
    uint64_t blocks[AB_OVERVIEW_CLASSES][AB_OVERVIEW_CLASSES + 1];
    uint64_t step_calls; /* calls in a step, a power of two */
    uint32_t n_steps;
    struct ab_overview_step live[AB_OVERVIEW_STEPS];
    uint32_t n_threads; /* number of all threads; those with the most blocks have rows */
    uint32_t n_rows;
    /* thread of each row, ascending; AB_OVERVIEW_OTHERS in the last row stands for all others */
    int32_t thread[AB_OVERVIEW_THREADS];
    /* number of blocks of the row's thread, by the thread that freed them; column n_rows: never
     * freed */
    uint64_t freed[AB_OVERVIEW_THREADS][AB_OVERVIEW_THREADS + 1];
};

#endif
