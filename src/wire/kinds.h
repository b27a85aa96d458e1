/* SPDX-License-Identifier: MIT
 *
 * Enums that are the same from the command line to the worker and in results (result/result.h): the
 * kind of back end, the pass that a worker runs, and the moments at which memory is read.
 */
#ifndef AB_WIRE_KINDS_H
#define AB_WIRE_KINDS_H

/* Ways in which ops reach the allocator. Each boundary has a null back end of its own. */
enum ab_boundary {
    AB_BOUNDARY_MALLOC, /* pointers to functions like malloc(n) */
    AB_BOUNDARY_HEAP,   /* functions like alloc(heap, n): struct ab_backend */
    AB_BOUNDARY_INLINE, /* the back end is compiled into the loop, without a call; one lane only */
    AB_BOUNDARY_CURSOR, /* INLINE with a cursor in registers for allocations */
    /* a placement: several heaps, and each request goes to one of them (placement_file.h) */
    AB_BOUNDARY_PLACED,
    AB_BOUNDARY_COUNT
};

/* Origin of the functions under test. */
enum ab_source {
    AB_SOURCE_NULL, /* the null back end of `boundary` */
    AB_SOURCE_LIBC, /* malloc boundary: the C library's own malloc */
    /* malloc boundary: preloaded library `path`; the worker proves that it serves malloc */
    AB_SOURCE_PRELOAD,
    AB_SOURCE_BUILTIN, /* heap boundary: built-in of the given name, with `values` */
    AB_SOURCE_PLUGIN,  /* heap boundary: dlopen of `path`, symbol ab_backend_v1 */
    AB_SOURCE_PREFIX,  /* malloc boundary: dlopen of `path`, functions PREFIXmalloc … */
};

/* Returns the boundary of a source. Not for AB_SOURCE_NULL, which serves any boundary. */
static inline enum ab_boundary ab_source_boundary(enum ab_source source)
{
    return source == AB_SOURCE_BUILTIN || source == AB_SOURCE_PLUGIN ? AB_BOUNDARY_HEAP
                                                                     : AB_BOUNDARY_MALLOC;
}

/* Family of the library that serves malloc, recognized by the functions that it exports. */
enum ab_introspect_kind {
    AB_INTROSPECT_NONE,
    AB_INTROSPECT_MALLINFO,  /* the C library, scudo */
    AB_INTROSPECT_MALLCTL,   /* jemalloc */
    AB_INTROSPECT_EXTENSION, /* tcmalloc */
    AB_INTROSPECT_MIMALLOC,
    AB_INTROSPECT_TBB,  /* can purge, but has no statistics */
    AB_INTROSPECT_HEAP, /* hooks of a heap back end */
};

/* Passes. A worker process runs one pass. */

enum ab_pass {
    AB_PASS_VERIFY,     /* pre-flight: proves contents, alignment and zeroing; nothing is timed */
    AB_PASS_THROUGHPUT, /* ops are not timed singly; wall and CPU time of each phase */
    AB_PASS_LATENCY,    /* sampled ops are timed between two fences */
    /* every op is timed from the tick reading after the op before; only slow ops are kept */
    AB_PASS_TAIL,
    AB_PASS_MEMORY,       /* footprint beside live bytes; nothing is timed, lanes in strict order */
    AB_PASS_CHECK,        /* one check of `verify` instead of a tape */
    AB_PASS_INSTRUCTIONS, /* counts the instructions of each phase; one lane only */
    AB_PASS_SYSTEM_CALLS, /* the parent is notified of each system call */
    AB_PASS_SETTINGS,     /* no tape: the library reports the settings that are in force */
    AB_PASS_COUNT
};

/* Moments of a phase at which memory is read. */

enum ab_memory_at {
    AB_AT_FOOTPRINT_PEAK,
    AB_AT_LIVE_PEAK,
    AB_AT_END, /* after the last op of the phase */
    AB_AT_COUNT
};

/* number of footprint readings after the last free; result/result.h names them */
#define AB_DRAIN_COUNT 5

#endif
