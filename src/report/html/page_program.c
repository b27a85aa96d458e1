/* SPDX-License-Identifier: MIT
 *
 * The page about a real program under each allocator: resident memory over time, every run of every
 * round, other numbers of the runs, the replay's prediction, and the allocators that served it.
 */
#include "report/html/report_pages.h"

#include "answer/inside_view.h"
#include "answer/instr_view.h"

#include <math.h>
#include <stdio.h>

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
    snprintf(description, sizeof description, "%s of each run, in a row for each allocator",
             strip->title);
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
    const struct ab_view_pictures *all = &report->view->pictures;
    ab_html_f(h, "<h3>Every round</h3>\n");
    ab_page_figures_begin(h);
    for (unsigned i = 0; i < all->n_strips; i++)
        put_strip(h, report, &all->strips[i]);
    ab_page_figures_end(h);
}

/* ---- numbers ---- */

static void put_numbers(struct ab_html *h, const struct ab_report *report)
{
    const uint32_t base = report->view->ranking.base;
    struct ab_grid g;
    ab_program_grid(report->view, AB_PROGRAM_COLUMNS, &g);
    if (g.n_rows > 0) {
        put_strips(h, report);
        ab_page_grid(h, report, "What else a run took", &g);
        ab_html_f(h, "<p class=\"soft\">Medians of the rounds");
        if (base != UINT32_MAX && g.n_rows > 1)
            ab_html_f(h,
                      "; below them how much more or less than under %s, with the 90 %% "
                      "interval of the pairs of rounds. ~: no clear difference",
                      ab_backend_label(&report->session->backends[base]));
        ab_html_f(h, ".</p>\n");
    }
    ab_grid_fini(&g);
}

/* ---- the replay's prediction ---- */

static void put_prediction(struct ab_html *h, const struct ab_report *report)
{
    struct ab_grid g;
    if (ab_program_prediction_grid(report->view, &g)) {
        ab_page_grid(h, report, "Beside the replay of the trace, ns a call", &g);
        ab_html_f(
            h,
            "<p class=\"soft\">How much more (+) or less (-) a call costs than with %s, with "
            "90 %% intervals: as two replays predict it, from a warm one, with the allocator "
            "always in the caches, to a cold one, with other code between its calls, as the calls in the program take "
            "it, and as the whole program has it, from its CPU time by the calls in the trace. Not "
            "measurable: the interval inside contains 0.</p>\n",
            ab_backend_label(&report->session->backends[report->view->ranking.base]));
    }
    ab_grid_fini(&g);
}

/* ---- inside and outside of the allocator ---- */

static void put_inside(struct ab_html *h, const struct ab_report *report)
{
    struct ab_grid g;
    char buf[800];
    bool has_rows = ab_inside_columns(report->view, &g);
    if (has_rows)
        ab_page_grid(h, report, "CPU time in malloc and outside of it", &g);
    for (uint32_t i = 0; has_rows && i < report->view->ranking.n_rows; i++) {
        const char *sentence = ab_inside_sentence(report->view, i, buf, sizeof buf);
        if (sentence != NULL)
            ab_html_f(h, "<p>%s</p>\n", sentence);
    }
    if (has_rows)
        ab_html_f(h,
                  "<p class=\"soft\">Medians of the rounds; below them the difference to the base "
                  "with its 90 %% interval. %s</p>\n",
                  ab_inside_check(report->view, buf, sizeof buf));
    ab_grid_fini(&g);
    if (ab_call_sites_grid(report->view, &g))
        ab_page_grid(h, report, "Calls by the place that makes them, means of the rounds", &g);
    ab_grid_fini(&g);
    for (unsigned op = 0; op < AB_OP_ALL; op++) {
        snprintf(buf, sizeof buf, "Calls of %s in the program", ab_result_op_name(op));
        if (ab_inside_calls_grid(report->view, op, &g))
            ab_page_grid(h, report, buf, &g);
        ab_grid_fini(&g);
    }
}

static void put_counts(struct ab_html *h, const struct ab_report *report)
{
    struct ab_grid g;
    if (ab_program_instr_grid(report->view, &g))
        ab_page_grid(h, report, "Counted under callgrind", &g);
    ab_grid_fini(&g);
}

/* ---- the allocator in use ---- */

static void put_served(struct ab_html *h, const struct ab_report *report)
{
    struct ab_grid g;
    ab_conditions_grid(report->view, AB_CONDITIONS_SERVED, &g);
    ab_page_grid(h, report, g.title, &g);
    ab_grid_fini(&g);
    ab_html_f(h, "<p class=\"soft\">Proven for every process of every run that has numbers: its "
                 "mappings hold this file, and no other that defines malloc.</p>\n");
}

void ab_page_program(struct ab_html *h, const struct ab_report *report)
{
    if (!ab_session_is_exec(report->session))
        return;
    ab_page_courses(h, report);
    put_numbers(h, report);
    put_inside(h, report);
    put_counts(h, report);
    put_prediction(h, report);
    put_served(h, report);
}
