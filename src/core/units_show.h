/* SPDX-License-Identifier: MIT
 *
 * Formats quantities for people.
 */
#ifndef AB_CORE_UNITS_SHOW_H
#define AB_CORE_UNITS_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Formats with three significant digits: "64 B", "1.21 MiB" …. Returns buf. */
const char *ab_units_bytes(char *buf, size_t cap, double bytes);

/* Formats bytes exactly, in the largest unit that allows it. `between` is put before the unit: "16
 * KiB" with " ", "16KiB" with "". If `between` is "", a number of single bytes has no unit, as in
 * input. Returns buf. */
const char *ab_units_exact(char *buf, size_t cap, uint64_t bytes, const char *between);

/* Formats a time: "42.1 ns", "1.31 us", "5.00 ms". */
const char *ab_units_time(char *buf, size_t cap, double ns);

/* Formats a time that may be long, such as that of a workload or of a program: "45.0 s", "2.5 min",
 * "3 days". In pictures: "42.1 µs", "3 d". */
const char *ab_units_span(char *buf, size_t cap, double ns, bool is_in_picture);

/* Units of long times, the longest first. A unit is used for times of at least least_ns, or in
 * pictures picture_least_ns. */
enum { AB_SPAN_UNITS = 3 };
extern const struct ab_span_unit {
    const char *name, *letter; /* name: in words; letter: in pictures */
    double ns, least_ns, picture_least_ns;
} ab_span_units[AB_SPAN_UNITS];

/* Formats a count: "12.4 M", "950". */
const char *ab_units_count(char *buf, size_t cap, double n);

/* Format as ab_units_bytes() and ab_units_time() do, in a temporary buffer of the enclosing
 * block. */
#define AB_BYTES(bytes) ab_units_bytes((char[32]){0}, 32, (double)(bytes))
#define AB_TIME(ns) ab_units_time((char[32]){0}, 32, ns)

#endif
