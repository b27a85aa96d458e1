/* SPDX-License-Identifier: MIT
 *
 * What is needed to read the tables by topic: the clock and the harness, what the columns mean, noise,
 * and under which conditions all was measured.
 */
#ifndef AB_REPORT_TABLE_SESSION_TABLE_NOTES_H
#define AB_REPORT_TABLE_SESSION_TABLE_NOTES_H

#include "report/table/style.h"
#include "result/result.h"

#include <stdio.h>

void ab_table_notes(FILE *to, const struct ab_session *session, struct ab_table_style style);

#endif
