/* SPDX-License-Identifier: MIT
 *
 * A file of another tool as lines or bytes: plain, gzip or zstd, which its first bytes say. Streamed,
 * never mapped; memory is one line. Errors carry "FILE:LINE: " or "FILE: byte OFFSET: ", of the text
 * as it is once unpacked.
 */
#ifndef AB_EXCHANGE_FEED_H
#define AB_EXCHANGE_FEED_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_feed;
enum { AB_FEED_LINE_MAX = 1 << 18 };

/* "-" = standard input. is_partial: what is cut ends with its last whole line or record. */
enum ab_status ab_feed_open(const char *path, bool is_partial, struct ab_feed **out,
                            struct ab_err *err);
void ab_feed_close(struct ab_feed *s);

/* The next line, without its end; *line is NULL after the last one. The text holds until the next
 * call, and may be changed. */
enum ab_status ab_feed_line(struct ab_feed *s, char **line, struct ab_err *err);
/* n bytes, n at most AB_FEED_LINE_MAX; *bytes is NULL at the end of the file. */
enum ab_status ab_feed_bytes(struct ab_feed *s, size_t n, const uint8_t **bytes,
                             struct ab_err *err);

/* Has the end been cut off, and was that accepted? */
bool ab_feed_is_cut(const struct ab_feed *s);

/* The file ends, but should go on: AB_INPUT with the place, or, where that is accepted, AB_OK. */
enum ab_status ab_feed_end_early(struct ab_feed *s, struct ab_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* AB_INPUT with the place of what was read last. */
enum ab_status ab_feed_bad(const struct ab_feed *s, struct ab_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts the place before an error from elsewhere. */
enum ab_status ab_feed_blame(const struct ab_feed *s, struct ab_err *err);
/* AB_INPUT: a line that is none of the format. */
enum ab_status ab_feed_odd_line(const struct ab_feed *s, const char *line, const char *expected,
                                struct ab_err *err);

#endif
