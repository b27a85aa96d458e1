/* SPDX-License-Identifier: MIT
 *
 * What a replay of a program's trace says its allocators cost, to be set beside what its calls took.
 */
#ifndef AB_APP_EXEC_TRACE_H
#define AB_APP_EXEC_TRACE_H

#include "app/measure.h"
#include "report/read_result.h"

/* The trace is replayed twice, for it does not say how much other code the program runs between two calls:
 * with none (--between 0), and with about as much as a program with much code runs (100). */
enum ab_replay_kind { AB_REPLAY_WARM, AB_REPLAY_COLD, AB_REPLAY_KINDS };

struct ab_prediction {
    struct ab_stored replays[AB_REPLAY_KINDS];
    unsigned n_replays;  /* that were made */
    uint64_t n_calls;    /* of the trace; 0 = it does not say */
    uint64_t n_replayed; /* from the first on; 0 = all */
};

/* Frees what the replays hold. */
void ab_prediction_fini(struct ab_prediction *p);

/* Replays the trace of m->options as `allocbench replay` does, under the same back ends, into *out; the
 * first is m->replay, too. Each has at most --rounds rounds, also where the program has another number of
 * them; fewer, but 6, where the time is up: both together have half of --time-budget, else three minutes. Of a trace that is too long for 6 rounds in that time
 * only the beginning is replayed, but a million calls. */
enum ab_status ab_exec_predict(struct ab_measurement *m, struct ab_prediction *out,
                               struct ab_err *err);

/* Adds the numbers of the replays to the results of the program, round by round. The program may have
 * more rounds than a replay. Its calls are the same in all: n_calls, 0 = as many as were replayed. */
void ab_prediction_note(const struct ab_prediction *p, struct ab_session *exec);

#endif
