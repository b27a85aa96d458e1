/* SPDX-License-Identifier: MIT
 *
 * A ratio said in one direction only: "1.78x faster", "1.20x slower", never 0.56x.
 */
#ifndef AB_REPORT_VIEW_WORDS_FACTOR_H
#define AB_REPORT_VIEW_WORDS_FACTOR_H

#include "report/format.h"
#include "stats/effect.h"

#include <stdbool.h>
#include <stddef.h>

struct ab_view_factor {
    double times;     /* 1 or more; NaN = nothing to compare */
    double low, high; /* 90 % interval of times; low below 1: the other direction is possible. NaN =
                         too few rounds */
    bool is_less;     /* slower, or less: of a speed or a size below that of the base */
    bool is_clear;    /* else "~" stands before it */
};

/* Of a ratio to the base, of which 1.78 reads as 1.78 times more (a speed: faster). */
struct ab_view_factor ab_view_factor_of(const struct ab_effect *ratio);

/* "1.78x faster", "~1.29x slower"; "-" for NaN. `more` and `less`: what is said of either
 * direction. Returns buf. */
const char *ab_view_factor_words(char *buf, size_t cap, const struct ab_view_factor *factor,
                                 const char *more, const char *less);
/* With the interval: "1.78x faster [1.69, 1.80]"; a digit more where it begins just above 1. */
const char *ab_view_factor_text(char buf[AB_CELL_BYTES], const struct ab_view_factor *factor,
                                const char *more, const char *less);
/* "[1.69, 1.80]"; "" without an interval. */
const char *ab_view_factor_interval(char *buf, size_t cap, const struct ab_view_factor *factor);

#endif
