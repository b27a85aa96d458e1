/* SPDX-License-Identifier: MIT
 *
 * The list of gates with their verdicts; nothing where the session has none.
 */
#ifndef AB_REPORT_TABLE_SINK_GATES_H
#define AB_REPORT_TABLE_SINK_GATES_H

#include "report/table/style.h"
#include "result/result.h"

#include <stdio.h>

void ab_sink_gates(FILE *to, const struct ab_session *session, struct ab_table_style style);

#endif
