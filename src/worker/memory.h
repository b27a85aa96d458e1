/* SPDX-License-Identifier: MIT
 *
 * The memory pass: the footprint of the heap beside its live bytes, over the whole tape. The loops
 * (pass_body.h) carry out an op and then call ab_memory_after. Several lanes run in strict order,
 * one at a time, so nothing in here is atomic. Nothing in this pass is timed.
 *
 * statm is read at least 2,000 times, and whenever the live bytes reach a new peak. Live and usable
 * bytes are known at each reading, so all numbers of a peak belong together. The contents of the
 * pages are computed some 1,050 times in each measured phase.
 *
 * Checkpoints read what is too expensive for that: page tables, mincore, the allocator's own
 * statistics. One is at the end of each phase. Two are at the peaks of a phase, if an earlier run
 * of the same tape has found them.
 */
#ifndef AB_WORKER_MEMORY_H
#define AB_WORKER_MEMORY_H

#include "worker/page_walk.h"
#include "worker/worker.h"

#include <stdbool.h>

/* The allocator's own statistics, and its function for giving memory back. The functions are found
 * by name in the object that serves malloc, or among the hooks of a heap. They are not taken from
 * elsewhere, because the C library beneath a preloaded one would answer for itself. Asking is slow
 * (mallinfo2 walks every free chunk: 326 ms for 1.6 million), so it happens at checkpoints only. */

struct ab_introspect {
    enum ab_introspect_kind kind;
    void *ask, *purge; /* functions of the kind; NULL = the library has none */
    bool is_libc;
    const struct ab_backend *backend;
    struct ab_heap *heap;
};

/* Finds the functions of the library that serves malloc; `object_of` is an address inside it. */
void ab_introspect_malloc(struct ab_introspect *in, const void *object_of);
void ab_introspect_heap(struct ab_introspect *in, const struct ab_backend *backend,
                        struct ab_heap *heap);

/* Reads the allocator's own statistics; UINT64_MAX = not available. */
void ab_introspect_ask(const struct ab_introspect *in, uint64_t *allocated, uint64_t *mapped);
/* Gives free memory back to the system. Returns false if the allocator has no function for it. */
bool ab_introspect_purge(const struct ab_introspect *in);
/* Writes the kind and the library's settings to standard output, in its own words or as lines of
 * "NAME: VALUE". Allocates, so it must not be called where memory is measured. */
void ab_introspect_settings(const struct ab_introspect *in);

struct ab_memory_report;

/* Maps all memory that the pass needs and opens the files that it reads. Does nothing in other
 * passes. */
void ab_memory_open(struct ab_worker *w);
/* Called around the `open` of a heap: memory that it makes resident is part of the heap's
 * footprint. */
void ab_memory_before_open(struct ab_worker *w);
void ab_memory_after_open(struct ab_worker *w, const struct ab_backend *backend,
                          struct ab_heap *heap);
/* malloc boundary: finds the statistics of the library that serves malloc. */
void ab_memory_set_malloc(struct ab_worker *w, const void *malloc_function);
/* Takes the baseline, when all threads exist, before the heap is aged and before the first op. */
void ab_memory_take_base(struct ab_worker *w);
/* Begins the pass, after the heap is aged, with the blocks of the aged heap. */
void ab_memory_begin(struct ab_worker *w);

/* Called after the op at `op` in the tape. `given` is the block that the op gave (at = 0: none).
 * n_skipped is the number of frees after it that a bulk reset has spared. */
void ab_memory_after(struct ab_worker *w, const uint64_t *op, const struct ab_given *given,
                     uint32_t n_skipped);

/* Keep the pages of the tape out of the footprint, before and after a change of its burst. */
void ab_memory_leave_burst(struct ab_worker *w);
void ab_memory_enter_burst(struct ab_worker *w);

/* Frees live blocks after the last op, waits, purges, and reads the footprint in between. */
void ab_memory_drain(struct ab_worker *w);
/* Touches the stack pages that this thread may come to need, so that they are in no footprint.
 * Before the heap is opened. */
void ab_memory_touch_stack(struct ab_worker *w);
/* Resident stack of the thread that runs a lane; all 0 for the lane's first thread. */
struct ab_thread_stack {
    int64_t bytes;
    uint32_t n_changes; /* thread changes of the lane so far */
};
/* Does the same in a thread that has taken over a lane. `stack` is that of the thread that ended,
 * and becomes this thread's. */
void ab_memory_change_thread(struct ab_worker *w, struct ab_thread_stack *stack);
/* Registers the calling thread as the lane's, so that it does not count as a thread of the
 * allocator. */
void ab_memory_enter(struct ab_lane *lane);

/* Returns bytes above the baseline; AB_MEMORY_UNKNOWN if statm cannot be read. */
uint64_t ab_memory_footprint(struct ab_memory_pass *m);

/* Returns the footprint after counting which pages of the baseline are gone. Without that count,
 * lost pages would hide pages of the heap. */
uint64_t ab_memory_footprint_exact(struct ab_memory_pass *m);

/* Returns the contents of the pages here; all fields UNKNOWN if they are not known. With `must`
 * they are known, unless the ledger is not kept or lost. */
struct ab_page_split ab_memory_split(struct ab_memory_pass *m, uint64_t footprint_bytes, bool must);

/* Lets the work's own time pass until the next op, as far as the time steps belong to this phase or
 * an earlier one. Adds a row at the end of a phase. Does nothing for work without times. */
void ab_memory_time_pass(struct ab_memory_pass *m, bool is_end);
/* Lets virtual time pass until until_ns, without a call. */
void ab_memory_time_wait(struct ab_memory_pass *m, uint64_t until_ns);

#endif
