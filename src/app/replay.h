/* SPDX-License-Identifier: MIT
 *
 * The replay of one trace, from its file to the exit code.
 */
#ifndef AB_APP_REPLAY_H
#define AB_APP_REPLAY_H

#include "app/options.h"
#include "result/result.h"

struct ab_replay_watch {
    /* Takes it, in place of all outputs and gates; NULL = they are made. */
    enum ab_status (*take)(void *user, const struct ab_session *session, struct ab_err *err);
    void *user;
    uint64_t most_events; /* replays the trace up to there; 0 = all of it */
};

/* `o` has one argument at most: none where --resume says which trace. */
enum ab_status ab_replay(const struct ab_options *o, const struct ab_replay_watch *watch,
                         int *exit_code, struct ab_err *err);

#endif
