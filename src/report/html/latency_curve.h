/* SPDX-License-Identifier: MIT
 *
 * Panels with latency curves by percentile.
 */
#ifndef AB_REPORT_HTML_LATENCY_CURVE_H
#define AB_REPORT_HTML_LATENCY_CURVE_H

#include "report/html/report_pages.h"

enum { AB_CURVE_POINTS_LEAST = 24 };

struct ab_latency_side { /* a session whose back ends are drawn */
    const struct ab_session *session;
    double width;     /* width of the curves of this session, px; 0 = default */
    const char *name; /* prefix of the back end's name, such as "base"; NULL = none */
};

/* Draws the curves of one op in one phase. Writes nothing if nothing was timed. */
void ab_latency_panel(struct ab_html *h, const struct ab_report *report,
                      const struct ab_latency_side *sides, size_t n_sides, const char *phase,
                      unsigned op);
/* Returns the number of points per curve of calls or iterations, such that the report stays
 * small. */
size_t ab_latency_points(const struct ab_session *s);

#endif
