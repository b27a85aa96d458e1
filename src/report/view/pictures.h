/* SPDX-License-Identifier: MIT
 *
 * What pictures show, in values of their axes: whoever draws them adds colours and pixels.
 */
#ifndef AB_REPORT_VIEW_PICTURES_H
#define AB_REPORT_VIEW_PICTURES_H

#include "report/view/grid.h"
#include "report/view/memory.h"

struct ab_point {
    double x, y; /* a NaN ends a stretch of a line */
};

struct ab_view_span {
    double low, high; /* NaN = there is none */
};

struct ab_heat_cell {
    double x0, x1, y0, y1; /* values of the axes */
    double share;          /* 0 … 1, shaded by its logarithm; 0 is not drawn */
};

/* Resident bytes of one back end over the op clock, in the first round: of each stretch the point with the
 * largest footprint. */

struct ab_view_footprint_point {
    double x;
    bool is_split; /* else the whole alone is known */
    double ends[AB_VIEW_RETAINED +
                1]; /* of the parts, litter in what lives, one upon the other; the last is
                                          the whole */
};

enum { AB_VIEW_STRETCHES = 120 };

struct ab_view_footprint {
    uint32_t backend, n;
    double x_end; /* of the work */
    struct ab_view_footprint_point points[AB_VIEW_STRETCHES];
};

/* Calls of one back end by when they ran and how long they took: cells of a column share its calls. */
struct ab_view_map {
    uint32_t backend;
    double x_end;
    struct ab_heat_cell *cells;
    size_t n;
};

/* Resident bytes over time in ns, in the first round: of a real program, or of work that has times. */
struct ab_view_course {
    uint32_t backend, n;
    struct ab_point *points;
};

/* A number of a real program: each round of each back end that is shown, by the ranking. */
struct ab_view_strip {
    const char *title;
    enum ab_grid_kind kind; /* how it reads: TIME or BYTES */
    struct ab_view_span ends;
    uint32_t *backends; /* n */
    double *medians;    /* of each; NaN = n/a */
    double *rounds;     /* [row · session->n_rounds + round] */
    uint32_t n;
};

enum { AB_VIEW_STRIPS = 4 };

/* Lists are of what is shown, in the order of the ranking; courses in that of the session. */
struct ab_view_pictures {
    struct ab_view_footprint *footprints; /* of a replay or workload */
    uint32_t n_footprints;
    double footprints_most;
    struct ab_view_map *maps;
    uint32_t n_maps;
    struct ab_view_span maps_y; /* of all of them */
    struct ab_view_course *courses;
    uint32_t n_courses;
    struct ab_point courses_end;
    struct ab_view_course live; /* of one of them, for all do the same; n 0 = not known */
    struct ab_view_strip strips[AB_VIEW_STRIPS];
    unsigned n_strips;
};

struct ab_view;
/* The session, the ranking and the phases of the view are made. */
void ab_view_pictures_make(const struct ab_view *v, struct ab_view_pictures *out);
void ab_view_pictures_fini(struct ab_view_pictures *p);

/* Latency by percentile: the values of a histogram from the fastest call to the slowest, evenly
 * spaced in -log10(1 - q), as few points as show them. */

enum { AB_VIEW_CURVE_POINTS = 300, AB_VIEW_NINES_MOST = 7 /* 99.99999 % */ };

struct ab_latency_curve {
    struct ab_point points[AB_VIEW_CURVE_POINTS + 2]; /* x: q, y: ns */
    size_t n;
    size_t n_sure; /* of these: at least AB_QUANTILE_MIN_SAMPLES_BEHIND samples are slower */
};

/* At most n_points (AB_VIEW_CURVE_POINTS) points, none below `least`; n = 0 where nothing was timed. Values as
 * ab_hdr_quantile. */
void ab_latency_curve_make(const struct ab_hdr *hdr, size_t n_points, double least,
                           struct ab_latency_curve *out);

#endif
