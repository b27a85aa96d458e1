/* SPDX-License-Identifier: MIT
 *
 * The library, or the machine? Two results are two times of day.
 */
#ifndef AB_STATS_COMPARE_DRIFT_H
#define AB_STATS_COMPARE_DRIFT_H

#include "stats/compare.h"

/* One change of a time between two results, and what the others say about it. */
struct ab_drift {
    const struct ab_session *base, *now;
    const char *backend;
    struct ab_effect effect; /* new by base, of a time */
    double limit;            /* 0.05 = 5 % */
    double sign;             /* 1: more than the limit allows; −1: less */
    /* by ab_drift_hear, from zero: of the unchanged ones that which moved least in the direction */
    bool has_others;
    const char *witness; /* borrowed */
    double witness_ratio;
};

/* The change of the same time of any back end; it counts where it is another one with the same build
 * id in both. */
void ab_drift_hear(struct ab_drift *d, const char *backend, double ratio);
/* Was it the machine, or may it have been? By the rule of ab_comparison_excuse_drift; `reason` says
 * why, and is untouched otherwise. */
bool ab_drift_explains(const struct ab_drift *d, char *reason, size_t cap);

/* Of two results: "regressed" and "improved" become inconclusive where every other back end with the
 * same build id in both moved the same way, at least half as much (on logarithms), and what remains
 * without the least of their changes is within the limit, or the library itself is the same build.
 * Without such back ends the canary (noise.canary_quiet_ns) stands for them. What is left becomes
 * inconclusive as well where in one of the results more than 13 % of the time was lost to other programs
 * (noise.wall_s against noise.cpu_s), and the interval is not wholly beyond the limit. */
void ab_comparison_excuse_drift(struct ab_comparison *c);

#endif
