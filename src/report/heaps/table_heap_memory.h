/* SPDX-License-Identifier: MIT
 *
 * What each heap of a mapped row holds, on the terminal.
 */
#ifndef AB_REPORT_HEAPS_TABLE_HEAP_MEMORY_H
#define AB_REPORT_HEAPS_TABLE_HEAP_MEMORY_H

#include "report/table/table.h"

/* A table for each mapped row of this phase; whether there was any. */
bool ab_table_heap_memory(FILE *to, const struct ab_session *s, const char *phase,
                          struct ab_table_style style, struct ab_footnotes *notes);

#endif
