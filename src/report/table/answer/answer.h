/* SPDX-License-Identifier: MIT
 *
 * The answer for terminals: what was measured, who is fastest and at what price, then the tables
 * that this rests on, warnings, and what to do next. At most 40 lines for four back ends and phases.
 */
#ifndef AB_REPORT_TABLE_ANSWER_ANSWER_H
#define AB_REPORT_TABLE_ANSWER_ANSWER_H

#include "report/table/style.h"
#include "report/view/view.h"

#include <stdio.h>

/* The sentences, ranking and tables; of a real program the sentences alone. */
void ab_answer_print(FILE *to, const struct ab_view *v, struct ab_table_style style);
/* Warnings and next steps: what stands at the end, whatever is between. */
void ab_answer_end(FILE *to, const struct ab_view *v, struct ab_table_style style);

#endif
