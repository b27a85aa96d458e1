/* SPDX-License-Identifier: MIT
 *
 * What is needed to read the tables: the clock and the harness, what the columns mean, the
 * conditions, what each back end did about resets, warnings, and which back ends are missing.
 */
#ifndef AB_REPORT_TABLE_SESSION_TABLE_NOTES_H
#define AB_REPORT_TABLE_SESSION_TABLE_NOTES_H

#include "report/table/style.h"
#include "result/result.h"

#include <stdio.h>

void ab_table_notes(FILE *to, const struct ab_session *session, struct ab_table_style style,
                    bool has_results);

#endif
