/* SPDX-License-Identifier: MIT
 *
 * What failed by a ratio or a change fails only if new rounds say so, too: as many rounds again of
 * the back ends concerned, with draws of their own.
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
/* Of the new session, when it is described and before it runs: other draws, and those that are not
 * concerned stay away. */
void ab_confirmation_describe(const struct ab_confirmation *c, struct ab_session *again);
/* `status`: how the new rounds ended. */
enum ab_status ab_confirmation_end(struct ab_decision *decision, struct ab_session *session,
                                   struct ab_session *again, enum ab_status status,
                                   struct ab_err *err);

#endif
