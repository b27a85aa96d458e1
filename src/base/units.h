/* SPDX-License-Identifier: MIT
 *
 * Parses numbers with units. One set of rules for the command line and for workloads: decimal only,
 * full match, no leading zeros, no sign where none makes sense, no NaN, no infinity, never the
 * locale's decimal comma.
 */
#ifndef AB_BASE_UNITS_H
#define AB_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

enum ab_unit_kind {
    AB_UNIT_COUNT, /* 12, 1e6, 1_000_000, 20M (k K M G T: powers of 1000) */
    /* like COUNT without T, or with B KB MB GB TB (powers of 1000) KiB MiB GiB TiB (of 1024) */
    AB_UNIT_BYTES,
    AB_UNIT_TIME,     /* ns us ms s; a bare number is an error except 0; result in ns */
    AB_UNIT_FRACTION, /* 0.25 or 25%; result as given, 0.25 */
    /* this and the next: like BYTES and TIME, but with fractions: 6.1MiB, 3.5ns */
    AB_UNIT_BYTES_REAL,
    AB_UNIT_TIME_REAL,
};

/* A parsed number. */
struct ab_number {
    double value;   /* set for every kind */
    uint64_t whole; /* exact value of COUNT, BYTES and TIME, which must be whole */
};

/* Parses all of s[0..n). Returns NULL, or a static text as the end of an error sentence ("… must be
 * a size such as 64KiB"); *out is then untouched. */
const char *ab_units_parse(const char *s, size_t n, enum ab_unit_kind kind, struct ab_number *out);

#endif
