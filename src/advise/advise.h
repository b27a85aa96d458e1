/* SPDX-License-Identifier: MIT
 *
 * Which allocations of a trace belong where: blocks are grouped by the place in the program that
 * asked for them, each group gets a proposal by what its blocks did, and groups with the same
 * proposal share a heap. Nothing is measured here: a proposal holds for the trace (a second reading
 * of it proves that no block outlives its heap's promise), whether it pays is measured by replays.
 *
 * Sizes are in bytes, lifetimes in calls of the whole trace. A scope is a frame, a request: what
 * trace_tools/scopes.h finds.
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
    AB_ADVICE_KEEP,   /* the general malloc */
    AB_ADVICE_STACK,  /* dies in its scope, the youngest first: mark and release */
    AB_ADVICE_FRAME,  /* dies in its scope: an arena that is reset at its end */
    AB_ADVICE_NESTED, /* dies in a shorter scope within it: an arena of its own, mark and release */
    AB_ADVICE_DOUBLE, /* dies by the end of the next one: two arenas in turn */
    AB_ADVICE_POOL,   /* one size, many at a time */
    AB_ADVICE_SLAB,   /* few small sizes */
    AB_ADVICE_KIND_COUNT
};
/* "keep" "stack" "frame" "nested" "double" "pool" "slab", as in JSON. */
const char *ab_advice_kind_name(enum ab_advice_kind kind);

/* What a program asks with; of a place that does both the later one. */
enum ab_advice_call {
    AB_ADVICE_CALL_MALLOC, /* C, or not known */
    AB_ADVICE_CALL_NEW,    /* operator new of C++ */
    AB_ADVICE_CALL_STD,    /* containers and strings of the C++ library */
};
/* "malloc" "new" "std", as in JSON. */
const char *ab_advice_call_name(enum ab_advice_call call);

/* How functions of the C++ library show the container that they are of. A set of rows is a bit mask. */
struct ab_advice_container {
    const char *class_name; /* without std:: and template arguments */
    const char *type;       /* as a program writes it, without std:: */
    char family;            /* containers of one implementation */
    bool is_base;           /* the class is that of the implementation: the type is a guess */
};
enum { AB_ADVICE_CONTAINERS = 22 };
extern const struct ab_advice_container ab_advice_containers[AB_ADVICE_CONTAINERS];
/* Returns true if `seen` has the row, and no earlier row that shows the same container. */
bool ab_advice_container_counts(uint32_t seen, uint32_t row);

enum {
    AB_ADVICE_SIZES = 16,     /* distinct sizes that are told apart */
    AB_ADVICE_SURVIVORS = 8,  /* of a group that are kept */
    AB_ADVICE_LIVES = 40,     /* lifetimes by log2, as AB_SITE_LIVES */
    AB_ADVICE_HEAPS_MAX = 15, /* beside the one for the rest */
};
#define AB_ADVICE_NO_HEAP UINT32_MAX
#define AB_ADVICE_NEVER UINT64_MAX /* a block that is not freed */

struct ab_advice_size {
    uint64_t bytes, calls;
};

struct ab_advice_survivor {    /* a block that outlived the scope of its birth */
    uint64_t size, born, died; /* scopes, from 0; died may be AB_ADVICE_NEVER */
};

/* All blocks that one place in the program allocates, with their resizes wherever these are. */
struct ab_advice_group {
    char key[560]; /* as a rule of --map says it: "site:game.c:88", "size:96"; "" = no rule can */
    char function[128]; /* "" = not known, as in the next two */
    char file[256];     /* its name without folders */
    char module[256];   /* likewise */
    uint64_t address;   /* in the module's file */
    int line;           /* 0 = not known */
    int column;         /* of the call, where its line has several; else 0 */
    enum ab_advice_call call;
    uint32_t
        containers; /* of a call AB_ADVICE_CALL_STD: rows of ab_advice_containers; 0 = not known */
    bool is_shadowed; /* its key is "", for a rule would take blocks of other groups as well */
    uint64_t calls, resizes, frees, never_freed;
    uint64_t bytes;                               /* asked for, all calls together */
    uint64_t size_least, size_most, align_most;   /* align_most: 16 when none was asked for */
    struct ab_advice_size sizes[AB_ADVICE_SIZES]; /* n_sizes, the most frequent first */
    uint32_t n_sizes;                             /* AB_ADVICE_SIZES + 1 = there are more */
    uint64_t live_most_blocks, live_most_bytes;   /* at one time */
    uint64_t scope_most_blocks, scope_most_bytes; /* asked for within one scope */
    uint64_t in_scope, in_next,
        later;           /* of the ends of blocks: in which scope. later has those never
                                          freed */
    uint64_t lifo;       /* frees of the youngest block of the group */
    uint64_t remote;     /* frees by another thread than the one that allocated */
    uint32_t n_threads;  /* that allocate; 2 = two or more */
    uint32_t thread;     /* the first of them */
    double pinned_bytes; /* external ones of its pages in the general malloc; NaN = not known */
    uint32_t lives[AB_ADVICE_LIVES]; /* of freed blocks, by log2 of the calls between */
    struct ab_advice_survivor survivors[AB_ADVICE_SURVIVORS];
    uint64_t n_survivors;    /* in_next + later; more than are kept, maybe */
    uint64_t n_stragglers;   /* blocks that outlived the nested scopes that the others show */
    uint64_t straggler_size; /* of the first of them */
    enum ab_advice_kind kind;
    uint32_t nest;   /* AB_ADVICE_NESTED: groups of one number share their scopes */
    const char *why; /* of the kind: the end of a sentence */
    uint32_t heap;   /* index in heaps, AB_ADVICE_NO_HEAP */
};

struct ab_advice_heap {
    char name[8];       /* "A", "B", … in the order of calls */
    char backend[160];  /* as a rule of --map says it: "arena:keep=512KiB" */
    char compiled[160]; /* the same compiled into the loop, with the capacity that --code gives it:
                           "inline+pool:slot=96:slots=64"; "" = it cannot be, for several threads use it */
    enum ab_advice_kind kind;
    uint32_t nest; /* as of its groups */
    uint32_t n_groups;
    uint64_t calls, bytes;
    double pinned_bytes; /* of its groups; NaN = not known */
    uint64_t size_most;  /* of a block; of a pool: the size of its slots */
    uint64_t align;      /* of its blocks */
    uint64_t most_blocks,
        most_bytes;           /* measured: live at one time; of an arena what one scope takes, of
                                 a nested one what one of its own does */
    uint64_t n_nested;        /* AB_ADVICE_NESTED: times that it was filled and empty again */
    uint64_t capacity_blocks; /* pool: most_blocks and a margin; else 0 */
    uint64_t capacity_bytes;  /* most_bytes and a margin, of each of two if double; 0 = no limit */
    uint32_t n_threads;       /* that allocate from it; 2 = two or more */
    uint32_t thread;          /* the first of them */
    uint64_t frees, n_remote; /* of its blocks; by another thread than the one that allocated */
    bool is_local;            /* there are none of these */
    bool is_of_thread_scopes; /* its scopes are those of each thread by itself */
};
/* Several threads ask it for blocks, or free them: it is a heap for each thread, threads=local. Frees
 * of an arena's blocks go from the code, so that only who allocates matters there. */
bool ab_advice_is_shared(const struct ab_advice_heap *heap);

struct ab_advice {
    struct ab_advice_group *groups; /* the most calls first */
    size_t n_groups;
    struct ab_advice_heap heaps[AB_ADVICE_HEAPS_MAX];
    size_t n_heaps;
    uint64_t calls;        /* allocations and resizes that gave a block */
    uint64_t n_events;     /* all calls of the trace */
    uint64_t n_before_end; /* of these, those up to the end of the last scope, where few come after
                              it: what a program frees when it ends is no part of a scope; else all */
    uint64_t n_scopes;     /* 0 = the trace has none; of all threads that have some of their own */
    uint32_t n_scope_threads; /* that have; 0 = scopes are those of all threads together */
    bool is_marked;           /* they are marks of the program; else they were found */
    double least_pinned;      /* as in the plan */
    bool has_sites;           /* groups are call sites; else classes of sizes */
    uint32_t n_threads;
    uint64_t time_us;           /* of the whole trace; 0 = not known */
    char program[256];          /* "" = not known */
    struct ab_site_table sites; /* of the trace; what `name` was asked with */
    uint32_t *heap_of_site; /* of each stack of it, from site 1 on; [0]: no stack. NULL = by size */
};

struct ab_advise_plan {
    const char *path; /* of the trace */
    bool is_partial;
    const struct ab_scopes *scopes; /* of the trace; blocks of threads that have none are in none */
    /* Further threads that have scopes of their own, where those are of one; NULL = none. */
    const struct ab_scopes_of_threads *threads;
    bool is_flat;       /* scopes within scopes are not looked for */
    ab_site_name *name; /* of a frame; NULL = no frame has one */
    void *user;
    /* What the blocks of a group pin, NaN = not known; NULL = of none. From least_pinned bytes on they
     * get a heap of their own where one suits. */
    double (*pinned_by)(const void *pins, const struct ab_advice_group *group);
    const void *pins;
    double least_pinned;
};

/* Reads the trace some times, memory O(live blocks + sites). AB_INPUT, AB_SYSTEM. End it with
 * ab_advice_fini in any case. */
enum ab_status ab_advise(const struct ab_advise_plan *plan, struct ab_advice *out,
                         struct ab_err *err);
void ab_advice_fini(struct ab_advice *a);

#endif
