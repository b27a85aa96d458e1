/* SPDX-License-Identifier: MIT
 *
 * Draws the cells of a heat map, shade by shade.
 */
#include "report/html/pages/heat_cells.h"

#include <math.h>

/* 1 … AB_HEAT_SHADES; 0 = not drawn. */
static unsigned shade_of(double share, double least, double most)
{
    if (!(share > 0))
        return 0;
    double at = most > least ? log(share / least) / log(most / least) : 1;
    return 1 + (unsigned)lround(fmin(fmax(at, 0), 1) * (AB_HEAT_SHADES - 1));
}

static void put_cell(struct ab_plot *p, const struct ab_heat_cell *c)
{
    double left = ab_axis_at(&p->x, c->x0), right = ab_axis_at(&p->x, c->x1);
    double bottom = ab_axis_at(&p->y, c->y0), top = ab_axis_at(&p->y, c->y1);
    if (right > left && bottom > top)
        ab_html_f(p->h, "M%.1f %.1fh%.1fv%.1fh%.1fz", left, top, right - left, bottom - top,
                  left - right);
}

void ab_heat_cells(struct ab_plot *p, const struct ab_heat_cell *cells, size_t n, double least,
                   double most)
{
    const struct ab_colour_info *colour = &ab_colours[AB_COLOUR_HEAT];
    ab_html_f(p->h, "<g class=\"%s\" color=\"%s\" fill=\"currentColor\">\n", colour->class_name,
              colour->light);
    for (unsigned shade = 1; shade <= AB_HEAT_SHADES; shade++) {
        bool is_any = false;
        for (size_t i = 0; i < n; i++) {
            if (shade_of(cells[i].share, least, most) != shade)
                continue;
            if (!is_any)
                ab_html_f(p->h, "<path fill-opacity=\"%.2f\" d=\"", (double)shade / AB_HEAT_SHADES);
            is_any = true;
            put_cell(p, &cells[i]);
        }
        if (is_any)
            ab_html_f(p->h, "\"/>\n");
    }
    ab_html_f(p->h, "</g>\n");
}
