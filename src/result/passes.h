/* SPDX-License-Identifier: MIT
 *
 * The passes of a round: what they are called, in which rounds each runs, and which numbers come
 * from it. A pass runs in the first rounds of a measurement, as many as the plan says, so that a
 * shard knows from the index of a round alone what runs in it. The throughput pass runs in all.
 */
#ifndef AB_RESULT_PASSES_H
#define AB_RESULT_PASSES_H

#include "result/result_fields.h"

/* The passes of a round, in the order in which they run. X(enum ab_pass) */
#define AB_ROUND_PASSES(X) \
    X(AB_PASS_THROUGHPUT) X(AB_PASS_LATENCY) X(AB_PASS_TAIL) X(AB_PASS_MEMORY)

/* "throughput" … and those that are in no round: "pre-flight", "instructions"; AB_PASS_COUNT: "". */
extern const char *const ab_pass_names[AB_PASS_COUNT + 1];

bool ab_pass_is_in(const struct ab_pass_plan *plan, enum ab_pass pass, uint32_t round);
/* Does it run at all? */
bool ab_pass_is_planned(const struct ab_pass_plan *plan, enum ab_pass pass);
/* In how many of the session's rounds. */
uint32_t ab_pass_round_count(const struct ab_session *s, enum ab_pass pass);

/* The pass that a number of a result is from. */
enum ab_pass ab_field_pass(const struct ab_field *field);

/* Why the session has no number of this pass, "" where the pass ran. */
void ab_pass_why_missing(const struct ab_session *s, enum ab_pass pass, char *buf, size_t cap);

#endif
