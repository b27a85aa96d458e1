/* SPDX-License-Identifier: MIT
 *
 * Reads the files of other tools as lines or bytes. Recognizes plain, gzip and zstd files by
 * their first bytes. Streams the file, never maps it, and needs memory for one line. Errors
 * begin with "FILE:LINE: " or "FILE: byte OFFSET: ", relative to the unpacked text.
 */
#ifndef AB_EXCHANGE_FEED_H
#define AB_EXCHANGE_FEED_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ab_feed;
enum { AB_FEED_LINE_MAX = 1 << 18 };

/* Opens a file; "-" = standard input. If is_partial, a truncated file is accepted, up to its last
 * complete line or record. */
enum ab_status ab_feed_open(const char *path, bool is_partial, struct ab_feed **out,
                            struct ab_err *err);
/* Opens a copy of n bytes in memory. They count as the beginning of a file, and are read like a
 * truncated one. */
struct ab_feed *ab_feed_open_text(const char *bytes, size_t n);
void ab_feed_close(struct ab_feed *s);

/* Returns the first bytes of the unpacked file: at least AB_FEED_LINE_MAX, or all if there are
 * fewer. They are valid until the next call, which reads them again. */
enum ab_status ab_feed_peek(struct ab_feed *s, const char **bytes, size_t *n, struct ab_err *err);

/* Reads the next line, without its newline; *line is NULL after the last one. The text is valid
 * until the next call, and may be changed. The last line may lack a newline, because many
 * editors write none. With is_partial such a line is dropped, because it may be truncated. */
enum ab_status ab_feed_line(struct ab_feed *s, char **line, struct ab_err *err);
/* Reads n ≤ AB_FEED_LINE_MAX bytes; *bytes is NULL at the end of the file. */
enum ab_status ab_feed_bytes(struct ab_feed *s, size_t n, const uint8_t **bytes,
                             struct ab_err *err);

enum ab_feed_end {
    AB_FEED_WHOLE,
    AB_FEED_IN_DOUBT, /* the last line has no newline, and nothing else shows that it is complete */
    AB_FEED_CUT,      /* truncated, as was accepted */
};
/* Returns how the file ended. Valid after its end. */
enum ab_feed_end ab_feed_end(const struct ab_feed *s);
/* Tells the feed that the next line is the last one by the rules of the format, so that it needs no
 * newline. */
void ab_feed_keep_last(struct ab_feed *s);

/* Reports a file that ends too early. Returns AB_INPUT with the position; if is_partial, returns
 * AB_OK and marks the file as truncated. */
enum ab_status ab_feed_end_early(struct ab_feed *s, struct ab_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns AB_INPUT with the position of the last read. */
enum ab_status ab_feed_bad(const struct ab_feed *s, struct ab_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts the position of the last read in front of an error from elsewhere. */
enum ab_status ab_feed_blame(const struct ab_feed *s, struct ab_err *err);
/* Returns AB_INPUT for a line that does not fit the format. A last line without a newline counts
 * as truncated (see ab_feed_end_early). */
enum ab_status ab_feed_odd_line(struct ab_feed *s, const char *line, const char *expected,
                                struct ab_err *err);

/* ---- scanning a line, independent of the locale ----
 *
 * Each function consumes its part of *at and returns true, or changes nothing and returns false.
 * Numbers beyond 64 bits do not match. */

static inline bool ab_scan_text(const char **at, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(*at, text, n) != 0)
        return false;
    *at += n;
    return true;
}

static inline bool ab_scan_decimal(const char **at, uint64_t *out)
{
    const char *p = *at;
    uint64_t value = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
            return false;
    if (p == *at)
        return false;
    *at = p;
    *out = value;
    return true;
}

static inline int ab_scan_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Reads hexadecimal digits without 0x. */
static inline bool ab_scan_hex(const char **at, uint64_t *out)
{
    const char *p = *at;
    uint64_t value = 0;
    for (; ab_scan_digit(*p) >= 0; p++) {
        if (value >> 60 != 0)
            return false;
        value = value << 4 | (uint64_t)ab_scan_digit(*p);
    }
    if (p == *at)
        return false;
    *at = p;
    *out = value;
    return true;
}

/* Reads a pointer as %p or %#lx prints it: 0x and digits, or (nil) or 0 for NULL. */
static inline bool ab_scan_pointer(const char **at, uint64_t *out)
{
    const char *p = *at;
    *out = 0;
    if (ab_scan_text(at, "(nil)"))
        return true;
    if (ab_scan_text(&p, "0x") && ab_scan_hex(&p, out)) {
        *at = p;
        return true;
    }
    return ab_scan_text(at, "0");
}

static inline bool ab_scan_end(const char *at)
{
    return *at == 0;
}

#endif
