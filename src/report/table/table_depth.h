/* SPDX-License-Identifier: MIT
 *
 * Latency in depth, by topic: by size class, over time, the slowest calls.
 */
#ifndef AB_REPORT_TABLE_TABLE_DEPTH_H
#define AB_REPORT_TABLE_TABLE_DEPTH_H

#include "report/table/style.h"
#include "report/view/view.h"

#include <stdio.h>

void ab_table_depth(FILE *to, const struct ab_view *v, struct ab_table_style style);

#endif
