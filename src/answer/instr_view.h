/* SPDX-License-Identifier: MIT
 *
 * The counts of callgrind for a real program (`exec --instr`), as a grid.
 */
#ifndef AB_ANSWER_INSTR_VIEW_H
#define AB_ANSWER_INSTR_VIEW_H

#include "answer/answer.h"

/* Fills instructions, data references and misses of simulated caches, inside and outside of the
 * allocator. Returns false if no counts were requested. */
bool ab_program_instr_grid(const struct ab_view *v, struct ab_grid *g);

#endif
