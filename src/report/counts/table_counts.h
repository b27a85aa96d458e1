/* SPDX-License-Identifier: MIT
 *
 * What --instr counted: instructions per op, page faults, system calls by kind.
 */
#ifndef AB_REPORT_TABLE_TABLE_COUNTS_H
#define AB_REPORT_TABLE_TABLE_COUNTS_H

#include "report/table/style.h"
#include "result/result.h"

#include <stdio.h>

/* Nothing where it was not asked for. */
void ab_table_counts(FILE *to, const struct ab_session *session, struct ab_table_style style);

#endif
