/* SPDX-License-Identifier: MIT
 *
 * Latency by percentile: the values of a histogram from the fastest call to the slowest, evenly
 * spaced in -log10(1 - q), as few points as show them; and panels of such curves.
 */
#ifndef AB_REPORT_HTML_LATENCY_CURVE_H
#define AB_REPORT_HTML_LATENCY_CURVE_H

#include "report/html/pages.h"
#include "result/hdr.h"

enum { AB_CURVE_POINTS = 300, AB_CURVE_POINTS_LEAST = 24 };

struct ab_latency_curve {
    struct ab_point points[AB_CURVE_POINTS + 2]; /* x: q, y: ns */
    size_t n;
    size_t n_sure; /* of these: at least AB_QUANTILE_MIN_SAMPLES_BEHIND samples are slower */
};

/* At most n_points (AB_CURVE_POINTS) points; n = 0 where nothing was timed. Values as
 * ab_hdr_quantile. */
void ab_latency_curve_make(const struct ab_hdr *hdr, size_t n_points, struct ab_latency_curve *out);

struct ab_latency_side { /* whose back ends are drawn */
    const struct ab_session *session;
    double width;     /* of all curves, px; 0 = the usual one */
    const char *name; /* before the name of the back end: "base"; NULL = nothing */
};

/* The curves of one op in one phase. Writes nothing where nothing was timed. */
void ab_latency_panel(struct ab_html *h, const struct ab_report *report,
                      const struct ab_latency_side *sides, size_t n_sides, const char *phase,
                      unsigned op);
/* How many points a curve has, of calls or of iterations, so that those of a whole report stay small. */
size_t ab_latency_points(const struct ab_session *s);

#endif
