/* SPDX-License-Identifier: MIT
 *
 * Pictures of one line of text: a distribution on logarithmic axes, or a series over time. Rows to
 * be compared are drawn over the same range.
 */
#ifndef AB_ANSWER_SPARKLINE_H
#define AB_ANSWER_SPARKLINE_H

#include "result/hdr.h"
#include "result/shown.h"

#include <stdbool.h>
#include <stdint.h>

enum { AB_SPARKLINE_MOST = 20 }; /* cells; as many as fit AB_CELL_BYTES in UTF-8 */

struct ab_sparkline_range {
    double low, high; /* range of x in ns, both > 0; low > high = empty */
    double most;      /* largest share of a cell */
};
void ab_sparkline_begin(struct ab_sparkline_range *range);
/* Extends the range to the recorded values from the lowest to the p99.99. Higher values are not
 * included, because a single outlier would leave no room for the rest. */
void ab_sparkline_widen(struct ab_sparkline_range *range, const struct ab_hdr *hdr);

/* Draws n cells of equal logarithmic width between low and high. The height of a cell is the
 * logarithm of its share, from 1/10,000 to 1. Returns "" if nothing was recorded. */
const char *ab_sparkline_hdr(char cell[AB_CELL_BYTES], const struct ab_hdr *hdr,
                             const struct ab_sparkline_range *range, unsigned n, bool utf8);

/* Returns a character of one column that is filled from below. Level 0 is blank,
 * AB_SPARKLINE_LEVELS is full. */
enum { AB_SPARKLINE_LEVELS = 8 };
const char *ab_sparkline_mark(unsigned level, bool utf8);

/* Draws a bar of a number of columns, which need not be whole; not empty if `columns` is more than
 * 0. buf needs 4 bytes per column plus 8. */
const char *ab_sparkline_bar(char *buf, double columns, bool utf8);

/* Draws n values from 0 to `most`; NaN is a gap. */
const char *ab_sparkline_series(char cell[AB_CELL_BYTES], const double *values, unsigned n,
                                double most, bool utf8);

#endif
