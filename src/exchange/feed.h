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
#include <string.h>

struct ab_feed;
enum { AB_FEED_LINE_MAX = 1 << 18 };

/* "-" = standard input. is_partial: what is cut ends with its last whole line or record. */
enum ab_status ab_feed_open(const char *path, bool is_partial, struct ab_feed **out,
                            struct ab_err *err);
/* A feed of n bytes in memory, which are copied: the begin of a file, read as one that was cut. */
struct ab_feed *ab_feed_open_text(const char *bytes, size_t n);
void ab_feed_close(struct ab_feed *s);

/* The first bytes of the file, unpacked, at least AB_FEED_LINE_MAX where there are as many. They are
 * read again by the next call, and hold until then. */
enum ab_status ab_feed_peek(struct ab_feed *s, const char **bytes, size_t *n, struct ab_err *err);

/* The next line, without its end; *line is NULL after the last one. The text holds until the next
 * call, and may be changed. The last line may be without a newline: many editors write none. With
 * is_partial such a line is left out, since it may have been cut. */
enum ab_status ab_feed_line(struct ab_feed *s, char **line, struct ab_err *err);
/* n bytes, n at most AB_FEED_LINE_MAX; *bytes is NULL at the end of the file. */
enum ab_status ab_feed_bytes(struct ab_feed *s, size_t n, const uint8_t **bytes,
                             struct ab_err *err);

enum ab_feed_end {
    AB_FEED_WHOLE,
    AB_FEED_IN_DOUBT, /* the last line was without a newline, and nothing else shows that it is whole */
    AB_FEED_CUT,      /* its end has been cut off, as was accepted */
};
/* Returns how the file ended, once it has. */
enum ab_feed_end ab_feed_end(const struct ab_feed *s);
/* The format says that the file ends with its next line, so that a newline is not missed. */
void ab_feed_keep_last(struct ab_feed *s);

/* The file ends, but should go on: AB_INPUT with the place, or, where that is accepted, AB_OK. */
enum ab_status ab_feed_end_early(struct ab_feed *s, struct ab_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* AB_INPUT with the place of what was read last. */
enum ab_status ab_feed_bad(const struct ab_feed *s, struct ab_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts the place before an error from elsewhere. */
enum ab_status ab_feed_blame(const struct ab_feed *s, struct ab_err *err);
/* AB_INPUT: a line that is none of the format. A last line without a newline has been cut: as
 * ab_feed_end_early. */
enum ab_status ab_feed_odd_line(struct ab_feed *s, const char *line, const char *expected,
                                struct ab_err *err);

/* Reads the words of a line, without locale. Each function takes its part off the front of *at and
 * returns true, or changes nothing and returns false. Numbers that do not fit into 64 bits are none. */

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

/* Digits alone, without 0x. */
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

/* What %p and %#lx print: 0x and digits, or (nil) or 0 for NULL. */
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
