/* SPDX-License-Identifier: MIT
 *
 * Where a lane's iterations end, and the reports of those that have.
 */
#include "worker/passes/iterations.h"

bool ab_iterations_are_on(const struct ab_worker *w, uint32_t phase)
{
    return w->iteration_reports != NULL && w->phases[phase].is_measured &&
           w->phases[phase].iteration[0] != 0;
}

static void find_end(struct ab_lane *lane)
{
    lane->iteration_end = lane->next_iteration < lane->last_iteration
                              ? lane->w->iterations[lane->next_iteration]
                              : UINT32_MAX;
}

void ab_iterations_begin(struct ab_lane *lane, uint32_t phase)
{
    const struct ab_worker *w = lane->w;
    lane->next_iteration = lane->last_iteration = 0;
    if (ab_iterations_are_on(w, phase) && ab_tape_burst(w->image, w->burst)->n_iterations > 0) {
        const uint32_t *begin = &w->iteration_begin[phase * w->image->n_lanes + lane->index];
        lane->next_iteration = begin[0];
        lane->last_iteration = begin[1];
    }
    if (w->burst == 0)
        lane->iteration = (struct ab_iteration){0};
    find_end(lane);
}

void ab_iterations_end(struct ab_lane *lane, uint32_t at)
{
    const struct ab_worker *w = lane->w;
    uint32_t first = ab_tape_burst(w->image, w->burst)->first_iteration;
    while (lane->iteration_end <= at && lane->next_iteration < lane->last_iteration) {
        w->iteration_reports[first + lane->next_iteration++] = lane->iteration;
        lane->iteration = (struct ab_iteration){0};
        find_end(lane);
    }
}
