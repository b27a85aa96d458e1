/* SPDX-License-Identifier: MIT
 *
 * The program's own use of the caches between its calls, as a tape asks for it (AB_SLOT_CACHE in
 * tape/op.h): a buffer for each lane, read cache line by cache line, round and round. It is what
 * drives an allocator's own data out of the caches in a program, and what a bare replay lacks.
 */
#ifndef AB_WORKER_PASSES_CACHE_WALK_H
#define AB_WORKER_PASSES_CACHE_WALK_H

#include "worker/worker.h"

/* Maps the buffers of all lanes, or none. They are written once and belong to no heap's footprint. */
void ab_cache_open(struct ab_worker *w);
/* Reads the next n cache lines of the lane's buffer. */
void ab_cache_walk(struct ab_lane *lane, uint32_t n);

#endif
