/* SPDX-License-Identifier: MIT
 *
 * The page about latency over time: a heat map for each back end, of calls by when they ran and how
 * long they took.
 */
#include "core/text.h"
#include "report/html/plot.h"
#include "report/html/report_pages.h"
#include "result/shown.h"

#include <math.h>

#define LEAST_SHARE 1e-4 /* share of a column's calls that the faintest shade stands for */

static void put_map(struct ab_html *h, const struct ab_session *s, const struct ab_view_map *map,
                    const struct ab_view_span *y)
{
    char label[sizeof s->backends->name + 32];
    struct ab_plot plot = {
        .x = {AB_SCALE_LINEAR, 0, map->x_end, "operations", AB_AXIS_COUNT},
        .y = {AB_SCALE_LOG, y->low, y->high, "time of one call", AB_AXIS_TIME},
        .is_x_exact = true,
        .is_y_exact = true,
    };
    ab_plot_begin(
        &plot, h,
        &(struct ab_figure){
            .title = ab_format_backend(label, sizeof label, &s->backends[map->backend]),
            .description = "How many calls took how long, over the operations of the work",
            .why = "Each column is a stretch of the work. The darker a cell, the larger "
                   "the share of the calls in that stretch which took that long; the "
                   "scale is logarithmic, from 0.01 % to all. Of all rounds and kinds of "
                   "calls. All pictures have one scale.",
            .words = (const char *const[]){"op clock", "distribution", NULL},
            .height = 240});
    if (isfinite(s->timer.floor_ns) && s->timer.floor_ns > plot.y.low)
        ab_plot_band_y(&plot, AB_COLOUR_FLOOR, plot.y.low, s->timer.floor_ns,
                       "below the clock's floor");
    ab_heat_cells(&plot, map->cells, map->n, LEAST_SHARE, 1);
    ab_plot_end(&plot);
}

static void put_key(struct ab_html *h, double floor_ns)
{
    const struct ab_colour_info *heat = &ab_colours[AB_COLOUR_HEAT];
    char floor_text[64], text[100];
    ab_html_f(
        h,
        "<ul class=\"legend\"><li><span class=\"name\">share of the calls in a stretch: %.2f %%<svg class=\"swatch\" "
        "viewBox=\"0 0 %d 10\" aria-hidden=\"true\"><g class=\"%s\" color=\"%s\" "
        "fill=\"currentColor\">",
        100 * LEAST_SHARE, 6 * AB_HEAT_SHADES, heat->class_name, heat->light);
    for (unsigned i = 0; i < AB_HEAT_SHADES; i++)
        ab_html_f(h, "<rect x=\"%u\" width=\"6\" height=\"10\" fill-opacity=\"%.2f\"/>", 6 * i,
                  (i + 1.0) / AB_HEAT_SHADES);
    ab_html_f(h, "</g></svg>100 %%</span></li>");
    if (isfinite(floor_ns)) {
        AB_FIT(text, "below the clock's floor (%s)",
               ab_axis_tick(floor_text, sizeof floor_text, AB_AXIS_TIME, floor_ns));
        ab_page_key(h, AB_COLOUR_FLOOR, text);
    }
    ab_html_f(h, "</ul>\n");
}

void ab_page_over_time(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_view_pictures *all = ab_view_pictures(report->view);
    if (all->n_maps == 0)
        return;
    put_key(h, report->session->timer.floor_ns);
    ab_page_figures_begin(h);
    for (uint32_t i = 0; i < all->n_maps; i++)
        put_map(h, report->session, &all->maps[i], &all->maps_y);
    ab_page_figures_end(h);
}
