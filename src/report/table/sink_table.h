/* SPDX-License-Identifier: MIT
 *
 * Writes the session as tables.
 */
#ifndef AB_REPORT_TABLE_SINK_TABLE_H
#define AB_REPORT_TABLE_SINK_TABLE_H

#include "report/table/style.h"
#include "result/result.h"

#include <stdio.h>

void ab_sink_table(FILE *to, const struct ab_session *session, struct ab_table_style style);

#endif
