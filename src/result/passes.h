/* SPDX-License-Identifier: MIT
 *
 * The passes of a round: their names, the rounds in which each runs, and the pass that each number
 * comes from. A pass runs in the first rounds of a measurement; the plan says in how many. A shard
 * can therefore tell from the index of a round which passes it has. The throughput pass runs in
 * every round.
 */
#ifndef AB_RESULT_PASSES_H
#define AB_RESULT_PASSES_H

#include "result/result_fields.h"

/* The passes of a round, in the order in which they run. X(enum ab_pass) */
#define AB_ROUND_PASSES(X) \
    X(AB_PASS_THROUGHPUT) X(AB_PASS_LATENCY) X(AB_PASS_TAIL) X(AB_PASS_MEMORY)

/* Names "throughput" …, and of passes outside of rounds: "pre-flight", "instructions". The last
 * name, for AB_PASS_COUNT, is "". */
extern const char *const ab_pass_names[AB_PASS_COUNT + 1];

bool ab_pass_is_in(const struct ab_pass_plan *plan, enum ab_pass pass, uint32_t round);
/* True if the pass runs in any round. */
bool ab_pass_is_planned(const struct ab_pass_plan *plan, enum ab_pass pass);
/* Returns the number of the session's rounds in which the pass runs. */
uint32_t ab_pass_round_count(const struct ab_session *s, enum ab_pass pass);

/* Returns the pass that measures a field of a result. */
enum ab_pass ab_field_pass(const struct ab_field *field);

/* Writes the reason why the session has no numbers of this pass; "" if the pass ran. */
void ab_pass_why_missing(const struct ab_session *s, enum ab_pass pass, char *buf, size_t cap);

#endif
