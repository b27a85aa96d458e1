/* SPDX-License-Identifier: MIT
 *
 * What a work looks like at a glance, in a size that does not grow with it: how large blocks are
 * and how long they live, how much lives when, and which thread frees what which thread allocated.
 * Sizes are in bytes, lifetimes and time in calls.
 */
#ifndef AB_TAPE_OVERVIEW_H
#define AB_TAPE_OVERVIEW_H

#include "base/bits.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    AB_OVERVIEW_CLASSES = 48, /* by powers of two; the last one holds all above */
    AB_OVERVIEW_STEPS = 1000, /* of the curve, at most */
    AB_OVERVIEW_THREADS = 32, /* rows of the matrix, at most */
    AB_OVERVIEW_OTHERS = -1,  /* as a row: all threads that have none */
};

/* Class k holds (2^(k-1), 2^k], class 0 holds 0 and 1: as the size classes of a result. */
static inline unsigned ab_overview_class(uint64_t v)
{
    unsigned k = v <= 1 ? 0 : ab_log2_up(v);
    return k < AB_OVERVIEW_CLASSES ? k : AB_OVERVIEW_CLASSES - 1;
}

struct ab_overview_step { /* requested bytes of live blocks after each of its calls */
    uint64_t low, high;
};

struct ab_overview {
    uint64_t n_calls;
    /* Blocks by the last size that was asked for, and the calls from allocation to free; the last
     * column: never freed. */
    uint64_t blocks[AB_OVERVIEW_CLASSES][AB_OVERVIEW_CLASSES + 1];
    uint64_t step_calls; /* width of a step, a power of two */
    uint32_t n_steps;
    struct ab_overview_step live[AB_OVERVIEW_STEPS];
    uint32_t n_threads; /* of the work; those with the most blocks have rows */
    uint32_t n_rows;
    int32_t thread[AB_OVERVIEW_THREADS]; /* ascending, or AB_OVERVIEW_OTHERS in the last row */
    /* Blocks of the thread of the row, by the thread that freed them; column n_rows: never freed. */
    uint64_t freed[AB_OVERVIEW_THREADS][AB_OVERVIEW_THREADS + 1];
};

#endif
