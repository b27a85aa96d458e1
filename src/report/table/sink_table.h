/* SPDX-License-Identifier: MIT
 *
 * Writes a session as tables.
 */
#ifndef AB_REPORT_TABLE_SINK_TABLE_H
#define AB_REPORT_TABLE_SINK_TABLE_H

#include "report/table/table.h"

void ab_sink_table(FILE *to, const struct ab_session *session, struct ab_table_style style);

/* Topics below the answer. Each function prints nothing if nothing was measured for its topic. */

/* Prints the time in the allocator per iteration. */
void ab_table_iterations(FILE *to, const struct ab_session *s, struct ab_table_style style);

/* Prints what each heap of the mapped rows served. Without topics, prints it only for a single
 * mapped row with few phases, and not by op. */
void ab_table_heaps(FILE *to, const struct ab_session *s, struct ab_table_style style);

/* Prints the memory of each heap in a phase. Returns false if no row is mapped. */
bool ab_table_heap_memory(FILE *to, const struct ab_session *s, const char *phase,
                          struct ab_table_style style, struct ab_legend *legend);
/* Prints memory by phase, by heap, over the ops, and once everything is freed. */
void ab_table_memory(FILE *to, const struct ab_session *s, struct ab_table_style style);

/* Prints latency by requested size in a phase. Returns false if there is none. */
bool ab_table_sizes(FILE *to, const struct ab_session *s, const char *phase,
                    struct ab_table_style style);
/* Prints for each phase: intervals of percentiles, latency by size and over time, the slowest
 * calls. */
void ab_table_depth(FILE *to, const struct ab_view *v, struct ab_table_style style);

#endif
