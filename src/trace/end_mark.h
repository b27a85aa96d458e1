/* SPDX-License-Identifier: MIT
 *
 * What the end mark of a trace states, without reading what comes before it: a hint, to be believed
 * once a reader has come to it.
 */
#ifndef AB_TRACE_END_MARK_H
#define AB_TRACE_END_MARK_H

#include "trace/event.h"

/* Sets events, threads and the live peaks of *info, all else to 0. False where the file does not end
 * with an end mark, or is none that can be read from any place. */
bool ab_trace_read_end(const char *path, struct ab_trace_info *info);

#endif
