/* SPDX-License-Identifier: MIT
 *
 * Proposes a heap for each group of allocations in a trace. Blocks are grouped by the place in the
 * program that requested them. Each group gets a proposal from the lifetimes and sizes of its
 * blocks, and groups with the same proposal share a heap. A second pass over the trace proves that
 * no block outlives what its heap promises. Nothing is measured here: replays measure whether a
 * proposal pays.
 *
 * Sizes are in bytes, lifetimes in calls of the whole trace. A scope is a frame or a request, as
 * trace_tools/scopes.h finds them.
 */
#ifndef AB_ADVISE_ADVISE_H
#define AB_ADVISE_ADVISE_H

#include "core/status.h"
#include "symbols/site_match.h"
#include "trace/site_table.h"
#include "trace_tools/scopes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ab_advice_kind {
    AB_ADVICE_KEEP, /* stays in the general malloc */
    /* each block dies in its scope, the youngest first: an arena with save points */
    AB_ADVICE_STACK,
    /* each block dies in its scope: an arena that is reset at the end of the scope */
    AB_ADVICE_FRAME,
    AB_ADVICE_NESTED, /* each block dies in a shorter nested scope: an arena with save points */
    /* each block dies by the end of the next scope: two arenas, used alternately */
    AB_ADVICE_DOUBLE,
    AB_ADVICE_POOL, /* blocks of one size, many at a time */
    AB_ADVICE_SLAB, /* blocks of few small sizes, many at a time */
    AB_ADVICE_KIND_COUNT
};
/* Returns the name used in JSON: "keep", "stack", "frame", "nested", "double", "pool" or "slab". */
const char *ab_advice_kind_name(enum ab_advice_kind kind);

/* The way in which a place requests memory. If a place uses several ways, the one that comes last
 * in this list counts. */
enum ab_advice_call {
    AB_ADVICE_CALL_MALLOC, /* malloc of C, or unknown */
    AB_ADVICE_CALL_NEW,    /* operator new of C++ or a function around it */
    AB_ADVICE_CALL_STD,    /* a container or string of the C++ library */
};
/* Returns the name used in JSON: "malloc", "new" or "std". */
const char *ab_advice_call_name(enum ab_advice_call call);

/* A class of the C++ library by which a container is recognized. A set of rows of
 * ab_advice_containers is a bit mask. */
struct ab_advice_container {
    const char *class_name; /* without std:: and template arguments */
    const char *type;       /* name in source code, without std:: */
    char family;            /* letter that is the same for all containers with one implementation */
    /* True if the class is a base class in the implementation, so that `type` is a guess */
    bool is_base;
};
enum { AB_ADVICE_CONTAINERS = 22 };
extern const struct ab_advice_container ab_advice_containers[AB_ADVICE_CONTAINERS];
/* Returns true if the set of rows `seen` contains `row` and no earlier row for the same
 * container. */
bool ab_advice_container_counts(uint32_t seen, uint32_t row);

enum {
    AB_ADVICE_SIZES = 16,    /* number of distinct sizes that are stored for a group */
    AB_ADVICE_SURVIVORS = 8, /* number of survivors that are stored for a group */
    /* number of classes of lifetimes, by log2 of the lifetime, as AB_SITE_LIVES */
    AB_ADVICE_LIVES = 40,
    AB_ADVICE_HEAPS_MAX = 15, /* largest number of heaps besides the general malloc */
};
#define AB_ADVICE_NO_HEAP UINT32_MAX
#define AB_ADVICE_NEVER UINT64_MAX /* `died` of a block that is never freed */

struct ab_advice_size {
    uint64_t bytes, calls;
};

struct ab_advice_survivor { /* a block that outlived the scope in which it was allocated */
    /* size: bytes; born, died: numbers of scopes from 0; died may be AB_ADVICE_NEVER */
    uint64_t size, born, died;
};

/* All blocks that one place in the program allocates. Resizes of these blocks count here too, even
 * if another place calls realloc. */
struct ab_advice_group {
    /* key for rules of --map: "site:game.c:88", "size:96"; "" = no rule matches the group alone */
    char key[560];
    char function[128]; /* "" = unknown; the same for file and module */
    char file[256];     /* file name without folders */
    char module[256];   /* file name of the module, without folders */
    uint64_t address;   /* offset of the call in the module's file */
    int line;           /* 0 = unknown */
    int column;         /* column of the call if its line has several calls; else 0 */
    enum ab_advice_call call;
    uint32_t
        /* rows of ab_advice_containers that request memory here, as a bit mask; 0 = unknown or no
         * container */
        containers;
    /* True if `key` is "" because a rule for the place would also match blocks of other groups */
    bool is_shadowed;
    uint64_t calls, resizes, frees, never_freed;
    uint64_t bytes; /* sum of the sizes of all requests */
    /* align_most: largest alignment, 16 if none was requested */
    uint64_t size_least, size_most, align_most;
    struct ab_advice_size sizes[AB_ADVICE_SIZES]; /* distinct sizes, the most frequent first */
    /* number of `sizes`; AB_ADVICE_SIZES + 1 = there were more */
    uint32_t n_sizes;
    uint64_t live_most_blocks, live_most_bytes; /* peaks */
    /* largest number of blocks and of bytes requested in one scope */
    uint64_t scope_most_blocks, scope_most_bytes;
    uint64_t in_scope, in_next,
        /* number of blocks that ended in the scope of their allocation, in the next scope, and
         * later or never */
        later;
    uint64_t lifo; /* number of frees of the group's youngest block */
    /* number of frees by another thread than the one that allocated the block */
    uint64_t remote;
    uint32_t n_threads; /* number of threads that allocate the blocks; 2 = two or more */
    uint32_t thread;    /* number of the first thread that allocates them */
    /* bytes of pages that stay resident because of the group's blocks; NaN = unknown */
    double pinned_bytes;
    uint32_t lives[AB_ADVICE_LIVES]; /* number of freed blocks by log2 of their lifetime */
    struct ab_advice_survivor survivors[AB_ADVICE_SURVIVORS];
    /* in_next + later if the trace has scopes; may exceed AB_ADVICE_SURVIVORS */
    uint64_t n_survivors;
    /* number of blocks that outlived the nested scopes in which most of the group's blocks died */
    uint64_t n_stragglers;
    uint64_t straggler_size; /* size of the first straggler, bytes */
    enum ab_advice_kind kind;
    uint32_t nest;   /* AB_ADVICE_NESTED: groups with the same number have the same nested scopes */
    const char *why; /* reason for `kind`: the end of a sentence */
    uint32_t heap;   /* index of the group's heap in ab_advice.heaps, or AB_ADVICE_NO_HEAP */
};

struct ab_advice_heap {
    char name[8];      /* "A" for the heap with the most calls, then "B", … */
    char backend[160]; /* back end in rules of --map: "arena:keep=512KiB" */
    /* back end that is compiled into the replay loop and has the capacity that --code sets:
     * "inline+pool:slot=96:slots=64"; "" = not possible, because the trace has several threads */
    char compiled[160];
    enum ab_advice_kind kind;
    uint32_t nest; /* `nest` of its groups */
    uint32_t n_groups;
    uint64_t calls, bytes;
    double pinned_bytes; /* sum over the heap's groups; NaN = unknown */
    uint64_t size_most;  /* size of its largest block; for a pool, the size of its slots */
    uint64_t align;      /* largest alignment of its blocks */
    uint64_t most_blocks,
        /* measured peaks of live blocks and bytes. For an arena: the most that one scope requests;
         * for a nested one, the most that one nested scope requests */
        most_bytes;
    /* AB_ADVICE_NESTED: number of times that the heap was filled after it was empty */
    uint64_t n_nested;
    uint64_t capacity_blocks; /* pool: most_blocks plus a margin; else 0 */
    /* most_bytes plus a margin, for each of the two halves of a double arena; 0 = no limit */
    uint64_t capacity_bytes;
    uint32_t n_threads; /* number of threads that allocate from the heap; 2 = two or more */
    uint32_t thread;    /* number of the first thread that allocates from it */
    /* frees: number of frees of its blocks; n_remote: frees by another thread than the one that
     * allocated the block */
    uint64_t frees, n_remote;
    bool is_local;            /* True if n_remote is 0 */
    bool is_of_thread_scopes; /* True if each thread that uses the heap has scopes of its own */
};
/* True if several threads allocate from the heap or free its blocks. Then each thread gets a heap
 * (threads=local). Frees do not count for arenas, because the code with the heaps has no frees of
 * arena blocks. */
bool ab_advice_is_shared(const struct ab_advice_heap *heap);

struct ab_advice {
    struct ab_advice_group *groups; /* sorted by calls, the most first */
    size_t n_groups;
    struct ab_advice_heap heaps[AB_ADVICE_HEAPS_MAX];
    size_t n_heaps;
    uint64_t calls;    /* number of allocations and resizes that returned a block */
    uint64_t n_events; /* number of calls in the trace */
    /* number of calls up to the end of the last scope, if few calls follow. These calls are left
     * out of measurements, because frees at the end of a program belong to no scope. Otherwise
     * n_events */
    uint64_t n_before_end;
    /* number of scopes, summed over all threads with scopes of their own; 0 = no scopes */
    uint64_t n_scopes;
    /* number of threads with scopes of their own; 0 = all threads share the scopes */
    uint32_t n_scope_threads;
    bool is_marked;      /* True if the program marked the scopes */
    double least_pinned; /* least_pinned of the plan, bytes */
    bool has_sites;      /* True if groups are call sites; false if they are size classes */
    uint32_t n_threads;
    uint64_t time_us;           /* duration of the trace; 0 = unknown */
    char program[256];          /* "" = unknown */
    struct ab_site_table sites; /* table of call sites of the trace, as passed to `name` */
    /* index of the heap of each call stack; [0] is for blocks without a stack. NULL = groups are
     * size classes */
    uint32_t *heap_of_site;
};

struct ab_advise_plan {
    const char *path; /* trace file */
    bool is_partial;
    /* scopes of the trace. Blocks of a thread without scopes are in no scope */
    const struct ab_scopes *scopes;
    /* Further threads with scopes of their own, if `scopes` belongs to one thread; NULL = none. */
    const struct ab_scopes_of_threads *threads;
    bool is_flat; /* True to leave out the search for nested scopes */
    /* returns the names of the functions in a frame; NULL = frames have no names */
    ab_site_name *name;
    void *user;
    /* returns the bytes of pages that stay resident because of a group, NaN = unknown; NULL = not
     * known for any group. A group that pins at least least_pinned bytes gets its own kind of heap
     * if one suits */
    double (*pinned_by)(const void *pins, const struct ab_advice_group *group);
    const void *pins;
    double least_pinned;
};

/* Works out the advice in several passes over the trace. Memory: O(live blocks + sites). Fails with
 * AB_INPUT or AB_SYSTEM. Release *out with ab_advice_fini() in any case. */
enum ab_status ab_advise(const struct ab_advise_plan *plan, struct ab_advice *out,
                         struct ab_err *err);
void ab_advice_fini(struct ab_advice *a);

#endif
