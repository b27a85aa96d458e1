/* SPDX-License-Identifier: MIT
 *
 * How much the footprint grows while the live bytes do not: what a service feels after days. Of each
 * round's time line the longest stretch in which the requested bytes stay within a tenth of one
 * value is taken, of this the second half (caches have filled by then), and there the slope of the
 * footprint by ops: Theil and Sen's, the median of the slopes of all pairs of points.
 */
#ifndef AB_STATS_GROWTH_H
#define AB_STATS_GROWTH_H

#include "result/result.h"

struct ab_growth {
    double bytes;    /* in 1,000,000 ops; negative: it shrinks. NaN = n/a */
    double over_ops; /* how many ops it was seen in (the shortest of the rounds) */
    const char *why; /* static text: why it is n/a; "" = it is not */
};

#define AB_GROWTH_ALL_ROUNDS UINT32_MAX /* the median over them */

struct ab_growth ab_growth_of(const struct ab_session *s, uint32_t backend, uint32_t round);

#endif
