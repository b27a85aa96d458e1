/* SPDX-License-Identifier: MIT
 *
 * The numbers of a session that CI services chart over time. All are better when smaller: time per
 * op of each phase, percentiles of each op, and peak memory, for each comparable back end.
 */
#ifndef AB_REPORT_CI_SERIES_H
#define AB_REPORT_CI_SERIES_H

#include "result/result.h"
#include "stats/metric.h"

struct ab_series {
    uint32_t backend;
    struct ab_metric metric;
    double value;      /* value as the tables show it; finite */
    double low, high;  /* low, high: extremes over the rounds; NaN = none */
    uint32_t n_rounds; /* number of rounds that have a value */
    /* True if the measured value is below the clock's floor; `value` is then the floor */
    bool is_floor;
    const char *place; /* op of the metric, or "memory" */
    const char *name;  /* name of the metric */
};

/* Calls `use` for each series, ordered by back end. */
void ab_series_each(const struct ab_session *session,
                    void (*use)(const struct ab_session *session, const struct ab_series *series,
                                void *user),
                    void *user);

#endif
