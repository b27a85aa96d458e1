/* SPDX-License-Identifier: MIT
 *
 * The page about a real program under each allocator: resident memory over time, every run of every
 * round, other numbers of the runs, the replay's prediction, and the allocators that served it.
 */
#include "core/text.h"
#include "report/html/report_pages.h"

#include <math.h>

enum { ROW_PX = 26, LEFT = 176, NAME_CHARS = 17 };

/* ---- every round ---- */

/* Draws the row of a back end, with a dot for each round. */
static void draw_rounds(struct ab_plot *p, const struct ab_report *report,
                        const struct ab_view_strip *strip, uint32_t row, double y)
{
    const struct ab_session *s = report->session;
    const struct ab_backend_info *b = &s->backends[strip->backends[row]];
    double median = strip->medians[row];
    char cut[120];
    struct ab_paint paint = ab_report_paint(report, b->name);
    ab_plot_text(p, AB_COLOUR_INK, p->x.from - 7, ab_axis_at(&p->y, y) + 4, "end",
                 ab_page_cut(cut, sizeof cut, ab_backend_label(b), NAME_CHARS));
    for (uint32_t r = 0; r < s->n_rounds; r++) {
        double of_round = strip->rounds[(size_t)row * s->n_rounds + r];
        if (isfinite(of_round))
            ab_plot_mark(p, paint, (struct ab_point){of_round, y}, 3.2);
    }
    paint.colour = AB_COLOUR_INK;
    paint.dash = NULL;
    paint.width = 2;
    paint.title = ab_grid_median(s);
    if (isfinite(median))
        ab_plot_line(p, paint, (const struct ab_point[]){{median, y - 0.36}, {median, y + 0.36}},
                     2);
}

static void put_strip(struct ab_html *h, const struct ab_report *report,
                      const struct ab_view_strip *strip)
{
    struct ab_axis x = {.low = strip->ends.low, .high = strip->ends.high};
    char description[120];
    if (strip->n == 0 || !isfinite(x.low) || !isfinite(x.high))
        return;
    double slack = fmax(0.06 * (x.high - x.low), 0.01 * x.high);
    struct ab_plot p = {.x = {.low = fmax(0, x.low - slack),
                              .high = x.high + slack,
                              .unit = strip->kind == AB_GRID_TIME ? AB_AXIS_TIME : AB_AXIS_BYTES},
                        .y = {.low = 0, .high = strip->n},
                        .is_y_exact = true};
    AB_FIT(description, "%s of each run, in a row for each allocator", strip->title);
    ab_plot_begin(&p, h,
                  &(struct ab_figure){.title = strip->title,
                                      .description = description,
                                      .why = "A dot for each round, the stroke their median. The "
                                             "axis need not begin at 0.",
                                      .height = 60 + ROW_PX * (double)strip->n,
                                      .left = LEFT,
                                      .has_no_y = true});
    for (uint32_t row = 0; row < strip->n; row++)
        draw_rounds(&p, report, strip, row, strip->n - row - 0.5);
    ab_plot_end(&p);
}

static void put_strips(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_view_pictures *all = ab_view_pictures(report->view);
    if (all->n_strips == 0 || all->strips[0].n == 0)
        return;
    ab_html_f(h, "<h3>Every round</h3>\n");
    ab_page_figures_begin(h);
    for (unsigned i = 0; i < all->n_strips; i++)
        put_strip(h, report, &all->strips[i]);
    ab_page_figures_end(h);
}

/* ---- the page ---- */

void ab_page_program(struct ab_html *h, const struct ab_report *report)
{
    if (!ab_session_is_exec(report->session))
        return;
    ab_page_courses(h, report);
    put_strips(h, report);
    for (unsigned place = AB_PAGE_PROGRAM; place <= AB_PAGE_PREDICTION; place++)
        ab_page_topics(h, report, place, NULL, NULL);
}
