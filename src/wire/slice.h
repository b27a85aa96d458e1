/* SPDX-License-Identifier: MIT
 *
 * The throughput and the latency pass of one lane in slices: stretches of the tape between fixed positions, the same
 * for every back end and every run, each timed by itself, with a reading of the canary between them
 * that is not counted.
 */
#ifndef AB_WIRE_SLICE_H
#define AB_WIRE_SLICE_H

#include <stdint.h>

struct ab_slice {
    uint64_t ticks;         /* 0: a reset passed over it */
    uint16_t before, after; /* of the canary, as it was when the slice began and ended */
    uint32_t phase;
    uint32_t samples_end; /* LATENCY: index of the first sample after it */
    uint32_t n_preempted; /* LATENCY: how often the scheduler gave the CPU away in it */
};

/* Ops a slice: most, unless a tape is so long that there would be too many slices; and least. */
enum { AB_SLICE_OPS = 4096, AB_SLICE_OPS_MIN = 64, AB_SLICES_MAX = 1 << 16 };

struct ab_slice_request {
    uint64_t offset;   /* in the run memfd, of cap slices */
    uint32_t cap, ops; /* cap 0 = no slices */
    uint16_t quiet;    /* least reading of the canary so far, 0 = not known */
    uint16_t reserved0;
    uint32_t reserved1;
    uint64_t wait_max_ticks; /* for quiet, in one run */
    uint32_t wait_times;     /* and no longer than so many times what the slices took so far */
    uint32_t reserved2;
};

struct ab_slice_report {
    uint32_t n, reserved;
    uint64_t waited_ticks; /* for quiet */
    uint64_t n_gaps;       /* readings in which something else had the CPU */
};

#endif
