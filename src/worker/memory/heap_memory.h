/* SPDX-License-Identifier: MIT
 *
 * What each heap of a placement holds, at the checkpoints of the memory pass. All of these do nothing
 * where there is no placement.
 */
#ifndef AB_WORKER_MEMORY_HEAP_MEMORY_H
#define AB_WORKER_MEMORY_HEAP_MEMORY_H

#include "worker/memory/memory_pass.h"

/* Maps its table, before the baseline; not of a scout. */
void ab_heap_memory_open(struct ab_worker *w, struct ab_memory_pass *m);
/* Remembers the heap, whose own statistics are queried at each checkpoint. */
void ab_heap_memory_opened(struct ab_worker *w, uint32_t index, const struct ab_backend *backend,
                           struct ab_heap *heap);
/* The slot has a new block. */
void ab_heap_memory_note(const struct ab_worker *w, struct ab_memory_pass *m, uint32_t slot);
/* At a checkpoint. */
void ab_heap_memory_look(struct ab_memory_pass *m, struct ab_memory_state *s);
/* When all blocks are freed: reading `when`. */
void ab_heap_memory_drained(struct ab_memory_pass *m, unsigned when);

#endif
