/* SPDX-License-Identifier: MIT
 *
 * Memory that the interposer of `exec --inside` shares with its parent: one mapping for all
 * processes of a run, zeroed at first. Each thread has counters of its own. Samples are rare, so
 * all threads add them to the same sums.
 */
#ifndef AB_INSIDE_INSIDE_H
#define AB_INSIDE_INSIDE_H

#include "result/hdr.h"

#include <stdint.h>

#define AB_INSIDE_NAME "liballocbench-inside.so"
#define AB_CLOSES_NAME "liballocbench-closes.so" /* made from src/inside/closes.c */
#define AB_INSIDE_VARIABLE "ALLOCBENCH_INSIDE"   /* path of the mapping */
#define AB_INSIDE_MEMORY "allocbench-inside"     /* name of the mapping for memfd_create */

enum ab_inside_kind {
    AB_INSIDE_ALLOC,
    AB_INSIDE_ZEROED,
    AB_INSIDE_ALIGNED,
    AB_INSIDE_RESIZE,
    AB_INSIDE_FREE,
    /* calls of the interposer itself, to measure its cost; no calls of the program */
    AB_INSIDE_NULL,
    AB_INSIDE_KINDS
};

enum {
    AB_INSIDE_CLASSES = 65, /* class i: sizes in (2^(i − 1), 2^i] bytes; frees have class 0 */
    AB_INSIDE_EVERY = 128,  /* one call in this many is timed, on average */
    AB_INSIDE_LOOK = 16,    /* in one of this many samples, a look (inside.c) replaces the timing */
    AB_INSIDE_SLOTS =
        16384, /* threads with counters of their own; later threads share the last slot */
};
#define AB_INSIDE_NULL_SCALE 1024 /* costs of a call are in units of 1/1024 tick */

/* Timed calls by call site, for `exec --inside --sites`: a table of fixed size, which a faulty
 * program may overwrite. */
enum { AB_INSIDE_SITES = 8192, AB_INSIDE_OBJECTS = 256, AB_INSIDE_PATH = 252 };
#define AB_INSIDE_OFFSETS ((UINT64_C(1) << 48) - 1)

struct ab_inside_sum {
    uint64_t n, ticks;
};

struct ab_inside_object {
    uint32_t state;
    char path[AB_INSIDE_PATH];
};

struct ab_inside_site {
    /* index of the object + 1 in the top 16 bits, then the address in the object's file; 0 =
     * unused */
    uint64_t key;
    struct ab_inside_sum sum;
};

struct ab_inside_sites {
    uint64_t is_wanted; /* 1 = call sites are noted; set by the parent */
    struct ab_inside_sum unknown;
    struct ab_inside_object objects[AB_INSIDE_OBJECTS];
    struct ab_inside_site sites[AB_INSIDE_SITES];
};

struct ab_inside_longest { /* the longest timed call of one kind in one thread */
    uint64_t ticks;        /* 0 = no call yet, or the entry is being written */
    uint64_t call, class;  /* call: its number among the calls of its kind in its thread, from 1 */
    uint64_t at_ticks;     /* time of the call since the start of the first process */
};

struct ab_inside_slot {
    uint64_t calls[AB_INSIDE_KINDS][AB_INSIDE_CLASSES];
    struct ab_inside_longest longest[AB_INSIDE_KINDS];
} __attribute__((aligned(4096)));

struct ab_inside_file {
    uint64_t
        ns_per_tick_32;   /* ns per tick, fixed point with 32 fractional bits; set by the parent */
    uint32_t n_slots;     /* number of slots that were asked for; may exceed AB_INSIDE_SLOTS */
    uint32_t n_processes; /* number of processes that measured the cost of the interposer */
    /* sum over these processes: the interposer's cost per call, in units of 1/AB_INSIDE_NULL_SCALE
     * tick */
    uint64_t null_call;
    /* n_looks: looks taken so that the next call can be timed; null_look: ticks of one look, summed
     * over the processes */
    uint64_t n_looks, null_look;
    uint64_t start_ns;    /* CPU time of the interposer's start, summed over all processes */
    uint64_t begin_ticks; /* tick at which the first process started; 0 = not yet */
    /* least cost of an empty call, in units of 1/AB_INSIDE_NULL_SCALE tick; 0 = not known */
    uint64_t empty_call;
    /* histogram of timed empty calls, in ticks; min and max are unused */
    struct ab_hdr empty_ticks;
    /* looked: samples with a look instead of a timing; entered: those of them with a page fault or
     * a sleep */
    uint64_t looked[AB_INSIDE_KINDS], entered[AB_INSIDE_KINDS];
    struct ab_inside_sum sampled[AB_INSIDE_KINDS][AB_INSIDE_CLASSES];
    /* timed calls in which the thread lost the CPU; in no other sum of samples */
    struct ab_inside_sum taken[AB_INSIDE_KINDS];
    /* timed calls in which the thread slept; not in `sampled` */
    struct ab_inside_sum blocked[AB_INSIDE_KINDS];
    /* ns of the calls in `sampled` and `blocked`; min is stored plus 1 */
    struct ab_hdr hdrs[AB_INSIDE_KINDS];
    struct ab_inside_sites sites;
    struct ab_inside_slot slots[AB_INSIDE_SLOTS];
};

#endif
