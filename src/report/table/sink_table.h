/* SPDX-License-Identifier: MIT
 *
 * Writes the session as tables.
 */
#ifndef AB_REPORT_TABLE_SINK_TABLE_H
#define AB_REPORT_TABLE_SINK_TABLE_H

#include "report/table/table.h"

void ab_sink_table(FILE *to, const struct ab_session *session, struct ab_table_style style);

/* Its topics below the answer. Each prints nothing where nothing of it was measured. */

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

/* Latency by size of the request, in one phase; false where there is none. */
bool ab_table_sizes(FILE *to, const struct ab_session *s, const char *phase,
                    struct ab_table_style style);
/* By phase: intervals of percentiles, latency by size and over time, the slowest calls. */
void ab_table_depth(FILE *to, const struct ab_view *v, struct ab_table_style style);

#endif
