/* SPDX-License-Identifier: MIT
 *
 * Which lanes of a phase a window binds to each other, and how far it lets them part. With no
 * window lanes wait only for blocks that they share; then one may run ahead, allocate what the
 * others have not freed yet, and the work is not what was recorded any more. So a window is chosen
 * as wide as can be with the live bytes of every possible schedule still within a tenth of the
 * phase's peak (or AB_WINDOW_SPARE a lane). What bounds them: lanes that are within two frames of each other hold, each, at
 * most the highest level that it has in these two frames.
 */
#ifndef AB_TAPE_WINDOW_H
#define AB_TAPE_WINDOW_H

#include "tape/builder.h"

/* What a lane may hold more in any case: it fits the cache next to the core, and to keep so little
 * together would take more waits than it is worth. */
#define AB_WINDOW_SPARE 32768

struct ab_tape_window {
    uint32_t frame_ops; /* half a window, in ops of the group; 0 = none */
    int64_t worst;      /* most that can live at once, weighed (builder.h) */
    uint32_t n_groups;
    uint16_t group[AB_LANES_MAX]; /* of each lane: frames bind lanes of one group */
};

/* Of phase `p`, whose edges are edges[0 … n_edges). */
void ab_tape_choose_window(const struct ab_tape_builder *b, uint32_t p, const struct ab_edge *edges,
                           size_t n_edges, struct ab_tape_window *window);

/* The lane's ops [*begin, *end) in phase `p`. */
void ab_tape_lane_span(const struct ab_tape_builder *b, uint32_t p, uint32_t lane, uint32_t *begin,
                       uint32_t *end);

#endif
