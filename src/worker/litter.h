/* SPDX-License-Identifier: MIT
 *
 * The litter of a run: made by lane 0 before the first op, in every pass that measures; it stays to the
 * end, and nothing frees it.
 */
#ifndef AB_WORKER_LITTER_H
#define AB_WORKER_LITTER_H

#include "worker/worker.h"

struct ab_litter {
    struct ab_litter_plan plan;
    struct ab_litter_count foreseen;
    struct ab_litter_block *blocks;
    struct ab_facts facts; /* of the tape and the litter */
    bool is_made;
};

/* Once the tape is mapped, before heap and memory pass open. Does nothing where none is asked for. */
void ab_litter_open(struct ab_worker *w);
/* Blocks that there may be; 0 = there is no litter. */
static inline uint64_t ab_litter_most_blocks(const struct ab_worker *w)
{
    return w->litter != NULL ? w->litter->foreseen.made_blocks : 0;
}
/* Of the tape, with what the litter adds. */
static inline const struct ab_facts *ab_litter_facts(const struct ab_worker *w)
{
    return w->litter != NULL ? &w->litter->facts : &w->image->facts;
}
/* Makes it, once; on the thread of lane 0. */
void ab_litter_strew(struct ab_lane *lane);

#endif
