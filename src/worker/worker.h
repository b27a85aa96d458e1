/* SPDX-License-Identifier: MIT
 *
 * The worker: one process that makes one run. Its memory is mapped and pre-faulted before the heap
 * opens. Between its start and its report it calls no malloc, stdio or locale function. The parent
 * reads all results from the run page.
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
 * Ops reach an allocator through one of two boundaries of equal cost: one load of a function
 * pointer, one call. There is no adapter between the two, because it would add a good part of
 * the 4 ns that an op takes. */

struct ab_heap_face { /* hooks of one opened heap; `free` is never NULL */
    struct ab_heap *heap;
    ab_ref (*alloc)(struct ab_heap *, size_t);
    void (*free)(struct ab_heap *, ab_ref, size_t);
    /* Frees a block by its size, with the log2 of its alignment; only for a malloc with the heap
     * interface; NULL = `free` is used. */
    void (*free_sized)(struct ab_heap *, ab_ref, size_t, unsigned);
    ab_ref (*resize)(struct ab_heap *, ab_ref, size_t, size_t);
    ab_ref (*alloc_zeroed)(struct ab_heap *, size_t);
    ab_ref (*alloc_aligned)(struct ab_heap *, size_t, size_t);
    void (*reset)(struct ab_heap *);
    void *(*resolve)(struct ab_heap *, ab_ref);
    size_t (*usable_size)(struct ab_heap *, ab_ref);
    int (*thread_enter)(struct ab_heap *, uint32_t, struct ab_heap **);
    void *object; /* compiled-in back end: the object that its inline functions take; else NULL */
    const struct ab_backend *backend; /* back end that these hooks belong to; NULL = none */
};

static inline bool ab_backend_has_marks(const struct ab_backend *b)
{
    return b->mark != NULL && b->release != NULL;
}

/* A slot of the tape. It has 16 bytes, because the slot field of an op is the slot's byte
 * offset. */
struct ab_slot {
    uintptr_t ref;
    uint64_t size_seq; /* requested size; the upper 16 bits are 0 */
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
    /* burst: number of the running burst; first: ops of all bursts before it. The next fields
     * describe the running burst. */
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
        /* iteration_begin: for each phase and lane, the first index in `iterations`; not valid if
         * the burst has no iterations */
        *iteration_begin;
    const uint32_t *thread_ends, *thread_end_begin; /* the same for the ops at which threads end */
    struct ab_iteration *iteration_reports;         /* TAIL of a tape with iterations, else NULL */
    struct ab_lane *lanes;                          /* array of image->n_lanes */
    struct ab_memory_pass *memory;                  /* memory pass, else NULL */
    struct ab_aged_heap *aging;                     /* NULL = the heap is not aged */
    struct ab_purges *purges;                       /* periodic purges, else NULL */
    /* AB_BOUNDARY_INLINE and AB_BOUNDARY_CURSOR, else NULL */
    const struct ab_inline *inlined;
    const struct ab_placement_image *placement; /* AB_BOUNDARY_PLACED, else NULL */
    /* the library's malloc_trim; NULL: the library has none, or the tape does not call it */
    int (*trim)(size_t);
    uint32_t n_cpus;  /* CPUs that the lanes share */
    uint32_t n_awake; /* atomic: number of lanes in a phase that are awake, or have been woken */
};

/* Progress of a lane, for other lanes that wait for it. It is on cache lines of its own. Sleepers
 * write to a cache line that the lane itself does not write. */
struct ab_gauge {
    _Alignas(64) uint32_t count;  /* atomic */
    int cpu;                      /* atomic: CPU on which `count` was last set */
    _Alignas(64) uint32_t wanted; /* atomic: lowest count that a sleeper waits for */
    int wanted_on;                /* atomic: CPU of the lane that fell asleep last */
};

struct ab_cpu_reading { /* clocks of a thread; the wall clock is read first and last */
    uint64_t begin_ns, cpu_ns, switches; /* switches: number of involuntary context switches */
    uint64_t cpu_end_ns, end_ns;         /* CPU time once more, read after `switches` */
};

#define AB_GROUP_ALL UINT32_MAX /* group of a lane that is bound to all lanes */

/* One lane: first the fields that only its thread writes, then the gauges that others read. */
struct ab_lane {
    struct ab_worker *w;
    const uint64_t *ops;
    const struct ab_wide *wide;
    struct ab_slot *slots;
    void *face; /* struct ab_malloc_calls, own_face, or a view of a placement */
    /* face of the heap boundary; its `heap` may be a heap of the lane's own */
    struct ab_heap_face own_face;
    /* field of the report from which the parent reads the running op */
    volatile uint32_t *progress;
    uint32_t index;
    uint32_t op; /* index in the burst of the running op, for notes about this op */
    /* purge: index of the lane's next entry in w->purges; purge_at: op before which this purge is
     * due */
    uint32_t purge, purge_at;
    uint32_t chunk_ops; /* ops between two progress notes of the untimed loop */
    bool may_reset;     /* True if the heap may be reset in bulk. */
    bool has_marks;     /* True if the back end has save points. */
    bool has_own_heap;  /* True if no other lane allocates in this lane's heap. */
    /* True if most ops of the phase are plain allocations in a row; chooses the loop. */
    bool is_in_rows;
    uint8_t only_code; /* same as only_code of the phase's struct ab_phase */
    struct ab_handover
        /* set if the tape ends threads of lanes and the pass lets them end; else NULL */
        *handover;
    /* room for the entries of image->longest_walk blocks; NULL: the accesses of a walk are made
     * singly */
    uint64_t *walk;
    uint32_t n_steps; /* pre-flight of a compiled-in back end: number of ops so far */
    /* number of ops after the last op that are skipped, because that op did their work */
    uint32_t n_spared;
    uint32_t n_trims; /* calls of malloc_trim in this phase, whether the library has it or not */
    bool is_strict;
    /* True if the phase has more busy lanes than CPUs. Lanes with a very small share of its ops do
     * not count. */
    bool is_crowded;
    /* True in the tail pass of several lanes: this lane then adds its own allocations and frees to
     * the shared count of live blocks (ab_lane_count_live) */
    bool is_counting;
    /* index in the tape of the lane's first op that got an unexpected NULL; UINT32_MAX = none */
    uint32_t first_null_op;
    bool is_null_of_fault; /* True if fault+ returned the NULL of first_null_op. */
    uint64_t first_null_size;
    /* latency and tail pass: chain: last tick reading; delta: ticks of the current op */
    uint64_t chain, delta;
    uint64_t look_ticks; /* an op of more ticks may have been preempted (preemption.h) */
    struct ab_cpu_reading looked;
    uint64_t looked_tick; /* tick at which `looked` was read */
    uint32_t n_preempted; /* number of preempted stretches */
    /* lower bound of the CPU time of the op that was last checked for preemption */
    uint64_t least_ns;
    uint32_t sample;               /* latency pass: index of the next sample */
    struct ab_iteration iteration; /* tail pass: the running iteration so far */
    /* op before which the running iteration ends; UINT32_MAX = none ends later in this phase */
    uint32_t iteration_end;
    uint32_t next_iteration,
        /* indices in w->iterations: [next_iteration, last_iteration) end later in this phase */
        last_iteration;
    /* ticks in this phase of writes to blocks while the lane's clock stood still */
    uint64_t apart_ticks;
    uint64_t apart_cpu_ns; /* CPU time of these writes; 0 unless is_crowded */
    /* atomic: ticks in this phase for which the clock stood still on the lane's path (meters.h) */
    uint64_t path_ticks;
    uint64_t wait_ticks; /* time spent waiting for other lanes */
    uint64_t awake_ticks,
        /* awake_ticks: part of wait_ticks that the lane was awake; asleep_cpu_ns: CPU time of the
         * rest */
        asleep_cpu_ns;
    struct ab_phase_report *reports; /* one for each phase */
    /* number of lanes in `bound`: those to which the window binds this lane in the phase */
    uint32_t n_bound;
    uint8_t bound[AB_LANES_MAX];
    uint64_t marks[AB_SAVE_POINTS_MAX + 1]; /* the back end's save points, by depth */
    /* operand of the lane's last PUBLISH: ops of this phase that are done */
    struct ab_gauge published;
    /* frame that the lane has entered: all its ops of earlier frames are done */
    struct ab_gauge frame;
    /* strict order only: last turn given to the lane, plus one; 0 = none yet */
    struct ab_gauge turn;
};

/* Ends the run as failed: sets the state FAILED, and joins the arguments up to NULL to the reason.
 * Never returns. */
_Noreturn void ab_worker_fail(struct ab_worker *w, enum ab_failure failure, ...)
    __attribute__((sentinel));
/* Writes the text to standard error if no parent reads the report. */
void ab_worker_print(const struct ab_worker *w, const char *text);
/* Maps zeroed memory for the worker's own use. If that is impossible, fails the run with "cannot
 * map the WHAT". The memory is shared, so that it is not part of the heap's footprint. It is
 * written at once, so that none of its first touches falls into a phase. */
void *ab_worker_map(struct ab_worker *w, size_t bytes, const char *what);
/* Converts n to decimal text in buf, which has 24 bytes. Returns the first digit. */
const char *ab_worker_number(char *buf, uint64_t n);

/* identity.c: finds the functions of the library that serves malloc. Fails the run if the library
 * is not the requested one. */
void ab_worker_identify_malloc(struct ab_worker *w, struct ab_malloc_calls *face);
void ab_worker_identify_object(struct ab_worker *w, const void *address, bool must_match);
/* Sets report.version to the library's own version string; `mallctl` may be NULL. */
void ab_worker_ask_version(struct ab_worker *w, void *library, void *mallctl);

/* Returns the function of this name in the object that serves malloc; NULL = the object has
 * none. */
typedef void *ab_own_function(struct ab_worker *w, const char *name);
/* purges.c: periodic purges of a malloc. Without request.purge_ns, these functions do nothing. */

/* Finds the library's purge function; fails the run if it has none. */
void ab_purges_open(struct ab_worker *w, const void *malloc_function);
/* Finds, for each purge in the current burst, the lane and the op before which it is due. */
void ab_purges_enter_burst(struct ab_worker *w);
/* Calls the purge that is due in the lane, and sets the lane's next purge. */
void ab_purges_call(struct ab_lane *lane);

/* sized_free.c: sets the functions of `face` that free by size, and writes their name into the
 * report. face->free must be set already. Does nothing if the tape has no sized frees. */
void ab_worker_find_sized_free(struct ab_worker *w, struct ab_malloc_calls *face,
                               ab_own_function *find);

/* memory_introspect.c: sets w->trim to the library's malloc_trim if the tape calls it. In a
 * placement, the first malloc library that has the function counts. */
void ab_worker_find_trim(struct ab_worker *w, ab_own_function *find);

/* prefixed_malloc.c: opens the library request.path and finds its functions PREFIXmalloc …. Returns
 * the kinds of ops that the library can serve, as bits 1 << AB_OP_…. Functions for other kinds are
 * NULL in the face. */
uint32_t ab_worker_open_prefix(struct ab_worker *w, struct ab_malloc_calls *face);

/* burst.c: makes burst i the current one. If the tape is a file, reads burst i into memory in place
 * of the one before. Returns false if it cannot be read. */
bool ab_worker_enter_burst(struct ab_worker *w, uint32_t i);
/* Replaces the `bytes` bytes at offset `last` of a mapped file in memory by those at offset `next`.
 * Both offsets must begin pages. Returns false if they cannot be read. */
bool ab_worker_bring_in(const void *file, uint64_t last, uint64_t next, uint64_t bytes);

/* Returns the facts with which heaps are opened: those of the tape, or of the check that runs
 * instead of a tape. */
const struct ab_facts *ab_worker_facts(const struct ab_worker *w);

/* open_heap.c: opens the back end of a heap boundary, in the steps below. */
struct ab_work_of_heap {
    const char *name; /* name of the heap in messages; NULL = the run has only this heap */
    const struct ab_facts *facts;
    uint32_t n_lanes;  /* lanes that use the heap */
    uint64_t n_remote; /* frees and resizes by another lane than the one that allocated */
};
/* Finds the back end that the request names, checks its table and reads its settings. */
const struct ab_backend *ab_worker_find_backend(struct ab_worker *w);
/* Opens a heap of the back end. Fails the run if the back end cannot serve this work. */
struct ab_heap *ab_worker_open_backend(struct ab_worker *w, const struct ab_backend *b,
                                       const struct ab_work_of_heap *work);
struct ab_heap_face ab_worker_face_of(const struct ab_backend *b, struct ab_heap *heap);
/* Returns the kinds of ops that the back end has hooks for, as bits 1 << AB_OP_…. */
uint32_t ab_worker_hooks_of(const struct ab_backend *b);

/* Finds, checks and opens the back end of a heap boundary. */
void ab_worker_open_heap(struct ab_worker *w, struct ab_heap_face *face);
/* Fills the calling lane's face: the heap's face with the lane's own part of the heap, if it has
 * parts. */
void ab_worker_enter_heap(struct ab_lane *lane, struct ab_heap_face *face);
/* Leaves the heap. Called after the last op of the lane, or of the lane's thread. */
void ab_worker_leave_heap(struct ab_lane *lane);

/* pass_malloc.c, pass_heap.c, pass_handle.c: the loops, one instance for each boundary. */
typedef void ab_lane_pass(struct ab_lane *lane);
ab_lane_pass ab_pass_malloc, ab_pass_heap, ab_pass_handle;

/* Ops between two progress notes of the untimed loop. It is 1 if a decorator wraps the back end,
 * and in unmeasured phases of the tail pass, where exact positions matter and nothing is timed. */
enum { AB_PROGRESS_OPS = 4096 };

/* Returns the enum ab_op_kind of a tape word; for a wide op, that of its entry in the side table.
 * -1 = the word is no request. */
int ab_worker_op_kind(const struct ab_worker *w, uint64_t op);
/* True for an allocation that failed in the recorded program. Such an op returns no block, and has
 * no slot. */
bool ab_worker_is_refused(const struct ab_worker *w, uint64_t op);
/* Returns the size that an op just carried out requested. For a free or an access, returns the size
 * of the block; for a reset, 0. */
uint64_t ab_worker_op_size(const struct ab_worker *w, uint64_t op);

/* Notes whether the thread's last allocation call is the one that fault+ let fail. */
void ab_worker_note_fault(bool is_faulty);
/* ---- notes of the passes, out of line ---- */
void ab_worker_note_null(struct ab_lane *lane, uint64_t size);
void ab_worker_note_slow(struct ab_lane *lane, struct ab_tail *tail);
/* Keeps the op if it is among the AB_WORST_MAX slowest. */
void ab_tail_keep(struct ab_tail *tail, const struct ab_worst *op);

/* ---- a back end wrapped by checked+ or fault+ ---- */

/* Fills `out` with a face that puts request.decorator in front of `target`. Blocks resolve to
 * memory of the harness, to which the tape's touches are written. An error that the checker finds
 * fails the run. */
void ab_worker_decorate(struct ab_worker *w, const struct ab_target *target,
                        struct ab_heap_face *out);

/* Returns the call that fault+ let fail, such as "alloc(48)"; NULL = none yet. */
const char *ab_worker_fault(void);

#endif
