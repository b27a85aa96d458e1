/* SPDX-License-Identifier: MIT
 *
 * Time in the allocator per iteration, on the terminal.
 */
#ifndef AB_REPORT_TABLE_TABLE_ITERATIONS_H
#define AB_REPORT_TABLE_TABLE_ITERATIONS_H

#include "report/table/style.h"
#include "result/result.h"

#include <stdio.h>

/* A table for each phase with iterations. */
void ab_table_iterations(FILE *to, const struct ab_session *s, struct ab_table_style style);

#endif
