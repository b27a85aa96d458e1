/* SPDX-License-Identifier: MIT
 *
 * The contents of pictures, as values on their axes. The code that draws them adds colours and
 * pixels.
 */
#ifndef AB_ANSWER_PICTURES_H
#define AB_ANSWER_PICTURES_H

#include "answer/grid.h"
#include "answer/memory_view.h"

struct ab_point {
    double x, y; /* a NaN interrupts the line */
};

struct ab_view_span {
    double low, high; /* NaN = no span */
};

struct ab_heat_cell {
    double x0, x1, y0, y1; /* values on the axes */
    /* share of a column's calls, 0 to 1; its logarithm decides the shade; 0 is not drawn */
    double share;
};

/* ---- resident bytes over the op clock ----
 * Resident bytes of one back end over the op clock, in the first round. Each stretch of the work
 * shows the point with its largest footprint. */

struct ab_view_footprint_point {
    double x;
    bool is_split; /* True if the parts are known; otherwise only the last of `ends` is */
    /* upper ends of the stacked parts, with the aged heap counted as live; the last one is the
     * whole */
    double ends[AB_VIEW_RETAINED + 1];
};

enum { AB_VIEW_STRETCHES = 120 };

struct ab_view_footprint {
    uint32_t backend, n;
    double x_end; /* end of the work */
    struct ab_view_footprint_point points[AB_VIEW_STRETCHES];
};

/* Heat map of the calls of one back end by when they ran and how long they took. The shares of the
 * cells of a column add up to 1. */
struct ab_view_map {
    uint32_t backend;
    double x_end;
    struct ab_heat_cell *cells;
    size_t n;
};

/* Resident bytes over time in ns, in the first round, for a real program or work that has times. */
struct ab_view_course {
    uint32_t backend, n;
    struct ab_point *points;
};

/* A number of a real program: one point per round of each shown back end, in the order of the
 * ranking. */
struct ab_view_strip {
    const char *title;
    enum ab_grid_kind kind; /* format of its values: TIME or BYTES */
    struct ab_view_span ends;
    uint32_t *backends; /* n entries */
    double *medians;    /* median of each back end; NaN = n/a */
    double *rounds;     /* [row · session->n_rounds + round] */
    uint32_t n;
};

enum { AB_VIEW_STRIPS = 4 };

/* Lists have the shown back ends in the order of the ranking; the courses of a real program are in
 * the order of the session. */
struct ab_view_pictures {
    struct ab_view_footprint *footprints; /* only of a replay or workload */
    uint32_t n_footprints;
    double footprints_most;
    struct ab_view_map *maps;
    uint32_t n_maps;
    struct ab_view_span maps_y; /* range of all maps */
    struct ab_view_course *courses;
    uint32_t n_courses;
    struct ab_point courses_end;
    /* live bytes over time under one back end, because all do the same work; n 0 = not known */
    struct ab_view_course live;
    struct ab_view_strip strips[AB_VIEW_STRIPS];
    unsigned n_strips;
};

struct ab_view;
/* Computes the pictures from the session and the ranking of the view. */
void ab_view_pictures_make(const struct ab_view *v, struct ab_view_pictures *out);
void ab_view_pictures_fini(struct ab_view_pictures *p);

/* ---- latency by percentile ----
 * The values of a histogram from the fastest call to the slowest, evenly
 * spaced in -log10(1 - q), with as few points as show the curve. */

enum { AB_VIEW_CURVE_POINTS = 300, AB_VIEW_NINES_MOST = 7 /* 99.99999 % */ };

struct ab_latency_curve {
    struct ab_point points[AB_VIEW_CURVE_POINTS + 2]; /* x: q, y: ns */
    size_t n;
    /* number of points at the beginning of the curve that at least AB_QUANTILE_MIN_SAMPLES_BEHIND
     * samples exceed */
    size_t n_sure;
};

/* Computes a curve of at most n_points (AB_VIEW_CURVE_POINTS) points, with no value below `least`;
 * n = 0 if nothing was timed. Values are those of ab_hdr_quantile. */
void ab_latency_curve_make(const struct ab_hdr *hdr, size_t n_points, double least,
                           struct ab_latency_curve *out);

#endif
