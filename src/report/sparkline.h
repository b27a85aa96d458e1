/* SPDX-License-Identifier: MIT
 *
 * Small pictures of one line: a distribution on logarithmic axes, a series over time. Rows that are
 * to be compared are drawn over one range.
 */
#ifndef AB_REPORT_SPARKLINE_H
#define AB_REPORT_SPARKLINE_H

#include "report/format.h"
#include "result/hdr.h"

#include <stdbool.h>
#include <stdint.h>

enum { AB_SPARKLINE_MOST = 20 }; /* cells: what fits AB_CELL_BYTES in UTF-8 */

struct ab_sparkline_range {
    double low, high; /* of x, in ns, both > 0; low > high = nothing yet */
    double most;      /* largest share of a cell */
};
void ab_sparkline_begin(struct ab_sparkline_range *range);
/* Widens x to the recorded values, from the lowest to the p99.99: a single outlier further out
 * would leave the rest no room. */
void ab_sparkline_widen(struct ab_sparkline_range *range, const struct ab_hdr *hdr);

/* Shares of the values in n cells between low and high, equally wide in the logarithm; the height
 * is logarithmic too, from a ten-thousandth to all. "" when nothing was recorded. */
const char *ab_sparkline_hdr(char cell[AB_CELL_BYTES], const struct ab_hdr *hdr,
                             const struct ab_sparkline_range *range, unsigned n, bool utf8);

/* A character of one column, filled from below: level 0 is blank, AB_SPARKLINE_LEVELS is full. */
enum { AB_SPARKLINE_LEVELS = 8 };
const char *ab_sparkline_mark(unsigned level, bool utf8);

/* A bar, something where it is more than 0; room for 4 bytes a column, and 8. */
const char *ab_sparkline_bar(char *buf, double columns, bool utf8);

/* n values, NaN as a gap, from 0 to `most`. */
const char *ab_sparkline_series(char cell[AB_CELL_BYTES], const double *values, unsigned n,
                                double most, bool utf8);

#endif
