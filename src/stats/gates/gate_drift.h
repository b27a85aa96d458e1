/* SPDX-License-Identifier: MIT
 *
 * A change of a time against a baseline: the library, or the machine? By the rule of
 * stats/compare_drift.h.
 */
#ifndef AB_STATS_GATES_GATE_DRIFT_H
#define AB_STATS_GATES_GATE_DRIFT_H

#include "stats/compare_drift.h"
#include "stats/gates/gate.h"

struct ab_gate_drift {
    struct ab_drift_question question;
    struct ab_drift drift;
    bool is_time; /* else the machine has no part in it */
};

/* Measures how the metric of the gate moved for unchanged libraries. */
void ab_gate_drift_measure(const struct ab_gate *gate, const struct ab_drift_question *q,
                           struct ab_gate_drift *out);
/* Makes *effect, new by base, the one by which the gate is decided: relative to the witnesses, but
 * not of percentiles, which move in steps of the clock. */
void ab_gate_drift_apply(const struct ab_gate_drift *d, struct ab_effect *effect);
/* A verdict that the machine may have made becomes inconclusive, with its reason. Gates that demand
 * a gain still fail: a machine that changed is no reason for its absence. */
void ab_gate_drift_doubt(const struct ab_gate_drift *d, const struct ab_gate *gate,
                         const struct ab_effect *effect, struct ab_gate_result *r);

#endif
