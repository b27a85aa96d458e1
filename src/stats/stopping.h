/* SPDX-License-Identifier: MIT
 *
 * Decides when a session has enough rounds: --precision and --time-budget. The functions are pure:
 * they depend on the measurements and on the time that those took.
 *
 * Stopping as soon as an interval is narrow is optimistic: such intervals contain the true value
 * slightly less often than they state (tests/bench/effect_simulation.c measures it).
 */
#ifndef AB_STATS_STOPPING_H
#define AB_STATS_STOPPING_H

#include "result/result.h"

enum { AB_STOPPING_LEAST_ROUNDS = 6, AB_STOPPING_MOST_ROUNDS = 100 };

/* Returns the precision of the session: of the widest interval of a run-time ratio, the wider half
 * divided by the ratio. 0.02 = no bound is further than 2 % from its ratio, whichever of two back
 * ends is divided by the other. NaN = there is no ratio; INFINITY = a ratio has no interval. */
double ab_session_precision(const struct ab_session *s);

/* Decides after a round whether the session ends, and returns why. `round_s` is the expected time
 * of another round in seconds. A session does not end before AB_STOPPING_LEAST_ROUNDS rounds,
 * unless fewer were requested. */
enum ab_ended ab_stopping_decide(const struct ab_session *s, double round_s);

/* Estimates the total number of rounds that the session will have; 0 = not known yet. */
uint32_t ab_stopping_expected(const struct ab_session *s, double round_s);

#endif
