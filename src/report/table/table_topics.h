/* SPDX-License-Identifier: MIT
 *
 * Topics below the answer on a terminal. Each prints nothing where nothing of it was measured.
 */
#ifndef AB_REPORT_TABLE_TABLE_TOPICS_H
#define AB_REPORT_TABLE_TABLE_TOPICS_H

#include "report/table/legend.h"

/* Time in the allocator per iteration. */
void ab_table_iterations(FILE *to, const struct ab_session *s, struct ab_table_style style);

/* What each heap of a mapped row served. Without topics only of one mapped row in few phases, and
 * not by op. */
void ab_table_heaps(FILE *to, const struct ab_session *s, struct ab_table_style style);

/* What each heap holds, in one phase; false where no row is mapped. */
bool ab_table_heap_memory(FILE *to, const struct ab_session *s, const char *phase,
                          struct ab_table_style style, struct ab_legend *legend);
/* By phase, by heap, over the ops, and once all is freed. */
void ab_table_memory(FILE *to, const struct ab_session *s, struct ab_table_style style);

#endif
