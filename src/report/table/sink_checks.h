/* SPDX-License-Identifier: MIT
 *
 * Prints checks on a terminal: gates, claims, comparisons. Prints nothing if there are none.
 */
#ifndef AB_REPORT_TABLE_SINK_CHECKS_H
#define AB_REPORT_TABLE_SINK_CHECKS_H

#include "report/table/style.h"
#include "stats/compare.h"

#include <stdio.h>

void ab_sink_gates(FILE *to, const struct ab_session *session, struct ab_table_style style);
void ab_sink_claims(FILE *to, const struct ab_session *session, struct ab_table_style style);
/* Prints the verdicts as sentences, the cells as a table with reasons below their rows, the
 * differences between the results, and the noise. */
void ab_sink_compare(FILE *to, const struct ab_comparison *c, struct ab_table_style style);
/* True if the table leaves out percentiles that -v lists. */
bool ab_sink_compare_is_cut(const struct ab_comparison *c, bool is_verbose);

#endif
