/* SPDX-License-Identifier: MIT
 *
 * Iterations of a phase: where each ends, beside the ops. They are noted by the number of the lane's
 * next op, and get their positions when the lanes are laid down.
 */
#include "tape/iterations.h"

#include "core/grow.h"

#include <stdio.h>

void ab_tape_each(struct ab_tape_builder *b, const char *name, uint64_t budget_ns)
{
    if (b->phase == NULL)
        return;
    snprintf(b->phase->iteration, sizeof b->phase->iteration, "%s", name);
    b->phase->budget_ns = budget_ns;
    b->has_iterations = true;
}

enum ab_status ab_tape_iteration(struct ab_tape_builder *b, struct ab_err *err)
{
    struct ab_lane_ops *lane = b->to;
    if (b->phase == NULL)
        return ab_fail(err, AB_CONFIG, "an iteration before the first phase");
    AB_GROW(lane->iterations, lane->cap_iterations, lane->n_iterations);
    lane->iterations[lane->n_iterations++] = (struct ab_iteration_end){
        .phase = b->tape.n_phases - 1, .op = (uint32_t)lane->n};
    return AB_OK;
}

/* Since its last iteration ended, or the phase began. */
static bool has_ops(const struct ab_tape_builder *b, uint32_t lane)
{
    const struct ab_lane_ops *l = &b->lanes[lane];
    uint32_t phase = b->tape.n_phases - 1;
    size_t n = l->n_iterations;
    bool is_later = n > 0 && l->iterations[n - 1].phase == phase;
    return l->n >
           (is_later ? l->iterations[n - 1].op : b->starts[(size_t)phase * AB_LANES_MAX + lane]);
}

enum ab_status ab_tape_iteration_of_all(struct ab_tape_builder *b, struct ab_err *err)
{
    struct ab_lane_ops *current = b->to;
    enum ab_status status = AB_OK;
    for (uint32_t l = 0; l < b->n_lanes && status == AB_OK; l++) {
        b->to = &b->lanes[l];
        if (b->n_lanes == 1 || b->phase == NULL || has_ops(b, l))
            status = ab_tape_iteration(b, err);
    }
    b->to = current;
    return status;
}

void ab_tape_begin_iterations(struct ab_tape_builder *b, uint32_t phase, uint32_t lane)
{
    struct ab_tape *tape = &b->tape;
    size_t at = (size_t)phase * b->n_lanes + lane;
    if (!b->has_iterations)
        return;
    AB_GROW(tape->iteration_begin, b->cap_iteration_begin, at);
    if (at == 0) {
        tape->n_iterations = 0;
        for (uint32_t l = 0; l < b->n_lanes; l++)
            b->lanes[l].next_iteration = 0;
    }
    tape->iteration_begin[at] = tape->n_iterations;
}

void ab_tape_place_iterations(struct ab_tape_builder *b, uint32_t lane, uint32_t phase, uint32_t op,
                              uint32_t position)
{
    struct ab_lane_ops *from = &b->lanes[lane];
    struct ab_tape *tape = &b->tape;
    while (from->next_iteration < from->n_iterations &&
           from->iterations[from->next_iteration].phase == phase &&
           from->iterations[from->next_iteration].op <= op) {
        AB_GROW(tape->iterations, b->cap_iterations, tape->n_iterations);
        tape->iterations[tape->n_iterations++] = position;
        from->next_iteration++;
    }
}
