/* SPDX-License-Identifier: MIT
 *
 * Loops that have a built-in back end compiled in. They show what an allocator costs a program that
 * includes its header. Results are not comparable with those of an allocator that is called, so
 * each kind has rows and a null back end of its own. `inline+NAME` makes a plain inline call for
 * each op. `cursor+NAME` allocates through the cursor of the header, as a loop written for that
 * header does.
 */
#ifndef AB_WORKER_INLINE_BACKEND_H
#define AB_WORKER_INLINE_BACKEND_H

#include "worker/checks/target.h"
#include "worker/worker.h"

/* Carries out the op at lane->ops[at] in the untimed loop. */
typedef void ab_lane_step(struct ab_lane *lane, uint32_t at);

struct ab_inline {
    const char *name; /* name of the back end */
    /* AB_BOUNDARY_INLINE (plain calls in the source) or AB_BOUNDARY_CURSOR */
    enum ab_boundary boundary;
    ab_lane_pass *pass;
    ab_lane_step *step;
    /* Returns the value for face->object. Returns NULL if the heap's settings need code that is not
     * compiled in. */
    void *(*object_of)(struct ab_heap *heap);
};

ab_lane_pass ab_pass_inline_arena, ab_pass_inline_pool, ab_pass_inline_slab, ab_pass_inline_null;
ab_lane_step ab_step_inline_arena, ab_step_inline_pool, ab_step_inline_slab, ab_step_inline_null;
ab_lane_pass ab_pass_cursor_arena, ab_pass_cursor_pool, ab_pass_cursor_null;
ab_lane_step ab_step_cursor_arena, ab_step_cursor_pool, ab_step_cursor_null;

/* Fails the run if several lanes allocate, because compiled-in allocators take no lock. */
void ab_inline_need_one_lane(struct ab_worker *w);

/* Returns the compiled-in loop of the back end for this boundary; NULL = there is none. */
const struct ab_inline *ab_inline_find(const char *name, enum ab_boundary boundary);

/* ---- a compiled-in back end as a target of checks ---- */

/* Creates a target whose calls run op by op in the lane's loop, so that the checks prove the
 * compiled-in code that will be timed. Needs w->inlined, and the object in the lane's face. On
 * entry, `target` is the target of the heap. */
void ab_target_of_loop(const struct ab_lane *lane, struct ab_target *target);

#endif
