/* SPDX-License-Identifier: MIT
 *
 * The marks of a trace, as `trace info` and `trace dump` show them.
 */
#ifndef AB_CLI_TRACE_TRACE_MARKS_H
#define AB_CLI_TRACE_TRACE_MARKS_H

#include "core/status.h"
#include "report/json.h"
#include "trace/mark_table.h"

#include <stdio.h>

/* A line for each of the first names, and one for the others. */
enum ab_status ab_trace_print_marks(FILE *to, const struct ab_mark_table *t, struct ab_err *err);
/* All names; NULL = out of memory. */
json_t *ab_trace_marks_json(const struct ab_mark_table *t);

/* A mark as a line of `dump`. */
void ab_trace_print_mark(FILE *to, const struct ab_mark_table *t, size_t i, bool has_time);

#endif
