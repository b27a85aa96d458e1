/* SPDX-License-Identifier: MIT
 *
 * Small tapes for tests.
 */
#ifndef AB_TESTS_SUPPORT_TAPE_H
#define AB_TESTS_SUPPORT_TAPE_H

#include "tape/tape_file.h"

/* "fill": n allocs of 64 bytes, unmeasured; "churn": `rounds` times free + alloc of 16 … 271 bytes
 * with one resize in ten; "drain": frees. Deterministic. Asserts that it works. */
void test_tape_churn(uint32_t n, uint32_t rounds, struct ab_tape *out);
void test_tape_churn_map(uint32_t n, uint32_t rounds, struct ab_tape *tape,
                         struct ab_tape_map *out);

/* The op at `position` of a tape. */
struct ab_op_view test_tape_op(const struct ab_tape_map *map, uint32_t position);

#endif
