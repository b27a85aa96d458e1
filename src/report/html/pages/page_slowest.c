/* SPDX-License-Identifier: MIT
 *
 * The slowest calls, joined over the rounds: where they are in the work, and in how many rounds the
 * same one was slow.
 */
#include "report/html/pages/pages.h"

#include "core/units_show.h"
#include "report/view/view.h"
#include "stats/aggregate.h"
#include "stats/metric.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Calls in a table, of each back end; marks of a picture, of each back end. */
enum { ROWS_MOST = 6, MARKS_MOST = 40 };

/* ---- where they are ---- */

static void find_range(const struct ab_session *s, const struct ab_view_slowest *x, double *low,
                       double *high)
{
    for (uint32_t i = 0; i < x->n_calls; i++)
        if (ab_page_shows(s, x->calls[i].backend) && x->calls[i].ns > 0) {
            *low = fmin(*low, x->calls[i].ns);
            *high = fmax(*high, x->calls[i].ns);
        }
}

static void put_repeated(struct ab_plot *plot, const struct ab_report *report,
                         const struct ab_view_slowest *x, const struct ab_view_slow_call *c)
{
    const char *name = report->session->backends[c->backend].name;
    struct ab_paint paint = ab_report_paint(report, name);
    char title[256], time[48];
    snprintf(title, sizeof title, "%.100s: %s at %" PRIu32 ", %s, %" PRIu32 " of %" PRIu32, name,
             ab_result_op_name(c->op), c->position,
             ab_axis_text(time, sizeof time, AB_AXIS_TIME, c->ns), c->n_seen, x->n_rounds);
    paint.title = title;
    ab_plot_mark(plot, paint, (struct ab_point){c->position, c->ns}, 4);
}

/* Calls that repeat are large, single ones points of one path. */
static void put_marks(struct ab_plot *plot, const struct ab_report *report,
                      const struct ab_view_slowest *x, uint32_t backend)
{
    struct ab_point dots[2 * MARKS_MOST];
    struct ab_paint paint = ab_report_paint(report, report->session->backends[backend].name);
    unsigned n_repeated = 0, n_dots = 0;
    for (uint32_t i = 0; i < x->n_calls; i++) {
        const struct ab_view_slow_call *c = &x->calls[i];
        if (c->backend != backend || !ab_page_shows(report->session, backend) || !(c->ns > 0))
            continue;
        if (c->repeats) {
            if (n_repeated++ < MARKS_MOST)
                put_repeated(plot, report, x, c);
        } else if (n_dots < MARKS_MOST)
            dots[n_dots++] = (struct ab_point){c->position, c->ns};
    }
    ab_plot_dots(plot, paint, dots, n_dots, 2.6);
}

static void put_picture(struct ab_html *h, const struct ab_report *report,
                        const struct ab_view_slowest *x)
{
    const struct ab_session *s = report->session;
    struct ab_plot plot = {
        .x = {AB_SCALE_LINEAR, 0, (double)s->n_tape_ops, "operations", AB_AXIS_COUNT},
        .y = {AB_SCALE_LOG, INFINITY, 0, "time of the call", AB_AXIS_TIME},
        .is_x_exact = true,
    };
    size_t n_legend;
    struct ab_paint *legend = ab_page_paints(h, report, &n_legend);
    find_range(s, x, &plot.y.low, &plot.y.high);
    ab_page_legend(h, report);
    ab_plot_begin(&plot, h,
                  &(struct ab_figure){
                      .title = "Where the slowest calls are",
                      .description = "The slowest calls of each allocator, by their place in the "
                                     "work and their time",
                      .why = "Large dots: the same call was among the slowest in two rounds or "
                             "more, so it is the allocator's work. Small dots: in one round only, "
                             "so it may have been interrupted.",
                      .words = (const char *const[]){"slowest calls", "preemption", NULL},
                      .size = AB_FIGURE_WIDE,
                      .legend = legend,
                      .n_legend = n_legend});
    for (uint32_t b = 0; b < s->n_backends; b++)
        put_marks(&plot, report, x, b);
    ab_plot_end(&plot);
    free(legend);
}

/* ---- which they are ---- */

static void put_row(struct ab_html *h, const struct ab_report *report,
                    const struct ab_view_slowest *x, const struct ab_view_slow_call *c)
{
    char time[48], most[48], size[32], where[320];
    const struct ab_session *s = report->session;
    const char *phase = s->phases[c->phase];
    const struct ab_iterations *each = ab_session_iterations(s, phase);
    if (each != NULL && c->iteration > 0)
        snprintf(where, sizeof where, "%.200s, %.60s %u", phase, each->name, c->iteration);
    else
        snprintf(where, sizeof where, "%.200s", phase);
    ab_html_f(h, "<tr%s><th scope=\"row\">", c->repeats ? "" : " class=\"few\"");
    ab_page_backend(h, report, c->backend);
    ab_html_f(h,
              "</th><td>%s</td><td class=\"n\">%s</td><td>%s</td><td class=\"n\">%u</td>"
              "<td class=\"n\">%u of %u</td><td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n",
              ab_result_op_name(c->op),
              c->size == AB_SIZE_UNKNOWN ? "n/a"
                                         : ab_units_bytes(size, sizeof size, (double)c->size),
              where, c->position, c->n_seen, x->n_rounds,
              ab_axis_text(time, sizeof time, AB_AXIS_TIME, c->ns),
              ab_axis_text(most, sizeof most, AB_AXIS_TIME, c->max_ns));
}

static void put_table(struct ab_html *h, const struct ab_report *report,
                      const struct ab_view_slowest *x)
{
    static const char *const columns[] = {"allocator", "call",    "#size",    "phase", "#place",
                                          "#seen in",  "#median", "#slowest", NULL};
    ab_page_table_begin(h, "Slowest calls (repeating ones first)", columns);
    for (uint32_t place = 0; place < report->session->n_backends; place++) {
        uint32_t b = ab_page_ranked(report, place), n = 0;
        for (uint32_t i = 0; i < x->n_calls && ab_page_shows(report->session, b); i++)
            if (x->calls[i].backend == b && n++ < ROWS_MOST)
                put_row(h, report, x, &x->calls[i]);
    }
    ab_page_table_end(h);
}

void ab_page_slowest(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_view_slowest *x = &report->view->slowest;
    bool is_any = false;
    for (uint32_t i = 0; i < x->n_calls; i++)
        is_any = is_any || ab_page_shows(report->session, x->calls[i].backend);
    if (!is_any)
        return;
    ab_html_f(h,
              "<p>Every call of the tail pass is timed; each round keeps its %d slowest of a phase "
              "and kind. A call that is slow at the same place of the work in several rounds is "
              "the allocator's; one that is slow in one round only may have been interrupted: "
              "a small dot, gray in the table.</p>\n",
              AB_WORST_MAX);
    put_picture(h, report, x);
    put_table(h, report, x);
}
