/* SPDX-License-Identifier: MIT
 *
 * When a session has rounds enough: --precision and --time-budget. Pure functions of what has been
 * measured and of the time that it took.
 * Rounds that are looked at until an interval is narrow are looked at too kindly: such intervals
 * hold the truth a little less often than they say (tests/bench/effect_simulation.c measures it).
 */
#ifndef AB_STATS_STOPPING_H
#define AB_STATS_STOPPING_H

#include "result/result.h"

enum { AB_STOPPING_LEAST_ROUNDS = 6, AB_STOPPING_MOST_ROUNDS = 100 };

/* The wider half of the widest interval of the ratios of whole-run time, by its ratio: 0.02 = no
 * bound is further than 2 % from its ratio, whichever back end is divided by the other. NaN: there is no ratio; INFINITY: one has no interval. */
double ab_session_precision(const struct ab_session *s);

/* After a round: may the session end, and why? `round_s`: what another one is expected to take.
 * Never below AB_STOPPING_LEAST_ROUNDS, unless fewer were asked for. */
enum ab_ended ab_stopping_decide(const struct ab_session *s, double round_s);

/* How many rounds there will be in all, as far as can be told now; 0 = not known yet. */
uint32_t ab_stopping_expected(const struct ab_session *s, double round_s);

#endif
