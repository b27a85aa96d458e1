/* SPDX-License-Identifier: MIT
 *
 * The memory pass: the footprint of the heap beside what its live blocks hold, over the whole tape.
 * The loops (pass_body.h) carry out an op and tell it here; with several lanes they do so in the
 * strict order, one at a time, so nothing in here is atomic. Nothing in this pass is timed.
 *
 * statm is read 2,000 times at least, and whenever the live bytes reach a new peak; live and usable bytes are
 * known then, so every peak that is seen is seen whole. What the pages hold is asked some 1,050 times in
 * each measured phase.
 * Checkpoints look up what is too dear for that (page tables, mincore, the allocator's own
 * figures): at the end of each phase, and at the two peaks of a phase where an earlier run of the
 * same tape has found them.
 */
#ifndef AB_WORKER_MEMORY_H
#define AB_WORKER_MEMORY_H

#include "worker/page_walk.h"
#include "worker/worker.h"

#include <stdbool.h>

/* What an allocator says of itself, and how it is told to give memory back. Found by name in the
 * object that serves malloc (a preloaded library must not be asked for what the C library beneath
 * it knows), or among the hooks of a heap. Asking may take long (mallinfo2 walks every free chunk:
 * 326 ms for 1.6 million): at checkpoints only. */

struct ab_introspect {
    enum ab_introspect_kind kind;
    void *ask, *purge; /* functions of the kind; NULL = cannot */
    bool is_libc;
    const struct ab_backend *backend;
    struct ab_heap *heap;
};

/* `object_of` is an address inside the library that serves malloc. */
void ab_introspect_malloc(struct ab_introspect *in, const void *object_of);
void ab_introspect_heap(struct ab_introspect *in, const struct ab_backend *backend,
                        struct ab_heap *heap);

/* UINT64_MAX = it does not say. */
void ab_introspect_ask(const struct ab_introspect *in, uint64_t *allocated, uint64_t *mapped);
/* False when there is no way to. */
bool ab_introspect_purge(const struct ab_introspect *in);
/* To standard output: the kind, then what the library says of its settings, as it writes it or as
 * lines of "NAME: VALUE". It allocates, so never where memory counts. */
void ab_introspect_settings(const struct ab_introspect *in);

struct ab_memory_report;

/* Maps all that the pass needs and opens what it reads. A no-op in other passes. */
void ab_memory_open(struct ab_worker *w);
/* Around the `open` of a heap: what it makes resident is the heap's footprint. */
void ab_memory_before_open(struct ab_worker *w);
void ab_memory_after_open(struct ab_worker *w, const struct ab_backend *backend,
                          struct ab_heap *heap);
/* For the malloc boundary: who serves it. */
void ab_memory_set_malloc(struct ab_worker *w, const void *malloc_function);
/* The baseline: when all threads are there, before the litter and the first op. */
void ab_memory_take_base(struct ab_worker *w);
/* A block that lives to the end and is none of the tape's; written to as a whole. */
void ab_memory_add_litter(struct ab_worker *w, const struct ab_given *given);
/* Once that is there. */
void ab_memory_begin(struct ab_worker *w);

/* After the op at `op` in the tape: what it gave (at = 0: nothing, or no such op) and how many
 * ops after it were passed over, frees that a bulk reset stood for. */
void ab_memory_after(struct ab_worker *w, const uint64_t *op, const struct ab_given *given,
                     uint32_t n_skipped);

/* Around a change of the tape's burst, which takes pages of ours that are not the heap's. */
void ab_memory_leave_burst(struct ab_worker *w);
void ab_memory_enter_burst(struct ab_worker *w);

/* After the last op: frees what is live, waits and purges, and watches the footprint. */
void ab_memory_drain(struct ab_worker *w);
/* Stack pages that this thread may come to need, so that they are no footprint of anybody's. Before
 * the heap is opened. */
void ab_memory_touch_stack(struct ab_worker *w);
/* Resident stack of the thread that runs a lane; all 0 for the lane's first thread. */
struct ab_thread_stack {
    int64_t bytes;
    uint32_t n_changes; /* of the lane's threads */
};
/* The same in a thread that has taken over a lane; `stack` is that of the thread that ended, then this
 * thread's. */
void ab_memory_change_thread(struct ab_worker *w, struct ab_thread_stack *stack);
/* The calling thread is about to run the lane: it is no thread of the allocator's. */
void ab_memory_enter(struct ab_lane *lane);

/* Bytes above the baseline, AB_MEMORY_UNKNOWN when statm cannot be read. */
uint64_t ab_memory_footprint(struct ab_memory_pass *m);

/* The same once it was looked up which pages of the baseline are gone: those do not hide others. */
uint64_t ab_memory_footprint_exact(struct ab_memory_pass *m);

/* What the pages hold here; all UNKNOWN where it is not known. Always known with `must`, unless the
 * ledger is not kept or lost. */
struct ab_page_split ab_memory_split(struct ab_memory_pass *m, uint64_t footprint_bytes, bool must);

/* The work's own time, where it has times; else nothing. All that passes before the next op, as far
 * as it belongs to this phase or one before; at the end of a phase there is a row. */
void ab_memory_time_pass(struct ab_memory_pass *m, bool is_end);
/* In virtual time, with nothing called. */
void ab_memory_time_wait(struct ab_memory_pass *m, uint64_t until_ns);

#endif
