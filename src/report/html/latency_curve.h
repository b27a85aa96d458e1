/* SPDX-License-Identifier: MIT
 *
 * Panels of curves of latency by percentile.
 */
#ifndef AB_REPORT_HTML_LATENCY_CURVE_H
#define AB_REPORT_HTML_LATENCY_CURVE_H

#include "report/html/pages.h"

enum { AB_CURVE_POINTS_LEAST = 24 };

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
