/* SPDX-License-Identifier: MIT
 *
 * The page about the slowest calls, matched across rounds: their position in the work, and in how
 * many rounds they were slow.
 */
#include "core/text.h"
#include "report/html/report_pages.h"

#include "answer/answer.h"
#include "stats/metric.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { MARKS_MOST = 40 }; /* marks of each kind for each back end */

/* ---- positions in the work ---- */

static void find_range(const struct ab_session *s, const struct ab_view_slowest *x, double *low,
                       double *high)
{
    for (uint32_t i = 0; i < x->n_calls; i++)
        if (ab_view_shows(s, x->calls[i].backend) && x->calls[i].ns > 0) {
            *low = fmin(*low, x->calls[i].ns);
            *high = fmax(*high, x->calls[i].ns);
        }
}

static void put_repeated(struct ab_plot *plot, const struct ab_report *report,
                         const struct ab_view_slowest *x, const struct ab_view_slow_call *c)
{
    const struct ab_backend_info *b = &report->session->backends[c->backend];
    struct ab_paint paint = ab_report_paint(report, b->name);
    char title[256], time[48];
    AB_FIT(title, "%s: %s at %" PRIu32 ", %s, %" PRIu32 " of %" PRIu32, ab_backend_label(b),
           ab_result_op_name(c->op), c->position,
           ab_axis_text(time, sizeof time, AB_AXIS_TIME, c->ns), c->n_seen, x->n_rounds);
    paint.title = title;
    ab_plot_mark(plot, paint, (struct ab_point){c->position, c->ns}, 4);
}

/* Draws repeated calls as large marks, single ones as points of one path. */
static void put_marks(struct ab_plot *plot, const struct ab_report *report,
                      const struct ab_view_slowest *x, uint32_t backend)
{
    struct ab_point dots[2 * MARKS_MOST];
    struct ab_paint paint = ab_report_paint(report, report->session->backends[backend].name);
    unsigned n_repeated = 0, n_dots = 0;
    for (uint32_t i = 0; i < x->n_calls; i++) {
        const struct ab_view_slow_call *c = &x->calls[i];
        if (c->backend != backend || !ab_view_shows(report->session, backend) || !(c->ns > 0))
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
    struct ab_paint *legend = ab_page_paints(report, &n_legend);
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

void ab_page_slowest(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_view_slowest *x = ab_view_slowest(report->view);
    bool is_any = false;
    for (uint32_t i = 0; i < x->n_calls; i++)
        is_any = is_any || ab_view_shows(report->session, x->calls[i].backend);
    if (!is_any)
        return;
    ab_html_f(h,
              "<p>Every call of the tail pass is timed; each round keeps its %d slowest of a phase "
              "and kind. A call that is slow at the same place of the work in several rounds is "
              "the allocator's; one that is slow in one round only may have been interrupted: "
              "a small dot, gray in the table.</p>\n",
              AB_WORST_MAX);
    put_picture(h, report, x);
    ab_page_topics(h, report, AB_PAGE_SLOWEST, NULL, NULL);
}
