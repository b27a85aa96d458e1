/* SPDX-License-Identifier: MIT
 *
 * Claims: figures that somebody published, put beside what was measured here. Another machine,
 * another library: they are shown, and no verdict comes of them.
 */
#ifndef AB_STATS_CLAIM_H
#define AB_STATS_CLAIM_H

#include "stats/gate.h"

struct ab_claim {
    struct ab_gate figure;     /* ab_gate_parse, as a claim */
    const char *says, *source; /* "" = not said; borrowed */
};

/* Fills session->claims, malloc'ed, in order. */
void ab_claims_measure(const struct ab_claim *claims, size_t n, struct ab_session *session);

#endif
