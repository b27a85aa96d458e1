/* SPDX-License-Identifier: MIT
 *
 * One line on a terminal, redrawn between runs and never during one; and for passes over a file.
 * Where lines cannot be redrawn, as in a log, one for each round that is done.
 */
#ifndef AB_CLI_BENCHMARK_PROGRESS_H
#define AB_CLI_BENCHMARK_PROGRESS_H

#include "runner/session.h"

#include <stdbool.h>

struct ab_progress_line {
    bool is_on;
    bool is_log; /* not redrawn */
    uint64_t started_ns, drawn_ns;
    uint64_t rounds_ns;              /* when the first round began */
    uint32_t first, round, n_rounds; /* n_rounds 0 = none has begun */
};

void ab_progress_begin(struct ab_progress_line *line, bool is_quiet);
/* For ab_session_plan.progress; user is the line. */
void ab_progress_show(void *user, const struct ab_progress *p);
/* Of a pass over the events of a file; total 0 = not known. */
void ab_progress_show_events(struct ab_progress_line *line, const char *path, uint64_t done,
                             uint64_t total);
/* The last round is done. */
void ab_progress_all_done(struct ab_progress_line *line);
void ab_progress_end(struct ab_progress_line *line);

#endif
