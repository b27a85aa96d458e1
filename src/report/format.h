/* SPDX-License-Identifier: MIT
 *
 * How sinks spell numbers and names. Short texts go to a caller's buffer of AB_CELL_BYTES.
 */
#ifndef AB_REPORT_FORMAT_H
#define AB_REPORT_FORMAT_H

#include "result/result.h"

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>

enum { AB_CELL_BYTES = 64 }; /* room for a sparkline of 20 characters */

/* From begin to end this thread prints numbers with '.' and knows the width of UTF-8 characters,
 * whatever locale the program runs in. */
struct ab_format_guard {
    locale_t before, ours;
};
void ab_format_begin(struct ab_format_guard *guard);
void ab_format_end(struct ab_format_guard *guard);

/* "42", "42.1", "1.31us", "1.92ms", "<20" when under the floor (NaN = none), "-" for NaN. */
const char *ab_format_ns(char buf[AB_CELL_BYTES], double ns, double floor_ns);
/* "0.09", "1.40", "12.3", "355"; "-" for NaN. */
const char *ab_format_ratio(char buf[AB_CELL_BYTES], double ratio);
/* "1.74x [1.69, 1.80]"; without an interval (NaN) "1.74x"; "-" for a NaN ratio. */
const char *ab_format_effect(char buf[AB_CELL_BYTES], double ratio, double low, double high);
/* Sizes up to 1 << log2, above half of that: "9 - 16 B", ">1 - 2 KiB", ">512 KiB - 1 MiB". */
const char *ab_format_size_class(char buf[AB_CELL_BYTES], unsigned log2);

/* "950", "12.4k", "2M"; "-" for NaN. */
const char *ab_format_count(char buf[AB_CELL_BYTES], double n);
/* "12.5%", "<0.1%", "-" for NaN; of a share in [0, 1]. `between` stands before the sign. */
const char *ab_format_share(char buf[AB_CELL_BYTES], double share, const char *between);
/* Nanoseconds in "us", "ms" or "s", the units of metrics that a user names; 0 for any other unit. */
double ab_format_ns_of_unit(const char *unit);
/* A number with its unit, that of a metric or a gate: "126 ns", "64.0 MiB", "3.04x"; "-" for NaN. */
const char *ab_format_value(char buf[AB_CELL_BYTES], double value, const char *unit);

/* What a back end is called: its name as it was asked for, which may be hostile, and "(partial)" and
 * the like where it is out of the comparison. */
const char *ab_format_backend(char *dst, size_t cap, const struct ab_backend_info *b);

/* Columns of a terminal that printable text takes. */
unsigned ab_format_width(const char *s);

/* A name that may come from anywhere, for a terminal: no control characters, nothing without
 * width (marks that reorder or hide text), ASCII only unless utf8; cut to `width` columns. */
const char *ab_format_label(char *dst, size_t cap, const char *s, unsigned width, bool utf8);
/* The same, cut in the middle: what separates two settings of one back end is at the end. */
const char *ab_format_name(char *dst, size_t cap, const char *s, unsigned width, bool utf8);

#endif
