/* SPDX-License-Identifier: MIT
 *
 * What the blocks cost in memory: headline and decomposition of each measured phase, what is left
 * when all is freed, footprint over time.
 */
#ifndef AB_REPORT_TABLE_TABLE_MEMORY_H
#define AB_REPORT_TABLE_TABLE_MEMORY_H

#include "report/table/style.h"
#include "result/result.h"

#include <stdio.h>

/* Nothing where the session has no memory records. */
void ab_table_memory(FILE *to, const struct ab_session *session, struct ab_table_style style);

#endif
