/* SPDX-License-Identifier: MIT
 *
 * Predicts the cost of allocators for a program by replaying its trace, for comparison with the
 * time that the program's calls took.
 */
#ifndef AB_APP_EXEC_TRACE_H
#define AB_APP_EXEC_TRACE_H

#include "app/measure.h"
#include "document/read_result.h"

/* The trace is replayed twice, because the trace does not say how much other code the program runs
 * between two calls. AB_REPLAY_WARM replays with --between 0, AB_REPLAY_COLD with --between 100, as
 * in a program with much code. */
enum ab_replay_kind { AB_REPLAY_WARM, AB_REPLAY_COLD, AB_REPLAY_KINDS };

struct ab_prediction {
    struct ab_stored replays[AB_REPLAY_KINDS];
    unsigned n_replays;  /* finished replays */
    uint64_t n_calls;    /* calls in the trace; 0 = unknown */
    uint64_t n_replayed; /* number of calls replayed, from the first one on; 0 = all */
};

/* Frees the stored replays. */
void ab_prediction_fini(struct ab_prediction *p);

/* Replays the trace as `allocbench replay` does, under the back ends of the program, into *out.
 * Sets m->replay to the first replay. Each replay has at most --rounds rounds, even if the program
 * has more. Both together take half of --time-budget, else three minutes, but have at least 6
 * rounds. If the trace is too long for this time, only its beginning is replayed, at least a
 * million calls. */
enum ab_status ab_exec_predict(const struct ab_measure_request *asked, struct ab_measurement *m,
                               const char *trace, struct ab_prediction *out, struct ab_err *err);

/* Adds the numbers of the replays to the results of the program, round by round. The program may
 * have more rounds than a replay. Each round of the program is taken to have n_calls calls, or if
 * that is 0, as many calls as were replayed. */
void ab_prediction_note(const struct ab_prediction *p, struct ab_session *exec);

#endif
