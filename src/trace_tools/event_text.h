/* SPDX-License-Identifier: MIT
 *
 * Formats an event as a line of text in a buffer, without printf, because traces have 10^7
 * events and more. The words and the order of the fields are an interface (traces/README.md).
 */
#ifndef AB_TRACE_TOOLS_EVENT_TEXT_H
#define AB_TRACE_TOOLS_EVENT_TEXT_H

#include "trace_tools/walk.h"

extern const char *const ab_event_kind_names[AB_EVENT_KIND_COUNT];

enum { AB_EVENT_TEXT_MAX = 160 };

/* Writes one line at p, which has room for AB_EVENT_TEXT_MAX bytes. Returns the end of the line.
 * Fields are separated by one space; "-" = no value. has_time adds a field for the time. `block` is
 * the block of the event, from ab_trace_book_take. */
char *ab_event_text(char *p, bool has_time, uint64_t number, const struct ab_event *e,
                    const struct ab_live_block *block);

#endif
