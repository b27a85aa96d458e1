/* SPDX-License-Identifier: MIT
 *
 * The numbers of a session that services keep over time, all of them better when smaller: time an
 * op of each phase, percentiles of each op, peak of memory; of each back end that can be compared.
 */
#ifndef AB_REPORT_CI_SERIES_H
#define AB_REPORT_CI_SERIES_H

#include "result/result.h"
#include "stats/metric.h"

struct ab_series {
    uint32_t backend;
    struct ab_metric metric;
    double value;      /* as the tables show it; finite */
    double low, high;  /* extremes of the rounds; NaN = none */
    uint32_t n_rounds; /* that have it */
    bool is_floor;     /* it is below what the clock can tell: value is the clock's floor */
    const char *place; /* of the metric: name of the op, or "memory" */
    const char *name;  /* of the metric */
};

/* Calls `use` for each there is, by back end. */
void ab_series_each(const struct ab_session *session,
                    void (*use)(const struct ab_session *session, const struct ab_series *series,
                                void *user),
                    void *user);

#endif
