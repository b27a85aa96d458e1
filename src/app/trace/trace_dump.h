/* SPDX-License-Identifier: MIT
 *
 * Writes the events of a trace as lines of text.
 */
#ifndef AB_APP_TRACE_TRACE_DUMP_H
#define AB_APP_TRACE_TRACE_DUMP_H

#include "app/trace/trace_pass.h"

#include <stdio.h>

enum ab_status ab_trace_dump(const struct ab_trace_pass *pass, FILE *to, struct ab_err *err);

#endif
