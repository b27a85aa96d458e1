/* SPDX-License-Identifier: MIT
 *
 * Instances of the loops that have a built-in back end compiled in. They show what an allocator
 * costs a program that includes its header; beside a called one they are no like for like, so they
 * are rows of their own, each kind with a null of its own: `inline+NAME` makes the plain inline call
 * for each op, `cursor+NAME` allocates through the cursor of the header, as a loop written for it does.
 */
#ifndef AB_WORKER_INLINE_BACKEND_H
#define AB_WORKER_INLINE_BACKEND_H

#include "worker/checks/target.h"
#include "worker/worker.h"

/* Carries out the op at lane->ops[at] in the untimed loop. */
typedef void ab_lane_step(struct ab_lane *lane, uint32_t at);

struct ab_inline {
    const char *name;          /* of the back end */
    enum ab_boundary boundary; /* INLINE: a plain call in the source; CURSOR */
    ab_lane_pass *pass;
    ab_lane_step *step;
    /* What face->object must be; NULL when the heap's settings ask for more than is compiled in. */
    void *(*object_of)(struct ab_heap *heap);
};

ab_lane_pass ab_pass_inline_arena, ab_pass_inline_pool, ab_pass_inline_slab, ab_pass_inline_null;
ab_lane_step ab_step_inline_arena, ab_step_inline_pool, ab_step_inline_slab, ab_step_inline_null;
ab_lane_pass ab_pass_cursor_arena, ab_pass_cursor_pool, ab_pass_cursor_null;
ab_lane_step ab_step_cursor_arena, ab_step_cursor_pool, ab_step_cursor_null;

/* What is compiled in takes no lock: the run fails where several lanes make its requests. */
void ab_inline_need_one_lane(struct ab_worker *w);

/* NULL = there is none for this back end. */
const struct ab_inline *ab_inline_find(const char *name, enum ab_boundary boundary);

/* A compiled-in back end as a target of checks. */

/* Of a lane with w->inlined, whose face has its object: calls go op by op through the loop that has
 * the back end compiled in, so that what is proven is what will be timed. `target`: its heap's. */
void ab_target_of_loop(const struct ab_lane *lane, struct ab_target *target);

#endif
