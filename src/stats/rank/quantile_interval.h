/* SPDX-License-Identifier: MIT
 *
 * Confidence interval of a quantile of one run, computed from the order of its samples alone. The
 * 90 % interval lies between the samples of ranks n q - z sqrt(n q (1 - q)) and n q + z sqrt(n q (1
 * - q)). The formula assumes independent samples, which those of one process are not. It is for
 * display within a run, never for comparing two runs (effect.h does that).
 */
#ifndef AB_STATS_QUANTILE_INTERVAL_H
#define AB_STATS_QUANTILE_INTERVAL_H

#include "result/hdr.h"

struct ab_quantile_interval {
    double low, high; /* ns; NaN = no sample has that rank, or it overflowed */
};

/* Returns the interval of quantile q; 0 < q < 1. */
struct ab_quantile_interval ab_quantile_interval(const struct ab_hdr *hdr, double q);

#endif
