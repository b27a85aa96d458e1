/* SPDX-License-Identifier: MIT
 *
 * Pictures as inline SVG: axes, and on them lines, areas, bars, marks, bands, cells and labels, in
 * values of the axes. Elements carry their light colour, so that a picture stands alone; the class
 * beside it takes the colour of the page's theme. Everything that has a name says it on hover.
 */
#ifndef AB_REPORT_HTML_PLOT_H
#define AB_REPORT_HTML_PLOT_H

#include "report/html/axis.h"
#include "report/html/html.h"
#include "report/html/labels.h"
#include "report/html/palette.h"

#include <stdint.h>

struct ab_point {
    double x, y; /* a NaN ends a stretch of a line */
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

#endif
