/* SPDX-License-Identifier: MIT
 *
 * The library, or the machine? Two results are two times of day.
 */
#ifndef AB_STATS_COMPARE_DRIFT_H
#define AB_STATS_COMPARE_DRIFT_H

#include "stats/compare.h"

/* Of two results: "regressed" and "improved" become inconclusive where every other back end with the
 * same build id in both moved the same way, at least half as much (on logarithms), and what remains
 * without the least of their changes is within the limit, or the library itself is the same build. */
void ab_comparison_excuse_drift(struct ab_comparison *c);

#endif
