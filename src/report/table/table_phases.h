/* SPDX-License-Identifier: MIT
 *
 * Time by phase and latency by op for terminals: back ends as rows. Of more columns than a terminal
 * has room for, those that take most of the work are shown, and the others are named.
 */
#ifndef AB_REPORT_TABLE_TABLE_PHASES_H
#define AB_REPORT_TABLE_TABLE_PHASES_H

#include "report/table/legend.h"

void ab_table_phases(FILE *to, const struct ab_view *v, struct ab_table_style style,
                     struct ab_legend *legend);
void ab_table_calls(FILE *to, const struct ab_view *v, struct ab_table_style style,
                    struct ab_legend *legend);

#endif
