/* SPDX-License-Identifier: MIT
 *
 * Observes a running session, of the harness or of a real program: shows progress, applies the rule
 * that ends the session, and stores the result between rounds.
 */
#ifndef AB_CLI_BENCHMARK_ROUNDS_ROUND_WATCH_H
#define AB_CLI_BENCHMARK_ROUNDS_ROUND_WATCH_H

#include "cli/benchmark/progress/progress.h"
#include "cli/benchmark/result_store.h"
#include "cli/benchmark/rounds/round_limit.h"

struct ab_round_watch {
    struct ab_progress_line line;
    struct ab_round_limit limit;
    struct ab_store *store;
};

/* Before the first pre-flight; the session is described. */
void ab_round_watch_begin(struct ab_round_watch *watch, const struct ab_options *o,
                          struct ab_store *store, struct ab_session *session);
/* `progress` and `round_done` of a plan, whose `user` is the watch. */
void ab_round_watch_progress(void *watch, const struct ab_progress *p);
bool ab_round_watch_end_round(void *watch, const struct ab_session *session);
void ab_round_watch_end(struct ab_round_watch *watch);

#endif
