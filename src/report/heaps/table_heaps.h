/* SPDX-License-Identifier: MIT
 *
 * Mapped rows on the terminal.
 */
#ifndef AB_REPORT_HEAPS_TABLE_HEAPS_H
#define AB_REPORT_HEAPS_TABLE_HEAPS_H

#include "report/table/style.h"
#include "result/result.h"

#include <stdio.h>

/* A table for each mapped row and phase; without topics only where there is one mapped row and there
 * are few phases. */
void ab_table_heaps(FILE *to, const struct ab_session *s, struct ab_table_style style);

#endif
