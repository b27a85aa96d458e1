/* SPDX-License-Identifier: MIT
 *
 * A comparison for terminals.
 */
#ifndef AB_REPORT_TABLE_SINK_COMPARE_H
#define AB_REPORT_TABLE_SINK_COMPARE_H

#include "report/table/style.h"
#include "stats/compare.h"

#include <stdio.h>

/* The verdicts in sentences, the cells as a table with reasons below their rows, what differs, how
 * many verdicts of each kind, noise. Cells that are only shown and differ in nothing are left out of a long table, which says so,
 * unless the style is verbose. */
void ab_sink_compare(FILE *to, const struct ab_comparison *c, struct ab_table_style style);
/* Does the table leave out percentiles that -v lists? */
bool ab_sink_compare_is_cut(const struct ab_comparison *c, bool is_verbose);

#endif
