/* SPDX-License-Identifier: MIT
 *
 * `trace info --sites --flame FILE.svg --folded FILE`: the stacks of a trace as files; and as they
 * are drawn in a page.
 */
#ifndef AB_CLI_TRACE_TRACE_FLAME_H
#define AB_CLI_TRACE_TRACE_FLAME_H

#include "cli/trace/cmd_trace.h"
#include "report/flame.h"

/* Before a trace is read: AB_USAGE for what does not go together. */
enum ab_status ab_trace_flame_check(const struct ab_options *o, struct ab_err *err);
/* Writes those that are open, and commits them. */
enum ab_status ab_trace_flame_write(const struct ab_trace_facts *f, enum ab_flame_by by,
                                    struct ab_output *svg, struct ab_output *folded,
                                    struct ab_err *err);

/* By each key; *out is untouched on failure. */
enum ab_status ab_trace_stacks(const struct ab_site_table *table, const struct ab_site_stats *stats,
                               struct ab_stacks *out, struct ab_err *err);

/* The same in a pass of its own over a whole file: walk has path, is_partial and progress. */
enum ab_status ab_trace_stacks_read(const struct ab_walk *walk, struct ab_stacks *out,
                                    struct ab_err *err);

#endif
