/* SPDX-License-Identifier: MIT
 *
 * `trace info --sites --flame FILE.svg --folded FILE`: the stacks of a trace as files.
 */
#ifndef AB_CLI_TRACE_FLAME_H
#define AB_CLI_TRACE_FLAME_H

#include "cli/trace.h"
#include "report/flame.h"

/* Before a trace is read: AB_USAGE for what does not go together. */
enum ab_status ab_trace_flame_check(const struct ab_options *o, struct ab_err *err);
/* Writes those that are open, and commits them. */
enum ab_status ab_trace_flame_write(const struct ab_trace_facts *f, enum ab_flame_by by,
                                    struct ab_output *svg, struct ab_output *folded,
                                    struct ab_err *err);

#endif
