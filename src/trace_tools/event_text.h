/* SPDX-License-Identifier: MIT
 *
 * An event as a line of text, into a buffer: no printf, for traces of 10^7 events and more. The
 * words and the order of the fields are an interface (traces/README.md).
 */
#ifndef AB_TRACE_TOOLS_EVENT_TEXT_H
#define AB_TRACE_TOOLS_EVENT_TEXT_H

#include "trace_tools/walk.h"

extern const char *const ab_event_kind_names[AB_EVENT_KIND_COUNT];

enum { AB_EVENT_TEXT_MAX = 160 };

/* Writes one line at p, which has room for AB_EVENT_TEXT_MAX bytes; returns the end. Fields are
 * apart by one space, "-" for none; has_time: one more field. `block` is the event's, as
 * ab_trace_book_take gives it. */
char *ab_event_text(char *p, bool has_time, uint64_t number, const struct ab_event *e,
                    const struct ab_live_block *block);

#endif
