/* SPDX-License-Identifier: MIT
 *
 * An event as a line of text, into a buffer: no printf, for traces of 10^7 events and more. The
 * words and the order of the fields are an interface (traces/README.md).
 */
#ifndef AB_TRACE_TOOLS_EVENT_TEXT_H
#define AB_TRACE_TOOLS_EVENT_TEXT_H

#include "trace_tools/slot_check.h"

extern const char *const ab_event_kind_names[AB_EVENT_KIND_COUNT];

enum ab_event_layout {                    /* LINE or CSV, and TIMED where the trace has times */
                       AB_EVENT_LINE = 0, /* fields apart by one space, "-" for none, "\n" */
                       AB_EVENT_CSV =
                           1, /* fields apart by a comma, empty for none, "\r\n" (RFC 4180) */
                       AB_EVENT_TIMED = 2 /* one more field, time_us */
};

enum { AB_EVENT_TEXT_MAX = 160 };

/* The heading of the CSV, with its line end. */
const char *ab_event_csv_head(unsigned layout);

/* Writes one line at p, which has room for AB_EVENT_TEXT_MAX bytes; returns the end. `block` is the
 * event's, as ab_trace_book_take gives it. */
char *ab_event_text(char *p, unsigned layout, uint64_t number, const struct ab_event *e,
                    const struct ab_live_block *block);

/* v in decimal; returns the end. At most 20 bytes. */
char *ab_text_put_u64(char *p, uint64_t v);

#endif
