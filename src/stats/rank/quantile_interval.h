/* SPDX-License-Identifier: MIT
 *
 * How sure a quantile of one run is, from the order of its samples alone: the 90 % interval between
 * the samples of ranks n q - z sqrt(n q (1 - q)) and n q + z sqrt(n q (1 - q)). It takes the
 * samples as independent, which those of one process are not: for display within a run, never to
 * compare two (effect.h does that).
 */
#ifndef AB_STATS_QUANTILE_INTERVAL_H
#define AB_STATS_QUANTILE_INTERVAL_H

#include "result/hdr.h"

struct ab_quantile_interval {
    double low, high; /* ns; NaN = there are no samples that far out, or they overflowed */
};

/* 0 < q < 1. */
struct ab_quantile_interval ab_quantile_interval(const struct ab_hdr *hdr, double q);

#endif
