/* SPDX-License-Identifier: MIT
 *
 * Proves a trace: every call is possible (by the record of slot_check.h, which is not the reader's), and
 * the totals that the file states are those of its events.
 */
#ifndef AB_TRACE_TOOLS_CHECK_TRACE_H
#define AB_TRACE_TOOLS_CHECK_TRACE_H

#include "trace_tools/walk.h"

/* walk.visit and walk.user are set here. *info: what the file holds. */
enum ab_status ab_trace_check(const struct ab_walk *walk, struct ab_trace_info *info,
                              struct ab_err *err);

/* Compares the totals that a walk reckoned with those that the file states: NULL, or the name of
 * the first that differs, with both values. */
const char *ab_trace_totals_differ(const struct ab_trace_info *reckoned,
                                   const struct ab_trace_info *stated, uint64_t values[2]);

#endif
