/* SPDX-License-Identifier: MIT
 *
 * Pictures as inline SVG: axes, and on them lines, areas, bars, marks, bands, cells and labels, all
 * in values of the axes. Elements carry their light colour, so that a picture also works outside of
 * the page; their class applies the colour of the page's theme. Everything with a name shows it on
 * hover.
 */
#ifndef AB_REPORT_HTML_PLOT_H
#define AB_REPORT_HTML_PLOT_H

#include "answer/pictures.h"
#include "report/html/html.h"
#include "report/html/palette.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- axes ----
 * Axes map values to positions between two ends, and choose labelled values such that no two
 * labels touch. */

enum ab_axis_scale {
    AB_SCALE_LINEAR,
    AB_SCALE_LOG,        /* only values above 0; others are drawn at the low end */
    AB_SCALE_PERCENTILE, /* values are q = 0 … 1, drawn at -log10(1 - q) */
};

enum ab_axis_unit {                   /* the format of values */
                    AB_AXIS_COUNT,    /* "12.5 k" */
                    AB_AXIS_TIME,     /* ns: "100 ns", "1 µs", "3 h" */
                    AB_AXIS_BYTES,    /* "0", "64 MiB" */
                    AB_AXIS_FACTOR,   /* "1.25×" */
                    AB_AXIS_CHANGE,   /* 0.05 is "+5 %" */
                    AB_AXIS_RATIO,    /* 1.05 is "+5 %"; for a log axis */
                    AB_AXIS_QUANTILE, /* 0.999 is "99.9 %" */
                    AB_AXIS_UNIT_COUNT
};
/* Writes a value with three digits, as on the terminal: "18.0 ms"; "n/a" for NaN. Returns buf. */
const char *ab_axis_text(char *buf, size_t cap, enum ab_axis_unit unit, double value);
/* Writes a value as the label of a tick: "18 ms", "0". */
const char *ab_axis_tick(char *buf, size_t cap, enum ab_axis_unit unit, double value);

enum { AB_AXIS_TICKS = 24 };

struct ab_axis {
    enum ab_axis_scale scale;
    double low, high;  /* values at the ends; replaced if equal or not finite */
    const char *title; /* "" = no title */
    enum ab_axis_unit unit;
    double from, to; /* positions of the ends, px */
    double ticks[AB_AXIS_TICKS];
    bool is_labelled[AB_AXIS_TICKS]; /* False for a tick that is only a line */
    unsigned n_ticks;
};

/* Chooses ticks for an axis whose other members are set. Labels do not overlap; those of a
 * horizontal axis are side by side. With is_widened, low and high of a linear axis move outwards to
 * the next tick, those of a log axis by a little. */
void ab_axis_set_ticks(struct ab_axis *a, bool is_horizontal, bool is_widened);
/* Returns the position of a value in px, clamped to the ends of the axis. */
double ab_axis_at(const struct ab_axis *a, double value);

/* Returns the approximate width in px of text of `size` px in the report's font; rather too large
 * than too small. */
double ab_axis_text_width(const char *text, double size);

/* ---- occupied boxes ----
 * Occupied boxes of a picture, to find free places for labels. Everything is in px; y grows
 * downwards. */

struct ab_box {
    double left, top, right, bottom;
};

enum { AB_BOXES_MAX = 160 };

struct ab_boxes {
    struct ab_box frame; /* labels stay inside this box */
    struct ab_box taken[AB_BOXES_MAX];
    size_t n; /* number of boxes in `taken`; further boxes are ignored */
};

struct ab_paint {
    enum ab_colour colour;
    const char *dash; /* one of ab_dashes, or AB_DASH_DOTS; NULL = solid */
    double width;     /* width of lines in px; 0 = 1.6 */
    uint32_t series;  /* number of the series that the page's switches show and hide, from 1 on; 0 =
                         always shown */
    const char *title; /* text on hover; NULL = none */
};

enum ab_figure_size {
    AB_FIGURE_HALF,   /* half the width: two side by side in a wide window */
    AB_FIGURE_MIDDLE, /* coordinates of a half figure, but alone in its row; fits a small screen */
    AB_FIGURE_WIDE    /* the whole width of the page; scrolls on a small screen */
};

struct ab_figure {
    const char *title;        /* title above the picture */
    const char *description;  /* one sentence for readers who cannot see the picture */
    const char *why;          /* how to read the picture, folded behind a "?"; NULL = no such
                                 text */
    const char *const *words; /* terms whose explanations follow `why`; ends with NULL. NULL =
                                 none */
    double height;            /* height of the picture with its axes, px; 0 = 280 */
    double left;              /* room for the labels of the y axis, px; 0 = 68 */
    enum ab_figure_size size;
    bool has_no_y; /* True if the left side has no axis; the page writes row names
                                      there */
    /* entries with titles; drawn below a picture that has a file of its own */
    const struct ab_paint *legend;
    size_t n_legend;
};

struct ab_plot {
    struct ab_html *h;
    struct ab_html file;         /* the picture's own file, if it has one; `h` then points to it */
    struct ab_axis x, y;         /* the caller sets scale, low, high, title, unit */
    bool is_x_exact, is_y_exact; /* True if the ends must not be changed */
    double width, height;
    struct ab_boxes boxes; /* boxes that labels must not cover */
};

/* Begins and ends a picture. All functions below draw between the two calls. ab_plot_begin
 * completes the axes that are set in *p, and writes them. */
void ab_plot_begin(struct ab_plot *p, struct ab_html *h, const struct ab_figure *figure);
void ab_plot_end(struct ab_plot *p);

void ab_plot_line(struct ab_plot *p, struct ab_paint paint, const struct ab_point *points,
                  size_t n);
/* Draws a line through the points that no other point beats in both axes; nothing for a single
 * point. */
void ab_plot_front(struct ab_plot *p, const struct ab_point *points, size_t n);
/* Fills the area between low[i].y and high[i].y, which have the same x. */
void ab_plot_area(struct ab_plot *p, struct ab_paint paint, const struct ab_point *low,
                  const struct ab_point *high, size_t n);
/* Draws a rectangle with the corners a and b; opacity 0 … 1. */
void ab_plot_bar(struct ab_plot *p, struct ab_paint paint, struct ab_point a, struct ab_point b,
                 double opacity);
/* Draws a dot. */
void ab_plot_mark(struct ab_plot *p, struct ab_paint paint, struct ab_point at, double radius);
/* Draws points of the same width as a single path. */
void ab_plot_dots(struct ab_plot *p, struct ab_paint paint, const struct ab_point *points, size_t n,
                  double width);
/* Draw an error bar from low to high with caps, at the other coordinate. Draw nothing if a number
 * is NaN. */
void ab_plot_error_x(struct ab_plot *p, struct ab_paint paint, double low, double high, double y);
void ab_plot_error_y(struct ab_plot *p, struct ab_paint paint, double x, double low, double high);
/* Draw a band over the whole picture between two values of y, or of x, with a label inside. */
void ab_plot_band_y(struct ab_plot *p, enum ab_colour colour, double low, double high,
                    const char *label);
void ab_plot_band_x(struct ab_plot *p, enum ab_colour colour, double low, double high,
                    const char *label);
/* Writes text beside a point where it touches no other label, after a short dash in the colour of
 * the paint. If the free place is far away, adds a line to the point. Writes nothing if there is no
 * room. Call it after all marks are drawn. */
void ab_plot_label(struct ab_plot *p, struct ab_paint paint, struct ab_point at, const char *text);
/* Writes text at a position in px and occupies its box. `anchor` is "start", "middle" or "end". */
void ab_plot_text(struct ab_plot *p, enum ab_colour colour, double px, double py,
                  const char *anchor, const char *text);
/* Occupies the place of a mark, so that labels avoid it. */
void ab_plot_keep_free(struct ab_plot *p, struct ab_point at, double radius);

/* ---- heat maps ----
 * Rectangles in a few shades of one colour. Each shade is written as a single path,
 * because a map can have thousands of cells. */

enum { AB_HEAT_SHADES = 6 };

/* Draws cells. The darkest shade stands for `most`, the faintest for `least` and anything below
 * it. */
void ab_heat_cells(struct ab_plot *p, const struct ab_heat_cell *cells, size_t n, double least,
                   double most);

#endif
