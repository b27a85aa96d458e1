/* SPDX-License-Identifier: MIT
 *
 * What a replay of the program's trace says its allocators cost: to be set beside what the program
 * itself took.
 */
#ifndef AB_APP_PREDICTION_H
#define AB_APP_PREDICTION_H

#include "app/options.h"
#include "report/read/read_result.h"

struct ab_prediction { /* begins as zeroes */
    bool is_made;
    struct ab_stored replay;
    double spent_s; /* on it */
};

/* Replays o->trace as `allocbench replay` does, under the same back ends (n_backends). At most
 * --rounds rounds, also where the program has another number of them; fewer, but 6, where intervals
 * are narrow (--precision, else 1 %) or the time is up: half of --time-budget, else two minutes. */
enum ab_status ab_prediction_make(const struct ab_options *o, uint32_t n_backends,
                                  struct ab_prediction *out, struct ab_err *err);
/* Adds its numbers to the results of the program, round by round. Nothing where none was made. */
void ab_prediction_note(const struct ab_prediction *prediction, struct ab_session *exec);
/* Says which back ends failed in the replay and not in the program, each once; the exit code for it,
 * 0 = none. */
int ab_prediction_failures(const struct ab_prediction *prediction, const struct ab_session *exec,
                           bool is_quiet);
void ab_prediction_fini(struct ab_prediction *prediction);

#endif
