/* SPDX-License-Identifier: MIT
 *
 * Writes a session as tables.
 */
#ifndef AB_REPORT_TABLE_SINK_TABLE_H
#define AB_REPORT_TABLE_SINK_TABLE_H

#include "answer/topics.h"
#include "report/table/table.h"

void ab_sink_table(FILE *to, const struct ab_session *session, struct ab_table_style style);

/* Prints the topics of the places [first, last], each with a legend of its own. */
void ab_table_places(FILE *to, const struct ab_view *v, enum ab_terminal_place first,
                     enum ab_terminal_place last, struct ab_table_style style);

#endif
