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
    AB_ADVICE_KEEP,   /* the general malloc */
    AB_ADVICE_STACK,  /* dies in its scope, youngest first: mark and release */
    AB_ADVICE_FRAME,  /* dies in its scope: an arena that is reset at the scope's end */
    AB_ADVICE_NESTED, /* dies in a shorter nested scope: an arena with mark and release */
    AB_ADVICE_DOUBLE, /* dies by the end of the next scope: two arenas in turn */
    AB_ADVICE_POOL,   /* one size, many at a time */
    AB_ADVICE_SLAB,   /* few small sizes */
    AB_ADVICE_KIND_COUNT
};
/* Returns the name used in JSON: "keep", "stack", "frame", "nested", "double", "pool" or "slab". */
const char *ab_advice_kind_name(enum ab_advice_kind kind);

/* Way in which a place requests memory. If a place uses several, the later one in this list
 * counts. */
enum ab_advice_call {
    AB_ADVICE_CALL_MALLOC, /* malloc of C, or unknown */
    AB_ADVICE_CALL_NEW,    /* operator new of C++ */
    AB_ADVICE_CALL_STD,    /* containers and strings of the C++ library */
};
/* Returns the name used in JSON: "malloc", "new" or "std". */
const char *ab_advice_call_name(enum ab_advice_call call);

/* Container of the C++ library, recognized by the class of its functions. A set of rows is a bit
 * mask. */
struct ab_advice_container {
    const char *class_name; /* without std:: and template arguments */
    const char *type;       /* name in source code, without std:: */
    char family;            /* letter shared by containers with one implementation */
    bool is_base;           /* True if the class is an implementation base: `type` is a guess
                               then */
};
enum { AB_ADVICE_CONTAINERS = 22 };
extern const struct ab_advice_container ab_advice_containers[AB_ADVICE_CONTAINERS];
/* Returns true if `seen` contains the row and no earlier row for the same container. */
bool ab_advice_container_counts(uint32_t seen, uint32_t row);

enum {
    AB_ADVICE_SIZES = 16,     /* distinct sizes that a group keeps */
    AB_ADVICE_SURVIVORS = 8,  /* survivors that a group keeps */
    AB_ADVICE_LIVES = 40,     /* classes of lifetimes by log2, as AB_SITE_LIVES */
    AB_ADVICE_HEAPS_MAX = 15, /* without the heap for the rest */
};
#define AB_ADVICE_NO_HEAP UINT32_MAX
#define AB_ADVICE_NEVER UINT64_MAX /* a block that is never freed */

struct ab_advice_size {
    uint64_t bytes, calls;
};

struct ab_advice_survivor {    /* a block that outlived the scope of its birth */
    uint64_t size, born, died; /* scopes, from 0; died may be AB_ADVICE_NEVER */
};

/* All blocks that one place in the program allocates, and their resizes, even if another place
 * calls these. */
struct ab_advice_group {
    char key[560]; /* as in rules of --map: "site:game.c:88", "size:96"; "" = no rule fits it */
    char function[128]; /* "" = unknown, as in the next two fields */
    char file[256];     /* file name without folders */
    char module[256];   /* the same */
    uint64_t address;   /* offset in the module's file */
    int line;           /* 0 = unknown */
    int column;         /* column of the call if its line has several calls; else 0 */
    enum ab_advice_call call;
    uint32_t
        containers;   /* if call is AB_ADVICE_CALL_STD: rows of ab_advice_containers; 0 = unknown */
    bool is_shadowed; /* True if the key is "" because a rule would match blocks of other groups
                         too */
    uint64_t calls, resizes, frees, never_freed;
    uint64_t bytes;                               /* sum of all requests */
    uint64_t size_least, size_most, align_most;   /* align_most: 16 if none was requested */
    struct ab_advice_size sizes[AB_ADVICE_SIZES]; /* the n_sizes most frequent first */
    uint32_t n_sizes;                             /* AB_ADVICE_SIZES + 1 = there are more */
    uint64_t live_most_blocks, live_most_bytes;   /* peaks */
    uint64_t scope_most_blocks, scope_most_bytes; /* most requested in one scope */
    uint64_t in_scope, in_next,
        later;           /* ends of blocks by scope; `later` includes those never freed */
    uint64_t lifo;       /* frees of the group's youngest block */
    uint64_t remote;     /* frees by a thread other than the one that allocated */
    uint32_t n_threads;  /* threads that allocate; 2 = two or more */
    uint32_t thread;     /* first of these threads */
    double pinned_bytes; /* bytes that it pins in pages of the general malloc; NaN = unknown */
    uint32_t lives[AB_ADVICE_LIVES]; /* number of freed blocks by log2 of their lifetime */
    struct ab_advice_survivor survivors[AB_ADVICE_SURVIVORS];
    uint64_t n_survivors;    /* in_next + later; may exceed the array */
    uint64_t n_stragglers;   /* blocks that outlived the nested scopes of the others */
    uint64_t straggler_size; /* size of the first straggler, bytes */
    enum ab_advice_kind kind;
    uint32_t nest;   /* AB_ADVICE_NESTED: groups with equal numbers share their scopes */
    const char *why; /* reason for `kind`: the end of a sentence */
    uint32_t heap;   /* index in heaps, or AB_ADVICE_NO_HEAP */
};

struct ab_advice_heap {
    char name[8];       /* "A", "B", …, the most calls first */
    char backend[160];  /* as in rules of --map: "arena:keep=512KiB" */
    char compiled[160]; /* backend if compiled into the loop, with the capacity that --code sets:
                           "inline+pool:slot=96:slots=64"; "" = not possible, because several
                           threads use it */
    enum ab_advice_kind kind;
    uint32_t nest; /* as in its groups */
    uint32_t n_groups;
    uint64_t calls, bytes;
    double pinned_bytes; /* sum over its groups; NaN = unknown */
    uint64_t size_most;  /* largest block; for a pool, the size of its slots */
    uint64_t align;      /* alignment of its blocks */
    uint64_t most_blocks,
        most_bytes;           /* measured peaks. For an arena: the most that one scope takes; if
                                 nested, that one nested scope takes */
    uint64_t n_nested;        /* AB_ADVICE_NESTED: times that it was filled and emptied */
    uint64_t capacity_blocks; /* pool: most_blocks plus a margin; else 0 */
    uint64_t capacity_bytes;  /* most_bytes plus a margin, for each half if double; 0 = no limit */
    uint32_t n_threads;       /* threads that allocate from it; 2 = two or more */
    uint32_t thread;          /* first of these threads */
    uint64_t frees, n_remote; /* frees of its blocks; n_remote: by a thread other than the
                                 allocating one */
    bool is_local;            /* True if n_remote is 0 */
    bool is_of_thread_scopes; /* True if each thread has scopes of its own */
};
/* True if several threads allocate from the heap or free its blocks: each thread gets a heap then
 * (threads=local). Frees of arena blocks are removed from the code, so for arenas only the
 * allocating threads count. */
bool ab_advice_is_shared(const struct ab_advice_heap *heap);

struct ab_advice {
    struct ab_advice_group *groups; /* sorted, the most calls first */
    size_t n_groups;
    struct ab_advice_heap heaps[AB_ADVICE_HEAPS_MAX];
    size_t n_heaps;
    uint64_t calls;           /* allocations and resizes that returned a block */
    uint64_t n_events;        /* number of calls in the trace */
    uint64_t n_before_end;    /* calls up to the end of the last scope, if few follow: frees at
                              program end belong to no scope. Otherwise n_events */
    uint64_t n_scopes;        /* sum over threads with scopes of their own; 0 = no scopes */
    uint32_t n_scope_threads; /* threads with scopes; 0 = all share scopes */
    bool is_marked;           /* True if the program marked the scopes */
    double least_pinned;      /* copied from the plan */
    bool has_sites;           /* True if groups are call sites; else size classes */
    uint32_t n_threads;
    uint64_t time_us;           /* duration of the trace; 0 = unknown */
    char program[256];          /* "" = unknown */
    struct ab_site_table sites; /* table of the trace, as passed to `name` */
    uint32_t *heap_of_site;     /* heap of each site; [0]: no stack. NULL = by size */
};

struct ab_advise_plan {
    const char *path; /* trace file */
    bool is_partial;
    const struct ab_scopes *scopes; /* of the trace; threads without scopes have blocks in none */
    /* Further threads with scopes of their own, if `scopes` belongs to one thread; NULL = none. */
    const struct ab_scopes_of_threads *threads;
    bool is_flat;       /* True to skip the search for nested scopes */
    ab_site_name *name; /* names a frame; NULL = frames have no names */
    void *user;
    /* Returns the bytes that the blocks of a group pin, NaN = unknown; NULL = not known for any
     * group. A group that pins at least least_pinned bytes gets its own heap if one suits. */
    double (*pinned_by)(const void *pins, const struct ab_advice_group *group);
    const void *pins;
    double least_pinned;
};

/* Makes an advice in several passes over the trace. Memory: O(live blocks + sites). Fails with
 * AB_INPUT or AB_SYSTEM. Release *out with ab_advice_fini() in any case. */
enum ab_status ab_advise(const struct ab_advise_plan *plan, struct ab_advice *out,
                         struct ab_err *err);
void ab_advice_fini(struct ab_advice *a);

#endif
