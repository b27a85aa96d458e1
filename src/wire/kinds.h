/* SPDX-License-Identifier: MIT
 *
 * Words that are the same from the command line to the worker and in results (result/result.h): what
 * kind of back end is measured, what a worker does with the tape, and when memory is read.
 */
#ifndef AB_WIRE_KINDS_H
#define AB_WIRE_KINDS_H

/* How ops reach the allocator. Each boundary has its own null. */
enum ab_boundary {
    AB_BOUNDARY_MALLOC, /* malloc(n)-shaped function pointers */
    AB_BOUNDARY_HEAP,   /* alloc(heap, n)-shaped: struct ab_backend */
    AB_BOUNDARY_INLINE, /* the back end compiled into the loop: no call; one lane */
    AB_BOUNDARY_CURSOR, /* the same, allocating through a cursor in registers */
    AB_BOUNDARY_PLACED, /* several heaps, one chosen for each request (wire/placement.h) */
    AB_BOUNDARY_COUNT
};

/* Where the functions come from. */
enum ab_source {
    AB_SOURCE_NULL,    /* the null back end of `boundary` */
    AB_SOURCE_LIBC,    /* malloc boundary, the C library's own */
    AB_SOURCE_PRELOAD, /* malloc boundary, a preloaded library, `path`; identity is proven */
    AB_SOURCE_BUILTIN, /* heap boundary, by name, with `values` */
    AB_SOURCE_PLUGIN,  /* heap boundary, dlopen of `path`, symbol ab_backend_v1 */
    AB_SOURCE_PREFIX,  /* malloc boundary, dlopen of `path`, functions PREFIXmalloc … */
};

/* The null back end serves any boundary, and says which. */
static inline enum ab_boundary ab_source_boundary(enum ab_source source)
{
    return source == AB_SOURCE_BUILTIN || source == AB_SOURCE_PLUGIN ? AB_BOUNDARY_HEAP
                                                                     : AB_BOUNDARY_MALLOC;
}

/* Of which kind is the library that serves malloc, by the functions it has. */
enum ab_introspect_kind {
    AB_INTROSPECT_NONE,
    AB_INTROSPECT_MALLINFO,  /* the C library, scudo */
    AB_INTROSPECT_MALLCTL,   /* jemalloc */
    AB_INTROSPECT_EXTENSION, /* tcmalloc */
    AB_INTROSPECT_MIMALLOC,
    AB_INTROSPECT_TBB,  /* can purge, says nothing */
    AB_INTROSPECT_HEAP, /* hooks of a back end */
};

/* What a worker does with the tape: one pass a process. */

enum ab_pass {
    AB_PASS_VERIFY,       /* pre-flight: contents, alignment, zeroing; nothing is timed */
    AB_PASS_THROUGHPUT,   /* untimed ops, wall and CPU time a phase */
    AB_PASS_LATENCY,      /* a fenced pair around sampled ops, deltas to a ring */
    AB_PASS_TAIL,         /* every op by one chained reading, only what is slow is kept */
    AB_PASS_MEMORY,       /* footprint beside live bytes; nothing is timed, lanes in strict order */
    AB_PASS_CHECK,        /* one check of `verify` instead of a tape */
    AB_PASS_INSTRUCTIONS, /* untimed ops, instructions of the lane a phase; one lane only */
    AB_PASS_SYSTEM_CALLS, /* untimed ops, system calls are told to the parent */
    AB_PASS_SETTINGS,     /* no tape: the library says which settings are in force */
    AB_PASS_COUNT
};

/* When memory is read: in a phase, and once every block was freed. */

enum ab_memory_at {
    AB_AT_FOOTPRINT_PEAK,
    AB_AT_LIVE_PEAK,
    AB_AT_END, /* after the last op of the phase */
    AB_AT_COUNT
};

#define AB_DRAIN_COUNT 5 /* readings after the last free: result/result.h names them */

#endif
