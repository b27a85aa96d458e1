/* SPDX-License-Identifier: MIT
 *
 * The memory pass: measures the footprint of the heap beside its live bytes, over the whole tape.
 * The loops (pass_body.h) carry out an op and then call ab_memory_after. Several lanes run in
 * strict order, one at a time, so nothing in here is atomic. Nothing in this pass is timed.
 *
 * The footprint (statm) is read at least 2,000 times, and whenever the live bytes reach a new peak.
 * Live and usable bytes are known at each reading, so all numbers of a peak belong together. The
 * contents of the pages are computed some 1,050 times in each measured phase.
 *
 * Checkpoints read numbers that cost more: page tables, smaps_rollup, the allocator's own
 * statistics. One checkpoint is at the end of each phase. Two are at the peaks of a phase, if an
 * earlier run of the same tape has found them.
 */
#ifndef AB_WORKER_MEMORY_H
#define AB_WORKER_MEMORY_H

#include "worker/page_walk.h"
#include "worker/worker.h"

#include <stdbool.h>

/* The allocator's own statistics, and its function for giving memory back. These functions are
 * found by name in the object that serves malloc, or among the hooks of a heap. Functions of other
 * objects are not used: the C library beneath a preloaded malloc would report its own memory.
 * Asking is slow, so it happens at checkpoints only. For example, mallinfo2 walks every free chunk:
 * 326 ms for 1.6 million. */

struct ab_introspect {
    enum ab_introspect_kind kind;
    /* functions of the library's kind; NULL = the library has no such function */
    void *ask, *purge;
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
/* Releases free memory to the system. Returns false if the allocator has no function for it. */
bool ab_introspect_purge(const struct ab_introspect *in);
/* Writes the library's kind and its settings to standard output: as the library prints them, or as
 * lines of "NAME: VALUE". Allocates memory, so it must not be called in a run that measures
 * memory. */
void ab_introspect_settings(const struct ab_introspect *in);

struct ab_memory_report;

/* Maps all memory that the pass needs and opens the files that it reads. Does nothing in other
 * passes. */
void ab_memory_open(struct ab_worker *w);
/* Called before and after the `open` of a heap. Memory that `open` makes resident is part of the
 * heap's footprint. */
void ab_memory_before_open(struct ab_worker *w);
void ab_memory_after_open(struct ab_worker *w, const struct ab_backend *backend,
                          struct ab_heap *heap);
/* Finds the statistics of the library that serves malloc; for the malloc boundary only. */
void ab_memory_set_malloc(struct ab_worker *w, const void *malloc_function);
/* Takes the baseline. Called when all threads exist, before the heap is aged and before the first
 * op. */
void ab_memory_take_base(struct ab_worker *w);
/* Begins the pass with the blocks of the aged heap. Called after the heap is aged. */
void ab_memory_begin(struct ab_worker *w);

/* Called after each op. `op` is its place in the tape. `given` is the block that it allocated (at =
 * 0: none). n_skipped is the number of frees after `op` that a bulk reset has replaced. */
void ab_memory_after(struct ab_worker *w, const uint64_t *op, const struct ab_given *given,
                     uint32_t n_skipped);

/* Called before and after the tape's burst changes, so that pages of the tape do not count in the
 * kernel's high-water mark. */
void ab_memory_leave_burst(struct ab_worker *w);
void ab_memory_enter_burst(struct ab_worker *w);

/* Frees the live blocks after the last op, then waits and purges, and reads the footprint in
 * between. */
void ab_memory_drain(struct ab_worker *w);
/* Touches the stack pages that the calling thread may need later, so that they are in no footprint.
 * Called before the heap is opened. */
void ab_memory_touch_stack(struct ab_worker *w);
/* Resident stack of the thread that runs a lane; all 0 for the lane's first thread. */
struct ab_thread_stack {
    int64_t bytes;
    uint32_t n_changes; /* thread changes of the lane so far */
};
/* Keeps the stack of a thread that has taken over a lane out of the footprint. On entry, `stack`
 * describes the stack of the previous thread; then that of the calling thread. */
void ab_memory_change_thread(struct ab_worker *w, struct ab_thread_stack *stack);
/* Registers the calling thread as the lane's thread, so that it does not count as one of the
 * allocator's. */
void ab_memory_enter(struct ab_lane *lane);

/* Returns the footprint: private resident bytes above the baseline. Returns AB_MEMORY_UNKNOWN if
 * statm cannot be read. */
uint64_t ab_memory_footprint(struct ab_memory_pass *m);

/* Returns the footprint, corrected by the pages of the baseline that are gone. Without this
 * correction, lost pages would hide pages of the heap. */
uint64_t ab_memory_footprint_exact(struct ab_memory_pass *m);

/* Returns the contents of the pages at this position; all fields are UNKNOWN if they are not known.
 * With `must`, they are unknown only if the page ledger is not kept or is lost. */
struct ab_page_split ab_memory_split(struct ab_memory_pass *m, uint64_t footprint_bytes, bool must);

/* Lets the work's own time pass until the next op. Takes the time steps of this phase and of
 * earlier ones. Adds a row at the end of a phase. Does nothing for work without times. */
void ab_memory_time_pass(struct ab_memory_pass *m, bool is_end);
/* Lets the work's time pass until until_ns, without an op. */
void ab_memory_time_wait(struct ab_memory_pass *m, uint64_t until_ns);

#endif
