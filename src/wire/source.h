/* SPDX-License-Identifier: MIT
 *
 * What kind of back end is measured: the same two words from the command line to the worker and in
 * results (result/result.h names the boundaries).
 */
#ifndef AB_WIRE_SOURCE_H
#define AB_WIRE_SOURCE_H

/* How ops reach the allocator. Each boundary has its own null. */
enum ab_boundary {
    AB_BOUNDARY_MALLOC, /* malloc(n)-shaped function pointers */
    AB_BOUNDARY_HEAP,   /* alloc(heap, n)-shaped: struct ab_backend */
    AB_BOUNDARY_INLINE, /* the back end compiled into the loop: no call; one lane */
    AB_BOUNDARY_CURSOR, /* the same, allocating through a cursor in registers */
    AB_BOUNDARY_ROUTED, /* several heaps, one chosen for each request (wire/route.h) */
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

#endif
