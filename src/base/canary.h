/* SPDX-License-Identifier: MIT
 *
 * A short loop that says whether the CPU is ours alone. On a shared machine another tenant may run
 * on the same core: the same program then takes 1.5 to 2 times as long, and nothing that the guest
 * can read shows it. Independent additions in registers compete for what such a neighbour uses; they
 * touch no memory, so that the caches of what is measured stay as they are.
 */
#ifndef AB_BASE_CANARY_H
#define AB_BASE_CANARY_H

#include <stdint.h>

#define AB_CANARY_MAX UINT16_MAX

/* Ticks that the loop took, a few microseconds of them; AB_CANARY_MAX = as many or more. */
uint16_t ab_canary_read(void);

/* Readings up to this are quiet, the least ever seen being `quiet`. */
static inline uint16_t ab_canary_limit(uint16_t quiet)
{
    uint32_t limit = quiet + quiet / 7u;
    return limit < AB_CANARY_MAX ? (uint16_t)limit : AB_CANARY_MAX - 1;
}

/* A reading from here on is an interruption: something else ran on the CPU. */
static inline uint16_t ab_canary_gap(uint16_t quiet)
{
    uint32_t gap = quiet * 4u;
    return gap < AB_CANARY_MAX ? (uint16_t)gap : AB_CANARY_MAX;
}

#endif
