/* SPDX-License-Identifier: MIT
 *
 * The loop of the canary.
 */
#include "base/canary.h"

#include "base/clock.h"

enum { ITERATIONS = 2000 };

/* Each a chain of its own; the compiler must neither join nor foresee them. */
#define ADD(a, b, c, d) \
    a += 1, b += 3, c += 5, d += 7; \
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d))

uint16_t ab_canary_read(void)
{
    uint64_t a = 1, b = 2, c = 3, d = 4, begin = ab_tick_begin();
    for (int i = 0; i < ITERATIONS; i++) {
        ADD(a, b, c, d);
        ADD(a, b, c, d);
    }
    uint64_t ticks = ab_tick_end() - begin;
    return ticks < AB_CANARY_MAX ? (uint16_t)ticks : AB_CANARY_MAX;
}
