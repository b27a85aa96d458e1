/* SPDX-License-Identifier: MIT
 *
 * Private to the builder: iterations get their positions while the lanes are laid down.
 */
#ifndef AB_TAPE_ITERATIONS_H
#define AB_TAPE_ITERATIONS_H

#include "tape/builder.h"

/* Laying down: the lane's next op of the phase is op `op`, at `position` of the tape. Iterations that
 * end before it do so there. */
void ab_tape_place_iterations(struct ab_tape_builder *b, uint32_t lane, uint32_t phase, uint32_t op,
                              uint32_t position);
/* A lane's ops of a phase are laid down next; phase = n_phases, lane 0: all have been. */
void ab_tape_begin_iterations(struct ab_tape_builder *b, uint32_t phase, uint32_t lane);

#endif
