/* SPDX-License-Identifier: MIT
 *
 * Pictures as inline SVG: axes, and on them lines, areas, bars, marks, bands, cells and labels, in
 * values of the axes. Elements carry their light colour, so that a picture stands alone; the class
 * beside it takes the colour of the page's theme. Everything that has a name says it on hover.
 */
#ifndef AB_REPORT_HTML_PLOT_H
#define AB_REPORT_HTML_PLOT_H

#include "report/html/html.h"
#include "report/html/palette.h"
#include "report/view/pictures.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Axes: where a value lies between two ends of a picture, and which values are written beside it so
 * that no two labels touch. */

enum ab_axis_scale {
    AB_SCALE_LINEAR,
    AB_SCALE_LOG,        /* values above 0; others are at the low end */
    AB_SCALE_PERCENTILE, /* values are q = 0 … 1, drawn at -log10(1 - q) */
};

enum ab_axis_unit {                   /* how a value reads */
                    AB_AXIS_COUNT,    /* "12.5 k" */
                    AB_AXIS_TIME,     /* "100 ns", "1 µs", "3 h"; of ns */
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

enum { AB_AXIS_TICKS = 24 };

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

/* Boxes of a picture that are taken, and where text finds room beside them. Everything in px; y
 * grows downwards. */

struct ab_box {
    double left, top, right, bottom;
};

enum { AB_BOXES_MAX = 160 };

struct ab_boxes {
    struct ab_box frame; /* labels stay inside */
    struct ab_box taken[AB_BOXES_MAX];
    size_t n; /* more than there is room for are forgotten */
};

struct ab_paint {
    enum ab_colour colour;
    const char *dash; /* of ab_dashes, AB_DASH_DOTS; NULL = solid */
    double width;     /* of lines, px; 0 = 1.6 */
    uint32_t series;  /* what the switches of the page show and hide, from 1 on; 0 = always shown */
    const char *title; /* on hover; NULL = none */
};

enum ab_figure_size {
    AB_FIGURE_HALF,   /* two side by side in a wide window */
    AB_FIGURE_MIDDLE, /* alone in its row, of the same coordinates: fits a small screen */
    AB_FIGURE_WIDE    /* the whole width of the page; scrolls on a small screen */
};

struct ab_figure {
    const char *title;        /* above the picture */
    const char *description;  /* one sentence for those who do not see it */
    const char *why;          /* how to read it, folded behind a "?"; NULL = nothing to say */
    const char *const *words; /* what explain says of these follows it; ends with NULL. NULL =
                                      none */
    double height;            /* of the picture with its axes, px; 0 = 280 */
    double left;              /* room for the labels of the y axis, px; 0 = 68 */
    enum ab_figure_size size;
    bool has_no_y;                 /* no axis on the left: the page writes names of rows there */
    const struct ab_paint *legend; /* who is who, with titles: below it where it stands alone */
    size_t n_legend;
};

struct ab_plot {
    struct ab_html *h;
    struct ab_axis x, y;         /* the caller sets scale, low, high, title, unit */
    bool is_x_exact, is_y_exact; /* ends stay as they are */
    double width, height;
    struct ab_boxes boxes; /* taken by labels */
};

/* Everything that is drawn, between begin and end. begin takes the axes as they are set in *p and
 * writes them. */
void ab_plot_begin(struct ab_plot *p, struct ab_html *h, const struct ab_figure *figure);
void ab_plot_end(struct ab_plot *p);

void ab_plot_line(struct ab_plot *p, struct ab_paint paint, const struct ab_point *points,
                  size_t n);
/* Through the points that no other is better than in both axes; nothing for a single one. */
void ab_plot_front(struct ab_plot *p, const struct ab_point *points, size_t n);
/* Between low[i].y and high[i].y, which have the same x. */
void ab_plot_area(struct ab_plot *p, struct ab_paint paint, const struct ab_point *low,
                  const struct ab_point *high, size_t n);
/* A rectangle between two corners; opacity 0 … 1. */
void ab_plot_bar(struct ab_plot *p, struct ab_paint paint, struct ab_point a, struct ab_point b,
                 double opacity);
/* A dot. */
void ab_plot_mark(struct ab_plot *p, struct ab_paint paint, struct ab_point at, double radius);
/* Points of one width, as one path. */
void ab_plot_dots(struct ab_plot *p, struct ab_paint paint, const struct ab_point *points, size_t n,
                  double width);
/* From low to high around `at`, with caps; nothing where one is NaN. */
void ab_plot_error_x(struct ab_plot *p, struct ab_paint paint, double low, double high, double y);
void ab_plot_error_y(struct ab_plot *p, struct ab_paint paint, double x, double low, double high);
/* Over the whole width, between two values of y (of x); the label stands in it. */
void ab_plot_band_y(struct ab_plot *p, enum ab_colour colour, double low, double high,
                    const char *label);
void ab_plot_band_x(struct ab_plot *p, enum ab_colour colour, double low, double high,
                    const char *label);
/* Text beside a point, behind a stroke of its colour, where it touches no other; with a line where it is far
 * from the point.
 * Left out where there is no room at all. Call it after marks are drawn. */
void ab_plot_label(struct ab_plot *p, struct ab_paint paint, struct ab_point at, const char *text);
/* Text at a place in px, anchor "start", "middle" or "end"; its box is taken. */
void ab_plot_text(struct ab_plot *p, enum ab_colour colour, double px, double py,
                  const char *anchor, const char *text);
/* The room that a mark takes, so that labels keep away from it. */
void ab_plot_keep_free(struct ab_plot *p, struct ab_point at, double radius);

/* Rectangles of a picture in a few shades of one colour: for maps with thousands of cells, which
 * are written as one path a shade. */

enum { AB_HEAT_SHADES = 6 };

/* The darkest shade is a share of `most`, the faintest one of `least` and below. */
void ab_heat_cells(struct ab_plot *p, const struct ab_heat_cell *cells, size_t n, double least,
                   double most);

#endif
