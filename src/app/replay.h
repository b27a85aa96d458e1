/* SPDX-License-Identifier: MIT
 *
 * Replays one trace, from its file to the exit code.
 */
#ifndef AB_APP_REPLAY_H
#define AB_APP_REPLAY_H

#include "app/measure.h"
#include "result/result.h"

struct ab_replay_watch {
    ab_take_session *take; /* as in struct ab_measurement */
    void *user;
    uint64_t most_events; /* number of events to replay; 0 = all */
};

/* Replays the trace that is the argument of `o`, or that --resume names. */
enum ab_status ab_replay(const struct ab_options *o, const struct ab_replay_watch *watch,
                         int *exit_code, struct ab_err *err);

#endif
