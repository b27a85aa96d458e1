/* SPDX-License-Identifier: MIT
 *
 * Replays one trace, from its file to the exit code.
 */
#ifndef AB_APP_REPLAY_H
#define AB_APP_REPLAY_H

#include "app/measure.h"
#include "result/result.h"

/* Replays the trace that is the argument, or that --resume names. */
enum ab_status ab_replay(const struct ab_measure_request *asked, int *exit_code,
                         struct ab_err *err);

#endif
