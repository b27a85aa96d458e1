/* SPDX-License-Identifier: MIT
 *
 * A lane on its way through the loops of a phase.
 */
#ifndef AB_WORKLOAD_GENERATE_INTERPRET_H
#define AB_WORKLOAD_GENERATE_INTERPRET_H

#include "workload/generate/generator.h"

/* Ops without progress towards `until`, or between two looks at how fast it comes. */
#define AB_PROBE_OPS (UINT64_C(1) << 24)

/* At the beginning of a phase's repetition, and one turn. */
void ab_interpret_begin(struct ab_generator *g, struct ab_generator_lane *lane);
enum ab_status ab_interpret_turn(struct ab_generator *g, struct ab_generator_lane *lane);

/* After some turns of a loop of `all`, `done` of them: will there be too many ops? */
enum ab_status ab_interpret_probe(struct ab_generator *g, const struct ab_loop *loop,
                                  uint64_t n_ops);
/* The phase ends, perhaps in the middle of the body: scopes that it is in end, too. */
enum ab_status ab_interpret_end(struct ab_generator *g, struct ab_generator_lane *lane);

#endif
