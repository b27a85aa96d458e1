/* SPDX-License-Identifier: MIT
 *
 * What the interposer of `exec --inside` and its parent share: one mapping for all processes of a
 * run, which begins as zeroes. Counts are of each thread, in a page of its own; samples are few, so
 * all threads add theirs to the same sums.
 */
#ifndef AB_INSIDE_INSIDE_H
#define AB_INSIDE_INSIDE_H

#include "inside/inside_sites.h"
#include "result/hdr.h"

#include <stdint.h>

#define AB_INSIDE_NAME "liballocbench-inside.so"
#define AB_CLOSES_NAME "liballocbench-closes.so" /* src/inside/closes.c */
#define AB_INSIDE_VARIABLE "ALLOCBENCH_INSIDE"   /* the path of the mapping */
#define AB_INSIDE_MEMORY "allocbench-inside"     /* its name, as memfd_create takes it */

enum ab_inside_kind {
    AB_INSIDE_ALLOC,
    AB_INSIDE_ZEROED,
    AB_INSIDE_ALIGNED,
    AB_INSIDE_RESIZE,
    AB_INSIDE_FREE,
    AB_INSIDE_NULL, /* of the interposer alone, to know what it costs: no call of the program */
    AB_INSIDE_KINDS
};

enum {
    AB_INSIDE_CLASSES = 65, /* (2^(i − 1), 2^i] bytes; a free has class 0 */
    AB_INSIDE_EVERY = 128,  /* one call in so many is timed, on average */
    AB_INSIDE_LOOK = 16,    /* … but one in so many of these is looked at instead */
    AB_INSIDE_SLOTS =
        16384, /* threads that have counters of their own; later ones share the last */
};
#define AB_INSIDE_NULL_SCALE 1024 /* the cost of a call is in so many parts of a tick */

struct ab_inside_longest { /* of the timed calls of a kind in a thread */
    uint64_t ticks;        /* 0: none, or it is being written */
    uint64_t call, class;  /* its number among the calls of its kind in its thread, from 1 on */
    uint64_t at_ticks;     /* since the first process began */
};

struct ab_inside_slot {
    uint64_t calls[AB_INSIDE_KINDS][AB_INSIDE_CLASSES];
    struct ab_inside_longest longest[AB_INSIDE_KINDS];
} __attribute__((aligned(4096)));

struct ab_inside_file {
    uint64_t
        ns_per_tick_32; /* ns in a tick, in fixed point with 32 fractional bits; set by the parent */
    uint32_t n_slots;   /* may exceed AB_INSIDE_SLOTS: so many threads wanted one */
    uint32_t n_processes;        /* that measured what a call costs more, timing and all: */
    uint64_t null_call;          /* the sum of that, by AB_INSIDE_NULL_SCALE */
    uint64_t n_looks, null_look; /* looks ahead of a timed call; the sum of the ticks of one */
    uint64_t start_ns;           /* CPU time of the interposer's start, of all processes */
    uint64_t begin_ticks;        /* when the first process began; 0 = not yet */
    uint64_t empty_call; /* least cost of an empty call, by AB_INSIDE_NULL_SCALE; 0 = not known */
    struct ab_hdr
        empty_ticks; /* what timing an empty call read, in ticks; min and max are unused */
    /* Calls that were not timed but looked at, and those of them in which the thread had a page fault
     * or slept. */
    uint64_t looked[AB_INSIDE_KINDS], entered[AB_INSIDE_KINDS];
    struct ab_inside_sum sampled[AB_INSIDE_KINDS][AB_INSIDE_CLASSES];
    struct ab_inside_sum taken[AB_INSIDE_KINDS]; /* in which the thread lost the CPU: in no other */
    struct ab_inside_sum blocked[AB_INSIDE_KINDS]; /* in which it slept: not in `sampled` */
    struct ab_hdr hdrs[AB_INSIDE_KINDS];           /* ns, of sampled and blocked ones; min + 1 */
    struct ab_inside_sites sites;
    struct ab_inside_slot slots[AB_INSIDE_SLOTS];
};

#endif
