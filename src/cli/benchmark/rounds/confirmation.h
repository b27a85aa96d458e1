/* SPDX-License-Identifier: MIT
 *
 * Confirms failures: a gate on a ratio or a change fails only if as many new rounds of the back
 * ends concerned, with draws of their own, say so too.
 */
#ifndef AB_CLI_BENCHMARK_ROUNDS_CONFIRMATION_H
#define AB_CLI_BENCHMARK_ROUNDS_CONFIRMATION_H

#include "backend/selection.h"
#include "cli/compare/decision.h"

struct ab_confirmation {
    struct ab_options options; /* of the new rounds: as many, however many the first came to be */
    bool is_concerned[AB_SELECTION_MAX];
};

/* False where nothing is to be confirmed; else says what will be. */
bool ab_confirmation_begin(struct ab_confirmation *c, const struct ab_options *o,
                           const struct ab_decision *decision, const struct ab_session *session);
/* Prepares the new session before it runs: it gets other draws, and only the back ends that are
 * concerned. */
void ab_confirmation_describe(const struct ab_confirmation *c, struct ab_session *again);
/* `status`: how the new rounds ended. */
enum ab_status ab_confirmation_end(struct ab_decision *decision, struct ab_session *session,
                                   struct ab_session *again, enum ab_status status,
                                   struct ab_err *err);

#endif
