/* SPDX-License-Identifier: MIT
 *
 * The replay of one trace, from its file to the exit code.
 */
#ifndef AB_APP_REPLAY_H
#define AB_APP_REPLAY_H

#include "app/measure.h"
#include "result/result.h"

struct ab_replay_watch {
    ab_take_session *take; /* as struct ab_measurement */
    void *user;
    uint64_t most_events; /* replays the trace up to there; 0 = all of it */
};

/* `o` has one argument at most: none where --resume says which trace. */
enum ab_status ab_replay(const struct ab_options *o, const struct ab_replay_watch *watch,
                         int *exit_code, struct ab_err *err);

#endif
