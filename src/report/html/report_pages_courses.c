/* SPDX-License-Identifier: MIT
 *
 * Draws resident memory over seconds, minutes and hours, for a real program or work that has times.
 */
#include "report/html/report_pages.h"

#include <stdlib.h>

void ab_page_courses(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_view_pictures *all = ab_view_pictures(report->view);
    bool is_exec = ab_session_is_exec(report->session);
    struct ab_plot p = {
        .x = {.high = all->courses_end.x,
              .unit = AB_AXIS_TIME,
              .title = is_exec ? "time since the start of the program" : "time of the work"},
        .y = {.high = all->courses_end.y,
              .unit = AB_AXIS_BYTES,
              .title = "resident memory, first round"}};
    if (!(p.x.high > 0) || !(p.y.high > 0))
        return;
    size_t n_legend;
    struct ab_paint *legend = ab_page_paints(report, &n_legend);
    ab_page_legend(h, report);
    ab_plot_begin(
        &p, h,
        &(struct ab_figure){.title = "Resident memory over time",
                            .description = is_exec ? "Resident memory of all processes of the "
                                                     "program over its time, under each allocator"
                                                   : "Resident memory over the time of the work, "
                                                     "with each allocator",
                            .why = is_exec ? "Resident memory of the program, including its code "
                                             "and libraries, sampled every 10 ms. Of several "
                                             "samples the largest is drawn."
                                           : "Memory that the allocator keeps resident while "
                                             "time passes as in the work; grey: live bytes. Of "
                                             "several readings the largest is drawn.",
                            .size = AB_FIGURE_MIDDLE,
                            .legend = legend,
                            .n_legend = n_legend});
    if (all->live.n > 1)
        ab_plot_line(&p, (struct ab_paint){.colour = AB_COLOUR_SOFT, .title = "live"},
                     all->live.points, all->live.n);
    for (uint32_t i = 0; i < all->n_courses; i++) {
        const struct ab_view_course *c = &all->courses[i];
        ab_plot_line(&p, ab_report_paint(report, report->session->backends[c->backend].name),
                     c->points, c->n);
    }
    ab_plot_end(&p);
    free(legend);
}
