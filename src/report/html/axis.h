/* SPDX-License-Identifier: MIT
 *
 * Axes: where a value lies between two ends of a picture, and which values are written beside it so
 * that no two labels touch.
 */
#ifndef AB_REPORT_HTML_AXIS_H
#define AB_REPORT_HTML_AXIS_H

#include <stdbool.h>
#include <stddef.h>

enum ab_axis_scale {
    AB_SCALE_LINEAR,
    AB_SCALE_LOG,        /* values above 0; others are at the low end */
    AB_SCALE_PERCENTILE, /* values are q = 0 … 1, drawn at -log10(1 - q) */
};

enum ab_axis_unit {                   /* how a value reads */
                    AB_AXIS_COUNT,    /* "12.5 k" */
                    AB_AXIS_TIME,     /* "100 ns", "1 µs"; of ns */
                    AB_AXIS_BYTES,    /* "0", "64 MiB" */
                    AB_AXIS_FACTOR,   /* "1.25×" */
                    AB_AXIS_CHANGE,   /* "+5 %"; of 0.05 */
                    AB_AXIS_RATIO,    /* the same of 1.05, for a log axis */
                    AB_AXIS_QUANTILE, /* "99.9 %"; of 0.999 */
                    AB_AXIS_UNIT_COUNT
};
/* In three digits, as on the terminal: "18.0 ms". Returns buf; "n/a" of NaN. */
const char *ab_axis_text(char *buf, size_t cap, enum ab_axis_unit unit, double value);
/* Beside an axis: "18 ms", "0". */
const char *ab_axis_tick(char *buf, size_t cap, enum ab_axis_unit unit, double value);
/* A time in ns; "<25 ns" of one below the clock's floor (NaN: there is none). */
const char *ab_axis_time_text(char *buf, size_t cap, double ns, double floor_ns);
const char *ab_axis_unit_name(enum ab_axis_unit unit);    /* "count" "time" … for the script */
const char *ab_axis_scale_name(enum ab_axis_scale scale); /* "linear" "log" "percentile" */

enum { AB_AXIS_TICKS = 24, AB_AXIS_NINES_MOST = 7 /* of a percentile axis: 99.99999 % */ };

struct ab_axis {
    enum ab_axis_scale scale;
    double low, high;  /* values at the ends; where they are equal or not finite, some are chosen */
    const char *title; /* "" = none */
    enum ab_axis_unit unit;
    double from, to; /* where the ends are drawn, in px */
    double ticks[AB_AXIS_TICKS];
    bool is_labelled[AB_AXIS_TICKS]; /* else the line only */
    unsigned n_ticks;
};

/* Chooses ticks for an axis whose other members are set; labels are at least `gap` px apart. A
 * horizontal one has its labels side by side. low and high of a linear axis that is
 * `is_widened` move outwards to the next tick; of a log axis by a little. */
void ab_axis_set_ticks(struct ab_axis *a, bool is_horizontal, bool is_widened);
/* In px, clamped to the ends. */
double ab_axis_at(const struct ab_axis *a, double value);

/* Width in px of text of `size` px in the report's font, on the wide side. */
double ab_axis_text_width(const char *text, double size);

#endif
