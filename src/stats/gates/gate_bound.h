/* SPDX-License-Identifier: MIT
 *
 * The right side of a gate, for gate_parse.c.
 */
#ifndef AB_STATS_GATE_BOUND_H
#define AB_STATS_GATE_BOUND_H

#include "stats/gates/gate_text.h"

/* Once the metric is read: fills bound, against, other, floor and unit of p->gate. */
bool ab_gate_read_bound(struct ab_gate_parser *p, struct ab_gate_span bound);

#endif
