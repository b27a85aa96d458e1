/* SPDX-License-Identifier: MIT
 *
 * What a replay of a program's trace says its allocators cost, to be set beside what its calls took.
 */
#ifndef AB_APP_EXEC_TRACE_H
#define AB_APP_EXEC_TRACE_H

#include "app/measure.h"
#include "report/read_result.h"

struct ab_prediction {
    struct ab_stored replay; /* ended by its owner once it is made */
    uint64_t n_calls;        /* of the trace; 0 = it does not say */
    uint64_t n_replayed;     /* from the first on; 0 = all */
};

/* Replays the trace of m->options as `allocbench replay` does, under the same back ends, into *out and
 * m->replay. At most --rounds rounds, also where the program has another number of them; fewer, but 6,
 * where intervals are narrow (--precision, else 1 %) or the time is up: half of --time-budget, else two
 * minutes. Of a trace that is too long for 6 rounds in that time only the beginning is replayed, but a
 * million calls. */
enum ab_status ab_exec_predict(struct ab_measurement *m, struct ab_prediction *out,
                               struct ab_err *err);

/* Adds the numbers of a replay to the results of the program, round by round. The program may have
 * more rounds than the replay. Its calls are the same in all: n_calls, 0 = as many as were replayed. */
void ab_prediction_note(const struct ab_session *replay, uint64_t n_calls, struct ab_session *exec);

#endif
