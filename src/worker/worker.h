/* SPDX-License-Identifier: MIT
 *
 * The worker: one process, one run. Its memory is mapped and pre-faulted before the heap opens;
 * between start and report it calls no malloc, no stdio and no locale of its own, and the parent
 * reads everything from the run block.
 */
#ifndef AB_WORKER_WORKER_H
#define AB_WORKER_WORKER_H

#include "allocators/ab_backend.h"
#include "base/save_points.h"
#include "wire/run.h"
#include "worker/checks/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How ops reach an allocator: two call boundaries of equal indirection (one load of a function
 * pointer from memory, one call). Nothing is compared through a shim, which would tax one side by
 * a good part of a 4 ns op. */

struct ab_heap_face { /* hooks of one opened heap; free is never NULL here */
    struct ab_heap *heap;
    ab_ref (*alloc)(struct ab_heap *, size_t);
    void (*free)(struct ab_heap *, ab_ref, size_t);
    /* With log2 of the alignment; of a malloc behind a heap's face. NULL: `free` does it. */
    void (*free_sized)(struct ab_heap *, ab_ref, size_t, unsigned);
    ab_ref (*resize)(struct ab_heap *, ab_ref, size_t, size_t);
    ab_ref (*alloc_zeroed)(struct ab_heap *, size_t);
    ab_ref (*alloc_aligned)(struct ab_heap *, size_t, size_t);
    void (*reset)(struct ab_heap *);
    void *(*resolve)(struct ab_heap *, ab_ref);
    size_t (*usable_size)(struct ab_heap *, ab_ref);
    int (*thread_enter)(struct ab_heap *, uint32_t, struct ab_heap **);
    void *object; /* of a loop with the back end compiled in: what its functions take */
    const struct ab_backend *backend; /* whose hooks these are; NULL = none */
};

static inline bool ab_backend_has_marks(const struct ab_backend *b)
{
    return b->mark != NULL && b->release != NULL;
}

/* 16 bytes: AB_OP's slot field is its byte offset. */
struct ab_slot {
    uintptr_t ref;
    uint64_t size_seq; /* requested size in the low 48 bits; sequence number above */
};
#define AB_SLOT_SIZE(slot) ((slot)->size_seq & 0xffffffffffffu)
_Static_assert(sizeof(struct ab_slot) == 16, "the slot field of an op is a byte offset");

struct ab_inline;
struct ab_handover;
struct ab_remedies;
struct ab_placement_image;
struct ab_litter;

struct ab_worker { /* what all lanes share */
    const struct ab_tape_image *image;
    uint32_t burst, first; /* that is running; ops of the bursts before. What follows is its own */
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
        *iteration_begin; /* of the burst; not to be read where it has none */
    const uint32_t *thread_ends, *thread_end_begin; /* the same of ends of threads */
    struct ab_iteration *iteration_reports;         /* TAIL of a tape with iterations, else NULL */
    struct ab_lane *lanes;                          /* image->n_lanes */
    struct ab_memory_pass *memory;                  /* memory pass, else NULL */
    struct ab_litter *litter;                       /* where there is to be some, else NULL */
    struct ab_remedies *remedies;    /* where memory is given back by the clock, else NULL */
    const struct ab_inline *inlined; /* AB_BOUNDARY_INLINE, else NULL */
    const struct ab_placement_image *placement; /* AB_BOUNDARY_PLACED, else NULL */
    int (*trim)(size_t); /* malloc_trim of the library; NULL: it has none, or the tape no such op */
    uint32_t n_cpus;     /* that the lanes have between them */
    uint32_t n_awake;    /* atomic: lanes in a phase that do not sleep, or have been woken */
};

/* How far a lane is, for others that wait for it; on lines of its own, and what sleepers write on
 * another one than what it writes. */
struct ab_gauge {
    _Alignas(64) uint32_t count;  /* atomic */
    int cpu;                      /* atomic: where it was set last */
    _Alignas(64) uint32_t wanted; /* atomic: the least that a sleeper waits for */
    int wanted_on;                /* atomic: CPU of who fell asleep last */
};

struct ab_cpu_reading { /* of a thread; the wall's clock before and after the others */
    uint64_t begin_ns, cpu_ns, switches; /* switches: involuntary ones */
    uint64_t cpu_end_ns, end_ns;         /* the CPU time is read once more after the switches */
};

#define AB_GROUP_ALL UINT32_MAX /* it binds all to each other */

/* One lane: what its thread alone writes, then what it tells others. */
struct ab_lane {
    struct ab_worker *w;
    const uint64_t *ops;
    const struct ab_wide *wide;
    struct ab_slot *slots;
    void *face;                   /* struct ab_malloc_calls, or own_face */
    struct ab_heap_face own_face; /* heap boundary: its heap may be the lane's own */
    volatile uint32_t *progress;  /* where the parent looks for the op that runs */
    uint32_t index;
    uint32_t op;                /* index of the op running, for what is noted about it */
    uint32_t remedy, remedy_at; /* next one of w->remedies, and before which op it is due */
    uint32_t chunk_ops;         /* the untimed loop notes where it is every so many */
    bool may_reset;             /* the back end has a bulk reset */
    bool has_marks;             /* … and save points */
    bool has_own_heap;          /* no other lane allocates in it */
    bool is_in_rows;            /* this phase is made of rows of allocations: which loop to use */
    uint8_t only_code;          /* in this phase: of struct ab_phase */
    struct ab_handover
        *handover;     /* of a tape whose threads end, in passes where they do; else NULL */
    uint64_t *walk;    /* entries of a walk, image->longest_walk; NULL: its accesses one by one */
    uint32_t n_steps;  /* pre-flight of what is compiled in: ops so far */
    uint32_t n_spared; /* frees that the last one made needless */
    uint32_t n_trims;  /* calls of malloc_trim in this phase, with effect or without */
    bool is_strict;
    bool is_crowded;  /* of the phase: more lanes than CPUs have a share of its ops worth one */
    bool is_counting; /* tail pass of several lanes: how many blocks live, over all of them */
    uint32_t first_null_op; /* UINT32_MAX = every allocation gave a block */
    bool is_null_of_fault;  /* fault+ gave it */
    uint64_t first_null_size;
    uint64_t chain, delta; /* latency and tail pass: last reading, this op's ticks */
    uint64_t look_ticks;   /* what takes longer may have been the scheduler's (preemption.h) */
    struct ab_cpu_reading looked;
    uint64_t looked_tick;          /* when that was */
    uint32_t n_preempted;          /* stretches that were the scheduler's */
    uint64_t least_ns;             /* CPU time of the op that was looked at last, at least */
    uint32_t sample;               /* latency pass: the next one */
    struct ab_iteration iteration; /* tail pass: so far of the one that runs */
    uint32_t iteration_end;        /* it ends before this op; UINT32_MAX = in no phase of them */
    uint32_t next_iteration,
        last_iteration;    /* of the burst; [next, last) are to come in the phase */
    uint64_t apart_ticks;  /* of the phase: writing to blocks while the clock stands still */
    uint64_t apart_cpu_ns; /* the same, where is_crowded; else 0 */
    uint64_t path_ticks;   /* atomic: of the phase, so long the clock stood still on its path */
    uint64_t wait_ticks;   /* for other lanes */
    uint64_t awake_ticks,
        asleep_cpu_ns;               /* of these, CPU time: as good as all that is spent awake */
    struct ab_phase_report *reports; /* one a phase */
    uint32_t n_bound;                /* of the phase: lanes that the window binds it to */
    uint8_t bound[AB_LANES_MAX];
    uint64_t marks[AB_SAVE_POINTS_MAX + 1]; /* of the back end, by depth */
    struct ab_gauge published;              /* how many of its ops of this phase are done */
    struct ab_gauge frame;                  /* all its ops of earlier frames are done */
    struct ab_gauge turn;                   /* the last that it was given; strict order */
};

/* Stops the run: state FAILED, the reason built from the parts up to NULL. Never returns. */
_Noreturn void ab_worker_fail(struct ab_worker *w, enum ab_failure failure, ...)
    __attribute__((sentinel));
/* To standard error, where no parent reads the report. */
void ab_worker_print(const struct ab_worker *w, const char *text);
/* Zeroes for the worker's own use, or the run fails: "cannot map the WHAT". Shared, so that they
 * never count as the heap's footprint; written, so that no first touch of ours falls into a phase. */
void *ab_worker_map(struct ab_worker *w, size_t bytes, const char *what);
/* Decimal text of n in buf[24]. */
const char *ab_worker_number(char *buf, uint64_t n);

/* identity.c: who serves malloc; fails the run when it is not the library asked for. */
void ab_worker_identify_malloc(struct ab_worker *w, struct ab_malloc_calls *face);
void ab_worker_identify_object(struct ab_worker *w, const void *address, bool must_match);
/* Is what lies there of request.want_dev and want_ino? */
bool ab_worker_is_of_file(const struct ab_worker *w, const void *address);
/* report.version, as the library itself says it; `mallctl` may be NULL. */
void ab_worker_ask_version(struct ab_worker *w, void *library, void *mallctl);

/* A function of that name in the very object that serves malloc; NULL = it has none. */
typedef void *ab_own_function(struct ab_worker *w, const char *name);
/* remedies.c: request.purge_ns of a malloc. All do nothing where it is 0. */

/* Finds the library's own call; fails the run where it has none. */
void ab_remedies_open(struct ab_worker *w, const void *malloc_function);
/* Of the burst that has been entered: which op of which lane each is due before. */
void ab_remedies_enter_burst(struct ab_worker *w);
/* Calls the one that is due, and notes the lane's next. */
void ab_remedies_call(struct ab_lane *lane);

/* sized_free.c: sets the face's functions that free by size, whose `free` is known, and says in the
 * report which one it is; nothing where the tape has no such frees. */
void ab_worker_find_sized_free(struct ab_worker *w, struct ab_malloc_calls *face,
                               ab_own_function *find);

/* memory_introspect.c: sets w->trim where the tape has such ops, unless another malloc of the mapping has
 * the function. */
void ab_worker_find_trim(struct ab_worker *w, ab_own_function *find);

/* prefixed_malloc.c: functions PREFIXmalloc … of a library that is opened by path. Which kinds of ops it can
 * serve, as bits 1 << AB_OP_…; the face's functions for the others are NULL. */
uint32_t ab_worker_open_prefix(struct ab_worker *w, struct ab_malloc_calls *face);

/* burst.c: the tape as far as its burst i goes. A file's other bursts are not in memory. False: it
 * cannot be read. */
bool ab_worker_enter_burst(struct ab_worker *w, uint32_t i);
/* Of a mapped file: the `bytes` from `next` on in place of those from `last` on, which begin pages.
 * False: they cannot be read. */
bool ab_worker_bring_in(const void *file, uint64_t last, uint64_t next, uint64_t bytes);

/* What a heap is told of the work: of the tape, or of the check that runs instead of one. */
const struct ab_facts *ab_worker_facts(const struct ab_worker *w);

/* open_heap.c: the back end of a heap boundary, in steps. */
struct ab_work_of_heap {
    const char *name; /* in messages; NULL = of one heap, which needs none */
    const struct ab_facts *facts;
    uint32_t n_lanes;  /* that use it */
    uint64_t n_remote; /* frees and resizes by another lane than the one that allocated */
};
/* The table that the request names, checked, with its settings read. */
const struct ab_backend *ab_worker_find_backend(struct ab_worker *w);
/* Fails the run when the back end cannot serve such work. */
struct ab_heap *ab_worker_open_backend(struct ab_worker *w, const struct ab_backend *b,
                                       const struct ab_work_of_heap *work);
struct ab_heap_face ab_worker_face_of(const struct ab_backend *b, struct ab_heap *heap);
/* Bit 1 << AB_OP_… for each kind that it has a hook for. */
uint32_t ab_worker_hooks_of(const struct ab_backend *b);

/* Finds, checks and opens the back end of a heap boundary. */
void ab_worker_open_heap(struct ab_worker *w, struct ab_heap_face *face);
/* The calling lane's own view of it. */
void ab_worker_enter_heap(struct ab_lane *lane, struct ab_heap_face *face);
/* After its last op, or the thread's. */
void ab_worker_leave_heap(struct ab_lane *lane);

/* pass_malloc.c, pass_heap.c, pass_handle.c: the same loops, instantiated for each boundary. */
typedef void ab_lane_pass(struct ab_lane *lane);
ab_lane_pass ab_pass_malloc, ab_pass_heap, ab_pass_handle;

/* How many ops the untimed loop runs between two notes of where it is; 1 behind a decorator and in
 * the unmeasured phases of the tail pass: there a place is to be found and nothing timed. */
enum { AB_PROGRESS_OPS = 4096 };

/* enum ab_op_kind of a tape word, looking through the side table; -1 = none. */
int ab_worker_op_kind(const struct ab_worker *w, uint64_t op);
/* An allocation that the recorded program saw fail: no block comes of it, its slot is none. */
bool ab_worker_is_refused(const struct ab_worker *w, uint64_t op);
/* Size that an op that was just carried out asked for; of a free or an access: of its block; of a
 * reset: 0. */
uint64_t ab_worker_op_size(const struct ab_worker *w, uint64_t op);

/* Each call for memory under fault+: is it the one that fails? */
void ab_worker_note_fault(bool is_faulty);
/* What passes note, out of line. */
void ab_worker_note_null(struct ab_lane *lane, uint64_t size);
void ab_worker_note_slow(struct ab_lane *lane, struct ab_tail *tail);
/* Keeps the op when it is among the AB_WORST_MAX slowest. */
void ab_tail_keep(struct ab_tail *tail, const struct ab_worst *op);

/* A back end behind checked+ or fault+. */

/* The face of `target` behind request.decorator. Blocks resolve to memory of our own, where the
 * tape's touches go. Failures of the checker fail the run. */
void ab_worker_decorate(struct ab_worker *w, const struct ab_target *target,
                        struct ab_heap_face *out);

/* Of fault+: the call that failed, "alloc(48)"; NULL when none has. */
const char *ab_worker_fault(void);

#endif
