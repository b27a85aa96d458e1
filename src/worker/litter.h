/* SPDX-License-Identifier: MIT
 *
 * The aged heap of a run. Lane 0 allocates and frees blocks before the first op, in every pass that
 * measures. The blocks that remain live to the end; nothing frees them.
 */
#ifndef AB_WORKER_LITTER_H
#define AB_WORKER_LITTER_H

#include "worker/worker.h"

struct ab_litter {
    struct ab_litter_plan plan;
    struct ab_litter_count foreseen;
    struct ab_litter_block *blocks;
    struct ab_facts facts; /* facts of the tape and the aged heap together */
    bool is_made;
};

/* Plans the aged heap, once the tape is mapped, before heap and memory pass open. Does nothing if
 * the request has none. */
void ab_litter_open(struct ab_worker *w);
/* Returns the most blocks that aging may allocate; 0 = the heap is not aged. */
static inline uint64_t ab_litter_most_blocks(const struct ab_worker *w)
{
    return w->litter != NULL ? w->litter->foreseen.made_blocks : 0;
}
/* Returns the facts of the tape, including those of the aged heap. */
static inline const struct ab_facts *ab_litter_facts(const struct ab_worker *w)
{
    return w->litter != NULL ? &w->litter->facts : &w->image->facts;
}
/* Ages the heap, once; on the thread of lane 0. */
void ab_litter_strew(struct ab_lane *lane);

#endif
