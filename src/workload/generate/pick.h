/* SPDX-License-Identifier: MIT
 *
 * Which blocks of a set a verb takes.
 */
#ifndef AB_WORKLOAD_GENERATE_PICK_H
#define AB_WORKLOAD_GENERATE_PICK_H

#include "workload/generate/generator.h"

/* The next position of an `at` in a set, or AB_NO_POSITION when there is none. */
uint32_t ab_pick_position(struct ab_generator *g, const struct ab_verb *v, uint32_t set,
                          enum ab_pick pick);

/* How often the verb steps; what of an `order` are chosen and lie in the lane's `picked`. */
enum ab_status ab_pick_begin(struct ab_generator *g, const struct ab_verb *v);

/* The first n live positions in an order that frees one by one would take; of the oldest every
 * step-th. */
void ab_pick_live(struct ab_generator_lane *lane, struct ab_live_set *live, enum ab_pick order,
                  uint32_t *out, uint32_t n, uint64_t step);

/* Room for n positions in the lane's `picked`. */
void ab_pick_reserve(struct ab_generator_lane *lane, size_t n);

#endif
