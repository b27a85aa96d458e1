/* SPDX-License-Identifier: MIT */
#ifndef AB_REPORT_TABLE_TABLE_QUANTILES_H
#define AB_REPORT_TABLE_TABLE_QUANTILES_H

#include "report/table/style.h"
#include "result/result.h"

#include <stdio.h>

/* A table of `-v` for each phase: percentiles of the first round by themselves, each with its
 * interval (stats/quantile_interval.h). */
void ab_table_quantiles(FILE *to, const struct ab_session *session, struct ab_table_style style);

#endif
