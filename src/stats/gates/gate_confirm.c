/* SPDX-License-Identifier: MIT
 *
 * A gate that fails by a ratio or a change is judged once more, on rounds of its own: chance that
 * fails one gate in twenty fails two in a row in one of four hundred.
 */
#include "stats/gates/gate.h"

#include <stdio.h>
#include <string.h>

/* By a ratio to a back end or a change; what is a fact of these rounds alone is not asked twice. */
static bool is_suspicious(const struct ab_gate_result *g)
{
    return g->verdict == AB_GATE_FAIL && strncmp(g->unit, "x ", 2) == 0 &&
           strcmp(g->unit, "x live") != 0;
}

uint32_t ab_gates_suspicious(const struct ab_session *session, bool *is_concerned)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < session->n_gates; i++) {
        const struct ab_gate_result *g = &session->gates[i];
        if (!is_suspicious(g) || g->backend >= session->n_backends)
            continue;
        is_concerned[g->backend] = true;
        for (uint32_t b = 0; b < session->n_backends; b++)
            if (strcmp(session->backends[b].name, g->unit + 2) == 0)
                is_concerned[b] = true;
        n++;
    }
    return n;
}

void ab_gates_confirm(struct ab_session *session, const struct ab_session *again)
{
    for (uint32_t i = 0; i < session->n_gates && i < again->n_gates; i++) {
        struct ab_gate_result *g = &session->gates[i];
        const struct ab_gate_result *other = &again->gates[i];
        if (!is_suspicious(g) || g->backend != other->backend ||
            other->verdict == AB_GATE_NOT_EVALUATED)
            continue;
        g->n_confirm = again->n_rounds;
        g->confirm_value = other->value;
        if (other->verdict == AB_GATE_FAIL)
            continue;
        g->verdict = AB_GATE_INCONCLUSIVE;
        g->status = g->status == AB_OK ? AB_OK : AB_INCONCLUSIVE;
        snprintf(g->reason, sizeof g->reason,
                 "%.3gx at first, %.3gx in %u more rounds: not confirmed", g->value, other->value,
                 again->n_rounds);
    }
}
