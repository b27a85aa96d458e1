/* SPDX-License-Identifier: MIT
 *
 * Prints, after an interruption, how much is kept and the command that resumes.
 */
#ifndef AB_CLI_BENCHMARK_ROUNDS_INTERRUPTION_H
#define AB_CLI_BENCHMARK_ROUNDS_INTERRUPTION_H

#include "backend/selection.h"
#include "cli/benchmark/result_store.h"

struct ab_interruption {
    const struct ab_options *options;
    const struct ab_session *session;
    const struct ab_store *store;
    const struct ab_selection_list *selection;
};

/* AB_INTERRUPTED with the text to *err; without one under --quiet. */
void ab_interruption_explain(const struct ab_interruption *it, struct ab_err *err);

#endif
