/* SPDX-License-Identifier: MIT
 *
 * PHASE/ITERATION/STAT: gates on the time in the allocator per iteration.
 */
#ifndef AB_STATS_GATE_ITERATION_H
#define AB_STATS_GATE_ITERATION_H

#include "stats/gates/gate_text.h"

/* Is this what the iterations of the phase are called, or AB_GATE_ITERATION? */
bool ab_gate_has_iteration(const struct ab_gate_phase *phase, struct ab_gate_span iteration);
/* The names that they go by. */
void ab_gate_add_iteration(const struct ab_gate_phase *phase, struct ab_gate_names *names);
/* The first phase whose iterations have this name; NULL = none. */
const struct ab_gate_phase *ab_gate_phase_with(const struct ab_gate_parser *p,
                                               struct ab_gate_span iteration);
/* NULL = none of this name is measured. */
const struct ab_gate_phase *ab_gate_phase_named(const struct ab_gate_parser *p, const char *phase);

/* Reads STAT of `iteration`, which is the name of some phase's: of the metric's phase, or with '*' of
 * another one, then the gate is absent here. */
bool ab_gate_read_iteration(struct ab_gate_parser *p, struct ab_gate_span iteration,
                            struct ab_gate_span stat);
/* After the bound: '=' is for counts, and counts have no change against a baseline. */
bool ab_gate_check_count(struct ab_gate_parser *p, struct ab_gate_span compare,
                         struct ab_gate_span bound);

#endif
