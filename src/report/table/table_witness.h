/* SPDX-License-Identifier: MIT
 *
 * What the replay of a program's trace predicted, beside what the program itself took.
 */
#ifndef AB_REPORT_TABLE_TABLE_WITNESS_H
#define AB_REPORT_TABLE_TABLE_WITNESS_H

#include "report/table/style.h"
#include "report/view/view.h"

#include <stdio.h>

/* Nothing where nothing was predicted. */
void ab_table_witness(FILE *to, const struct ab_view *v, struct ab_table_style style);

#endif
