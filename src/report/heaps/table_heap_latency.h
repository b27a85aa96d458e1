/* SPDX-License-Identifier: MIT
 *
 * How fast each heap of a mapped row is, op by op, on the terminal.
 */
#ifndef AB_REPORT_HEAPS_TABLE_HEAP_LATENCY_H
#define AB_REPORT_HEAPS_TABLE_HEAP_LATENCY_H

#include "report/table/style.h"
#include "result/result.h"

#include <stdio.h>

/* One table for this row and phase, where any of its calls were timed. */
void ab_table_heap_latency(FILE *to, const struct ab_session *s, uint32_t backend,
                           const char *phase, struct ab_table_style style, struct ab_hdr *scratch);

#endif
