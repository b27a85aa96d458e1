/* SPDX-License-Identifier: MIT
 *
 * What callgrind counted of a real program (`exec --instr`), as a grid.
 */
#ifndef AB_REPORT_VIEW_INSTR_VIEW_H
#define AB_REPORT_VIEW_INSTR_VIEW_H

#include "report/view/view.h"

/* Instructions, data references and misses of simulated caches, inside the allocator and outside of it;
 * false: nothing was to be counted. */
bool ab_program_instr_grid(const struct ab_view *v, struct ab_grid *g);

#endif
