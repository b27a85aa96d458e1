/* SPDX-License-Identifier: MIT
 *
 * {trace} in the name of an output of `replay`: the file name of the trace without .abt, so that
 * several traces have files of their own.
 */
#ifndef AB_APP_TRACE_OUTPUTS_H
#define AB_APP_TRACE_OUTPUTS_H

#include "app/options.h"

struct ab_trace_outputs {
    struct ab_options options; /* borrows all but the names of outputs */
    char *owned[AB_SINK_COUNT];
};

/* The options with {trace} replaced, for the one argument of `o`. To be released after a failure,
 * too. */
enum ab_status ab_trace_outputs_name(const struct ab_options *o, struct ab_trace_outputs *out,
                                     struct ab_err *err);
void ab_trace_outputs_fini(struct ab_trace_outputs *named);

/* With several traces, returns AB_USAGE for an output whose name lacks {trace}, or is the same for
 * two of them. */
enum ab_status ab_trace_outputs_check(const struct ab_options *o, struct ab_err *err);

#endif
