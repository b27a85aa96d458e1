/* SPDX-License-Identifier: MIT
 *
 * The table of back ends that are compiled into a loop.
 */
#include "worker/target/inline_backend.h"

#include "allocators/builtin.h"
#include "base/bits.h"

#include <string.h>

static void *null_of(struct ab_heap *heap)
{
    return heap; /* which is its block */
}

void ab_inline_need_one_lane(struct ab_worker *w)
{
    if (w->image->n_lanes > 1)
        ab_worker_fail(w, AB_FAILURE_OPEN,
                       "an inlined back end is single-threaded, the workload has several threads",
                       NULL);
}

const struct ab_inline *ab_inline_find(const char *name, enum ab_boundary boundary)
{
    static const struct ab_inline instances[] = {
        {"arena", AB_BOUNDARY_INLINE, ab_pass_inline_arena, ab_step_inline_arena, ab_arena_of_heap},
        {"pool", AB_BOUNDARY_INLINE, ab_pass_inline_pool, ab_step_inline_pool, ab_pool_of_heap},
        {"slab", AB_BOUNDARY_INLINE, ab_pass_inline_slab, ab_step_inline_slab, ab_slabs_of_heap},
        {"null", AB_BOUNDARY_INLINE, ab_pass_inline_null, ab_step_inline_null, null_of},
        {"arena", AB_BOUNDARY_CURSOR, ab_pass_cursor_arena, ab_step_cursor_arena, ab_arena_of_heap},
        {"pool", AB_BOUNDARY_CURSOR, ab_pass_cursor_pool, ab_step_cursor_pool, ab_pool_of_heap},
        {"null", AB_BOUNDARY_CURSOR, ab_pass_cursor_null, ab_step_cursor_null, null_of},
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(instances); i++)
        if (instances[i].boundary == boundary && strcmp(instances[i].name, name) == 0)
            return &instances[i];
    return NULL;
}
