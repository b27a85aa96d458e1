/* SPDX-License-Identifier: MIT
 *
 * A failed change against a baseline: the library, or the machine? The rule of stats/compare_drift.h.
 */
#ifndef AB_STATS_GATES_GATE_DRIFT_H
#define AB_STATS_GATES_GATE_DRIFT_H

#include "stats/effect.h"
#include "stats/gates/gate.h"

/* A failure by a time becomes inconclusive, with its reason, where unchanged libraries or the CPU say
 * that the machine changed, or the machine was busy. Gates that demand a gain are left as they are: a
 * machine that drifts is no reason for its absence. `effect` is that of the metric, new by base. */
void ab_gate_excuse_drift(const struct ab_gate *gate, const struct ab_session *base,
                          const struct ab_session *now, uint32_t backend,
                          const struct ab_effect *effect, struct ab_gate_result *r);

#endif
