/* SPDX-License-Identifier: MIT
 *
 * Scopes that end where the program, or a function that it calls, set a mark.
 */
#ifndef AB_TRACE_TOOLS_SCOPE_MARKS_H
#define AB_TRACE_TOOLS_SCOPE_MARKS_H

#include "trace/optional/mark_table.h"
#include "trace_tools/scopes.h"

enum { AB_SCOPE_MARKS_TRIED = 8 }; /* names, those with the most marks */

/* Of the names that are tried the one whose scopes most blocks are made and freed in; within 5 % of
 * these, the one with most scopes. Marks of all threads count. One pass over the file; *out is
 * AB_SCOPES_NONE when the table has no mark after the first call. */
enum ab_status ab_scopes_of_marks(const char *trace_path, bool is_partial,
                                  const struct ab_mark_table *table, struct ab_scopes *out,
                                  struct ab_err *err);

#endif
