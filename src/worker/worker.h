/* SPDX-License-Identifier: MIT
 *
 * The worker: one process, one run. Its memory is mapped and pre-faulted before the heap opens.
 * Between start and report it calls no malloc, no stdio and no locale functions. The parent reads
 * all results from the run page.
 */
#ifndef AB_WORKER_WORKER_H
#define AB_WORKER_WORKER_H

#include "allocators/ab_backend.h"
#include "base/save_points.h"
#include "wire/run_page.h"
#include "worker/checks/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- call boundaries ----
 *
 * Ops reach an allocator through one of two boundaries of equal indirection (one load of a function
 * pointer, one call). There is no adapter between the two, because it would cost one of them a good
 * part of a 4 ns op. */

struct ab_heap_face { /* hooks of one opened heap; `free` is never NULL */
    struct ab_heap *heap;
    ab_ref (*alloc)(struct ab_heap *, size_t);
    void (*free)(struct ab_heap *, ab_ref, size_t);
    /* Frees by size, with log2 of the alignment; for a malloc behind a heap's face. NULL: `free` is
     * used. */
    void (*free_sized)(struct ab_heap *, ab_ref, size_t, unsigned);
    ab_ref (*resize)(struct ab_heap *, ab_ref, size_t, size_t);
    ab_ref (*alloc_zeroed)(struct ab_heap *, size_t);
    ab_ref (*alloc_aligned)(struct ab_heap *, size_t, size_t);
    void (*reset)(struct ab_heap *);
    void *(*resolve)(struct ab_heap *, ab_ref);
    size_t (*usable_size)(struct ab_heap *, ab_ref);
    int (*thread_enter)(struct ab_heap *, uint32_t, struct ab_heap **);
    void *object; /* compiled-in back end: the object that its functions take; else NULL */
    const struct ab_backend *backend; /* owner of these hooks; NULL = none */
};

static inline bool ab_backend_has_marks(const struct ab_backend *b)
{
    return b->mark != NULL && b->release != NULL;
}

/* A slot of the tape, 16 bytes, because the slot field of an op is its byte offset. */
struct ab_slot {
    uintptr_t ref;
    uint64_t size_seq; /* requested size in the low 48 bits; sequence number above */
};
#define AB_SLOT_SIZE(slot) ((slot)->size_seq & 0xffffffffffffu)
_Static_assert(sizeof(struct ab_slot) == 16, "the slot field of an op is a byte offset");

struct ab_inline;
struct ab_handover;
struct ab_purges;
struct ab_placement_image;
struct ab_aged_heap;

struct ab_worker { /* state that all lanes share */
    const struct ab_tape_image *image;
    /* running burst, ops of the bursts before; the next fields belong to the burst */
    uint32_t burst, first;
    const uint64_t *ops;
    const struct ab_wide *wide;
    const struct ab_phase *phases;
    const uint32_t *lane_begin;
    const struct ab_turn *turns;
    struct ab_slot *slots;
    struct ab_run_page *page;
    const uint32_t *positions;
    uint32_t *ticks;
    uint8_t *classes;
    const uint32_t *iterations,
        *iteration_begin; /* indices of the burst; not valid if it has no iterations */
    const uint32_t *thread_ends, *thread_end_begin; /* the same for ends of threads */
    struct ab_iteration *iteration_reports;         /* TAIL of a tape with iterations, else NULL */
    struct ab_lane *lanes;                          /* array of image->n_lanes */
    struct ab_memory_pass *memory;                  /* memory pass, else NULL */
    struct ab_aged_heap *aging;                     /* NULL = the heap is not aged */
    struct ab_purges *purges;                       /* periodic purges, else NULL */
    const struct ab_inline *inlined;                /* AB_BOUNDARY_INLINE, else NULL */
    const struct ab_placement_image *placement;     /* AB_BOUNDARY_PLACED, else NULL */
    int (*trim)(size_t); /* the library's malloc_trim; NULL: it has none, or the tape no such op */
    uint32_t n_cpus;     /* CPUs that the lanes share */
    uint32_t n_awake;    /* atomic: lanes in a phase that are not asleep, or have been woken */
};

/* Progress of a lane, for others that wait for it. It is on cache lines of its own, and sleepers
 * write to another line than the lane. */
struct ab_gauge {
    _Alignas(64) uint32_t count;  /* atomic */
    int cpu;                      /* atomic: CPU on which it was last set */
    _Alignas(64) uint32_t wanted; /* atomic: lowest count that a sleeper waits for */
    int wanted_on;                /* atomic: CPU of the lane that fell asleep last */
};

struct ab_cpu_reading { /* clocks of a thread; wall clock before and after the others */
    uint64_t begin_ns, cpu_ns, switches; /* `switches` counts involuntary ones */
    uint64_t cpu_end_ns, end_ns;         /* CPU time is read again after the switches */
};

#define AB_GROUP_ALL UINT32_MAX /* binds all lanes to each other */

/* One lane: first the fields that only its thread writes, then the gauges that others read. */
struct ab_lane {
    struct ab_worker *w;
    const uint64_t *ops;
    const struct ab_wide *wide;
    struct ab_slot *slots;
    void *face;                   /* struct ab_malloc_calls, own_face, or a view of a placement */
    struct ab_heap_face own_face; /* heap boundary; its heap may be the lane's own */
    volatile uint32_t *progress;  /* place where the parent reads the running op */
    uint32_t index;
    uint32_t op;              /* index of the running op, for notes about it */
    uint32_t purge, purge_at; /* next of w->purges, and the op before which it is due */
    uint32_t chunk_ops;       /* ops between two progress notes of the untimed loop */
    bool may_reset;           /* True if the heap may be reset in bulk. */
    bool has_marks;           /* True if the back end has save points. */
    bool has_own_heap;        /* True if no other lane allocates in its heap. */
    bool is_in_rows;   /* True if the phase is full of rows of allocations; chooses the loop. */
    uint8_t only_code; /* only_code of the phase's struct ab_phase */
    struct ab_handover
        *handover;     /* set if threads of the tape end, in passes that let them end; else NULL */
    uint64_t *walk;    /* entries of a walk, image->longest_walk; NULL: accesses are made singly */
    uint32_t n_steps;  /* pre-flight of a compiled-in back end: ops so far */
    uint32_t n_spared; /* frees that the last op has spared */
    uint32_t n_trims;  /* calls of malloc_trim in this phase, supported or not */
    bool is_strict;
    /* True if the phase has more busy lanes than CPUs. Lanes with a very small share of its ops do
     * not count. */
    bool is_crowded;
    /* True in the tail pass of several lanes: live blocks are counted over all lanes. */
    bool is_counting;
    uint32_t first_null_op; /* index of the first op that got NULL; UINT32_MAX = none */
    bool is_null_of_fault;  /* True if fault+ returned this NULL. */
    uint64_t first_null_size;
    uint64_t chain, delta; /* latency and tail pass: last tick reading, ticks of this op */
    uint64_t look_ticks;   /* a longer op may have been preempted (preemption.h) */
    struct ab_cpu_reading looked;
    uint64_t looked_tick;          /* tick of `looked` */
    uint32_t n_preempted;          /* preempted stretches */
    uint64_t least_ns;             /* lower bound of the CPU time of the op that was checked last */
    uint32_t sample;               /* latency pass: index of the next sample */
    struct ab_iteration iteration; /* tail pass: the running iteration so far */
    uint32_t iteration_end; /* op before which it ends; UINT32_MAX = the phase has no iterations */
    uint32_t next_iteration,
        last_iteration;   /* indices in the burst: [next, last) are still to come in the phase */
    uint64_t apart_ticks; /* time in this phase for writes to blocks while the clock stands still */
    uint64_t apart_cpu_ns; /* CPU time of these writes; 0 unless is_crowded */
    /* atomic; time in this phase for which the clock stood still on the lane's path */
    uint64_t path_ticks;
    uint64_t wait_ticks; /* time spent waiting for other lanes */
    uint64_t awake_ticks,
        asleep_cpu_ns; /* part of wait_ticks that is awake, and CPU time of the sleeps */
    struct ab_phase_report *reports; /* one for each phase */
    uint32_t n_bound;                /* lanes to which the window binds this one in the phase */
    uint8_t bound[AB_LANES_MAX];
    uint64_t marks[AB_SAVE_POINTS_MAX + 1]; /* the back end's save points, by depth */
    struct ab_gauge published;              /* ops of this phase that are done */
    struct ab_gauge frame;                  /* frame before which all of the lane's ops are done */
    /* last turn given to the lane, plus one; 0 = none yet; strict order only */
    struct ab_gauge turn;
};

/* Stops the run: sets state FAILED, and joins the parts up to NULL to the reason. Never returns. */
_Noreturn void ab_worker_fail(struct ab_worker *w, enum ab_failure failure, ...)
    __attribute__((sentinel));
/* Writes the text to standard error if no parent reads the report. */
void ab_worker_print(const struct ab_worker *w, const char *text);
/* Maps zeroed memory for the worker's own use. On failure, the run fails with "cannot map the
 * WHAT". The memory is shared, so that it never counts as the heap's footprint. It is written, so
 * that no first touch of ours falls into a phase. */
void *ab_worker_map(struct ab_worker *w, size_t bytes, const char *what);
/* Converts n to decimal text in buf[24]. */
const char *ab_worker_number(char *buf, uint64_t n);

/* identity.c: finds the library that serves malloc; fails the run if it is not the requested
 * one. */
void ab_worker_identify_malloc(struct ab_worker *w, struct ab_malloc_calls *face);
void ab_worker_identify_object(struct ab_worker *w, const void *address, bool must_match);
/* Sets report.version to the library's own version string; `mallctl` may be NULL. */
void ab_worker_ask_version(struct ab_worker *w, void *library, void *mallctl);

/* Returns the function of that name in the very object that serves malloc; NULL = none. */
typedef void *ab_own_function(struct ab_worker *w, const char *name);
/* purges.c: periodic purges of a malloc. All these functions do nothing if request.purge_ns is
 * 0. */

/* Finds the library's purge function; fails the run if it has none. */
void ab_purges_open(struct ab_worker *w, const void *malloc_function);
/* Computes before which op of which lane each purge of the entered burst is due. */
void ab_purges_enter_burst(struct ab_worker *w);
/* Calls the purge that is due, and notes the lane's next one. */
void ab_purges_call(struct ab_lane *lane);

/* sized_free.c: sets the face's functions that free by size, and names the function in the report.
 * The face's `free` must be set. Does nothing if the tape has no sized frees. */
void ab_worker_find_sized_free(struct ab_worker *w, struct ab_malloc_calls *face,
                               ab_own_function *find);

/* memory_introspect.c: sets w->trim if the tape has such ops, unless the function found belongs to
 * another malloc of the mapping. */
void ab_worker_find_trim(struct ab_worker *w, ab_own_function *find);

/* prefixed_malloc.c: finds the functions PREFIXmalloc … of a library that is opened by path.
 * Returns the kinds of ops that it can serve, as bits 1 << AB_OP_…; functions for other kinds are
 * NULL in the face. */
uint32_t ab_worker_open_prefix(struct ab_worker *w, struct ab_malloc_calls *face);

/* burst.c: makes burst i the current one; the other bursts of a file are not in memory. Returns
 * false if it cannot be read. */
bool ab_worker_enter_burst(struct ab_worker *w, uint32_t i);
/* Replaces the `bytes` at offset `last` of a mapped file by those at `next`; both offsets begin
 * pages. Returns false if they cannot be read. */
bool ab_worker_bring_in(const void *file, uint64_t last, uint64_t next, uint64_t bytes);

/* Returns the facts that heaps are opened with: the tape's, or those of the check that runs
 * instead. */
const struct ab_facts *ab_worker_facts(const struct ab_worker *w);

/* open_heap.c: opens the back end of a heap boundary, in steps. */
struct ab_work_of_heap {
    const char *name; /* name in messages; NULL = the only heap, which needs none */
    const struct ab_facts *facts;
    uint32_t n_lanes;  /* lanes that use the heap */
    uint64_t n_remote; /* frees and resizes by another lane than the one that allocated */
};
/* Finds the back end that the request names, checks its table and reads its settings. */
const struct ab_backend *ab_worker_find_backend(struct ab_worker *w);
/* Opens a heap. Fails the run if the back end cannot serve such work. */
struct ab_heap *ab_worker_open_backend(struct ab_worker *w, const struct ab_backend *b,
                                       const struct ab_work_of_heap *work);
struct ab_heap_face ab_worker_face_of(const struct ab_backend *b, struct ab_heap *heap);
/* Returns the kinds of ops that the back end has hooks for, as bits 1 << AB_OP_…. */
uint32_t ab_worker_hooks_of(const struct ab_backend *b);

/* Finds, checks and opens the back end of a heap boundary. */
void ab_worker_open_heap(struct ab_worker *w, struct ab_heap_face *face);
/* Gives the calling lane its own view of the heap. */
void ab_worker_enter_heap(struct ab_lane *lane, struct ab_heap_face *face);
/* Leaves the heap, after the last op of the lane or of its thread. */
void ab_worker_leave_heap(struct ab_lane *lane);

/* pass_malloc.c, pass_heap.c, pass_handle.c: the loops, one instance for each boundary. */
typedef void ab_lane_pass(struct ab_lane *lane);
ab_lane_pass ab_pass_malloc, ab_pass_heap, ab_pass_handle;

/* Ops between two progress notes of the untimed loop. The distance is 1 behind a decorator and in
 * unmeasured phases of the tail pass, where exact positions matter and nothing is timed. */
enum { AB_PROGRESS_OPS = 4096 };

/* Returns the enum ab_op_kind of a tape word, looking through the side table; -1 = none. */
int ab_worker_op_kind(const struct ab_worker *w, uint64_t op);
/* True for an allocation that failed in the recorded program: it gives no block, and has no
 * slot. */
bool ab_worker_is_refused(const struct ab_worker *w, uint64_t op);
/* Returns the size that an op just carried out requested; for a free or an access, that of its
 * block; for a reset, 0. */
uint64_t ab_worker_op_size(const struct ab_worker *w, uint64_t op);

/* Notes whether the call just made is the one that fault+ lets fail. */
void ab_worker_note_fault(bool is_faulty);
/* ---- notes of the passes, out of line ---- */
void ab_worker_note_null(struct ab_lane *lane, uint64_t size);
void ab_worker_note_slow(struct ab_lane *lane, struct ab_tail *tail);
/* Keeps the op if it is among the AB_WORST_MAX slowest. */
void ab_tail_keep(struct ab_tail *tail, const struct ab_worst *op);

/* ---- a back end behind checked+ or fault+ ---- */

/* Fills `out` with the face of `target` behind request.decorator. Blocks resolve to memory of the
 * harness, which the tape's touches write to. Failures of the checker fail the run. */
void ab_worker_decorate(struct ab_worker *w, const struct ab_target *target,
                        struct ab_heap_face *out);

/* Returns the call that fault+ let fail, such as "alloc(48)"; NULL = none yet. */
const char *ab_worker_fault(void);

#endif
