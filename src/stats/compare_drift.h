/* SPDX-License-Identifier: MIT
 *
 * The library, or the machine? Two results are two times of day.
 */
#ifndef AB_STATS_COMPARE_DRIFT_H
#define AB_STATS_COMPARE_DRIFT_H

#include "stats/compare.h"

/* Of two results: "regressed" and "improved" become inconclusive where every other back end with the
 * same build id in both moved the same way, at least half as much (on logarithms), and what remains
 * without the least of their changes is within the limit, or the library itself is the same build.
 * Without such back ends the canary (noise.canary_quiet_ns) stands for them. What is left becomes
 * inconclusive as well where in one of the results more than 13 % of the time was lost to other programs
 * (noise.wall_s against noise.cpu_s), and the interval is not wholly beyond the limit. */
void ab_comparison_excuse_drift(struct ab_comparison *c);

#endif
