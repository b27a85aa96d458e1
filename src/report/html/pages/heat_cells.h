/* SPDX-License-Identifier: MIT
 *
 * Rectangles of a picture in a few shades of one colour: for maps with thousands of cells, which
 * are written as one path a shade.
 */
#ifndef AB_REPORT_HTML_PAGES_HEAT_CELLS_H
#define AB_REPORT_HTML_PAGES_HEAT_CELLS_H

#include "report/html/plot.h"

enum { AB_HEAT_SHADES = 6 };

struct ab_heat_cell {
    double x0, x1, y0, y1; /* values of the axes */
    double share;          /* 0 … 1, shaded by its logarithm; 0 is not drawn */
};

/* The darkest shade is a share of `most`, the faintest one of `least` and below. */
void ab_heat_cells(struct ab_plot *p, const struct ab_heat_cell *cells, size_t n, double least,
                   double most);

#endif
