/* SPDX-License-Identifier: MIT
 *
 * Formats numbers and names for sinks. Short texts go to a buffer of AB_CELL_BYTES from the caller.
 */
#ifndef AB_RESULT_SHOWN_H
#define AB_RESULT_SHOWN_H

#include "result/result.h"

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>

enum { AB_CELL_BYTES = 64 }; /* large enough for a sparkline of 20 characters */

/* Between ab_format_begin and ab_format_end, this thread prints numbers with '.' and knows the
 * width of UTF-8 characters, whatever the locale of the program is. */
struct ab_format_guard {
    locale_t before, ours;
};
void ab_format_begin(struct ab_format_guard *guard);
void ab_format_end(struct ab_format_guard *guard);

/* Writes a time in ns: "42", "42.1", "1.31us", "1.92ms"; "<20" if it is below the floor (NaN = no
 * floor); "-" for NaN. */
const char *ab_format_ns(char buf[AB_CELL_BYTES], double ns, double floor_ns);
/* Writes a ratio: "0.09", "1.40", "12.3", "355"; "-" for NaN. */
const char *ab_format_ratio(char buf[AB_CELL_BYTES], double ratio);
/* Writes a ratio with its interval, "1.74x [1.69, 1.80]"; without an interval (NaN) "1.74x"; "-"
 * for a NaN ratio. */
const char *ab_format_effect(char buf[AB_CELL_BYTES], double ratio, double low, double high);
/* Writes the range of a size class, above half of 1 << log2 up to 1 << log2: "9 - 16 B", ">1 - 2
 * KiB", ">512 KiB - 1 MiB". */
const char *ab_format_size_class(char buf[AB_CELL_BYTES], unsigned log2);

/* Writes a count: "950", "12.4k", "2M"; "-" for NaN. */
const char *ab_format_count(char buf[AB_CELL_BYTES], double n);
/* Writes a share in [0, 1] as "12.5%" or "<0.1%"; "-" for NaN. The text `between` stands between
 * the number and the per cent sign. */
const char *ab_format_share(char buf[AB_CELL_BYTES], double share, const char *between);
/* Returns the number of nanoseconds in the unit "ns", "us", "ms" or "s"; 0 for any other unit. */
double ab_format_ns_of_unit(const char *unit);
/* Writes a number with the unit of a metric or a gate: "126 ns", "64.0 MiB", "3.04x"; "-" for
 * NaN. */
const char *ab_format_value(char buf[AB_CELL_BYTES], double value, const char *unit);

/* Writes the name of a back end as the user gave it. The name may be hostile. Adds "(partial)" or a
 * similar word if the back end is not compared. */
const char *ab_format_backend(char *dst, size_t cap, const struct ab_backend_info *b);

/* Returns the number of terminal columns that a printable text takes. */
unsigned ab_format_width(const char *s);

/* Writes a name for a terminal, cut to `width` columns. The name may come from any source. Replaces
 * control characters and characters without width (marks that reorder or hide text); if `utf8` is
 * false, replaces everything but ASCII. */
const char *ab_format_label(char *dst, size_t cap, const char *s, unsigned width, bool utf8);
/* Like ab_format_label, but cuts in the middle of the name, because settings that differ are at its
 * end. */
const char *ab_format_name(char *dst, size_t cap, const char *s, unsigned width, bool utf8);

#endif
