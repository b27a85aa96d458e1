/* SPDX-License-Identifier: MIT
 *
 * --time-budget and --precision: measures the time and asks stats/stopping.h after each round.
 */
#ifndef AB_CLI_BENCHMARK_ROUNDS_ROUND_LIMIT_H
#define AB_CLI_BENCHMARK_ROUNDS_ROUND_LIMIT_H

#include "cli/options/options.h"
#include "result/result.h"

struct ab_round_limit {
    struct ab_session *session;  /* whose `stopping` is kept; planned rounds as well once it ends */
    uint64_t began_ns, round_ns; /* the whole, the round that runs */
    double earlier_s;            /* of what was resumed */
    double last_s;               /* the last round */
};

/* --rounds; without it, where a rule ends the session, the most that there may be. */
uint32_t ab_round_limit_most(const struct ab_options *o);
/* AB_USAGE for what cannot be combined. */
enum ab_status ab_round_limit_check(const struct ab_options *o, size_t n_backends,
                                    struct ab_err *err);
/* The rule into session->stopping; `resumed` may be NULL. */
void ab_round_limit_describe(const struct ab_options *o, const struct ab_session *resumed,
                             struct ab_session *session);

/* … and that of a measurement for which the command line says nothing: precision, and as many rounds
 * as by default at most. Not for gates and baselines, which are judged by all rounds. */
void ab_round_limit_by_default(const struct ab_options *o, struct ab_session *session);

/* Before the first pre-flight. */
void ab_round_limit_begin(struct ab_round_limit *limit, struct ab_session *session);
/* A round begins; a round is done: does the session go on? */
void ab_round_limit_round(struct ab_round_limit *limit);
bool ab_round_limit_goes_on(struct ab_round_limit *limit);
/* How many rounds there will be in all, as far as is known. */
uint32_t ab_round_limit_expected(const struct ab_round_limit *limit);

#endif
