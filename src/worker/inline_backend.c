/* SPDX-License-Identifier: MIT
 *
 * The table of back ends that are compiled into a loop.
 */
#include "worker/inline_backend.h"

#include "allocators/builtin.h"
#include "base/bits.h"
#include "worker/lanes.h"
#include "worker/preflight.h"

#include <string.h>

static void *null_of(struct ab_heap *heap)
{
    return heap; /* the heap of the null back end is its one block */
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

/* A compiled-in back end as a target of the checks. A compiled-in back end has no functions to
 * call, only a loop over ops. So each call becomes a tape of one op, which the loop runs: the same
 * machine code as in the timed run. */

static struct ab_lane lane;
static struct ab_backend hooks;
static struct ab_slot slots[1];
static struct ab_wide wide[1];
/* padding after the op, because the loop prefetches past it */
static uint64_t ops[1 + AB_TAPE_PAD];

static uint64_t encode(unsigned code, const struct ab_wide *op)
{
    bool is_aligned = code == AB_CODE_ALLOC_ALIGNED;
    unsigned log2 = is_aligned ? ab_log2(op->align) : 0;
    if (op->size <= UINT32_MAX && !is_aligned)
        return AB_OP_MAKE(code, 0, op->size);
    if (is_aligned && op->size == AB_ALIGNED_SIZE(op->size) && log2 < 32)
        return AB_OP_MAKE(code, 0, AB_ALIGNED_MAKE(op->size, log2));
    wide[0] = *op;
    wide[0].code = (uint16_t)code;
    return AB_OP_MAKE(AB_CODE_WIDE, 0, 0);
}

/* Runs one op. Returns false if an allocation gave no block. */
static bool step(unsigned code, size_t align, size_t size)
{
    ops[0] = encode(code, &(struct ab_wide){.size = size, .align = align});
    lane.first_null_op = UINT32_MAX;
    lane.w->inlined->step(&lane, 0);
    return lane.first_null_op == UINT32_MAX;
}

static ab_ref ask(unsigned code, size_t align, size_t size)
{
    slots[0] = (struct ab_slot){0, 0};
    return step(code, align, size) ? slots[0].ref : 0;
}

static ab_ref step_alloc(struct ab_heap *heap, size_t size)
{
    (void)heap;
    return ask(AB_CODE_ALLOC, 0, size);
}

static ab_ref step_zeroed(struct ab_heap *heap, size_t size)
{
    (void)heap;
    return ask(AB_CODE_ALLOC_ZEROED, 0, size);
}

static ab_ref step_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    (void)heap;
    return ask(AB_CODE_ALLOC_ALIGNED, align, size);
}

static void step_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)heap;
    slots[0] = (struct ab_slot){ref, size};
    step(AB_CODE_FREE, 0, 0);
}

static ab_ref step_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    (void)heap;
    slots[0] = (struct ab_slot){ref, old_size};
    return step(AB_CODE_RESIZE, 0, new_size) ? slots[0].ref : 0;
}

void ab_target_of_loop(const struct ab_lane *of, struct ab_target *target)
{
    const struct ab_backend *called = target->hooks;
    lane = *of;
    lane.face = &lane.own_face;
    lane.ops = ops;
    lane.wide = wide;
    lane.slots = slots;
    hooks = *called;
    hooks.alloc = step_alloc;
    hooks.free = called->free != NULL ? step_free : NULL;
    hooks.resize = called->resize != NULL ? step_resize : NULL;
    hooks.alloc_zeroed = called->alloc_zeroed != NULL ? step_zeroed : NULL;
    hooks.alloc_aligned = called->alloc_aligned != NULL ? step_aligned : NULL;
    target->hooks = &hooks;
}
