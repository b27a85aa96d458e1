/* SPDX-License-Identifier: MIT
 *
 * The first page: the verdict, the ranking, speed against memory, what to beware of, gates.
 */
#include "report/html/pages.h"

#include "core/memory.h"
#include "report/format.h"
#include "stats/check.h"
#include "stats/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the ranking ---- */

/* The columns of the terminal. */
static void put_ranking(struct ab_html *h, const struct ab_report *report)
{
    bool is_exec = ab_session_is_exec(report->session);
    struct ab_grid g;
    ab_ranking_grid(report->view, &g);
    ab_page_grid(h, report,
                 is_exec ? "Ranking by wall time" : "Ranking by the time of the whole run", &g);
    ab_grid_fini(&g);
    ab_html_f(h, "<p class=\"soft\">~: not distinguishable from the base. In brackets: 90 %% "
                 "interval. ");
    ab_html_f(h, is_exec ? "peak: most resident memory of all its processes.</p>\n"
                         : "p99 and p99.9: of the calls that return a block; &lt;: below what the "
                           "clock resolves. peak: largest increase of resident memory.</p>\n");
}

/* ---- speed against memory ---- */

struct dot {
    struct ab_point at;
    const struct ab_view_rank *rank;
};

static int by_time(const void *a, const void *b)
{
    const struct dot *x = a, *y = b;
    return (x->at.x > y->at.x) - (x->at.x < y->at.x);
}

/* Those with both numbers, by time. */
static uint32_t collect_dots(const struct ab_view_ranking *r, struct dot *dots)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_ranked; i++) {
        const struct ab_view_rank *row = &r->rows[i];
        if (isfinite(row->run_ns.median) && row->run_ns.median > 0 && isfinite(row->peak_bytes))
            dots[n++] = (struct dot){{row->run_ns.median, row->peak_bytes}, row};
    }
    qsort(dots, n, sizeof dots[0], by_time);
    return n;
}

struct range {
    double low, high; /* NaN = none */
};

/* The interval of the ratio to the base, in the unit of the axis. */
static struct range time_range(const struct ab_view_ranking *r, const struct ab_view_rank *row)
{
    const struct ab_view_rank *base = ab_view_ranking_find(r, r->base);
    if (base == NULL || row->is_base || !isfinite(row->speed.low) || row->speed.low <= 0)
        return (struct range){NAN, NAN};
    return (struct range){base->run_ns.median / row->speed.high,
                          base->run_ns.median / row->speed.low};
}

static struct range peak_range(const struct ab_view_ranking *r, const struct ab_view_rank *row)
{
    const struct ab_view_rank *base = ab_view_ranking_find(r, r->base);
    if (base == NULL || row->is_base || !isfinite(row->peak_ratio.low))
        return (struct range){NAN, NAN};
    return (struct range){base->peak_bytes * row->peak_ratio.low,
                          base->peak_bytes * row->peak_ratio.high};
}

static void widen(struct ab_axis *a, struct range of)
{
    a->low = isfinite(of.low) ? fmin(a->low, of.low) : a->low;
    a->high = isfinite(of.high) ? fmax(a->high, of.high) : a->high;
}

static void set_axes(struct ab_plot *p, const struct ab_view_ranking *r, const struct dot *dots,
                     uint32_t n)
{
    p->x = (struct ab_axis){.scale = AB_SCALE_LOG,
                            .unit = AB_AXIS_TIME,
                            .low = INFINITY,
                            .title = "time of the whole run, log scale (left is faster)"};
    p->y = (struct ab_axis){.unit = AB_AXIS_BYTES,
                            .title = "peak of resident memory (lower is leaner)"};
    for (uint32_t i = 0; i < n; i++) {
        widen(&p->x, (struct range){dots[i].at.x, dots[i].at.x});
        widen(&p->y, (struct range){dots[i].at.y, dots[i].at.y});
        widen(&p->x, time_range(r, dots[i].rank));
        widen(&p->y, peak_range(r, dots[i].rank));
    }
    p->y.high *= 1.08;
}

/* Those that no other is both faster and leaner than, joined. dots are by time. */
static void draw_front(struct ab_plot *p, const struct dot *dots, uint32_t n,
                       struct ab_point *points)
{
    double least = INFINITY;
    size_t n_points = 0;
    for (uint32_t i = 0; i < n; i++)
        if (dots[i].at.y < least) {
            least = dots[i].at.y;
            points[n_points++] = dots[i].at;
        }
    if (n_points > 1)
        ab_plot_line(p,
                     (struct ab_paint){.colour = AB_COLOUR_SOFT,
                                       .dash = "4 4",
                                       .width = 1.2,
                                       .title = "no other is both faster and leaner"},
                     points, n_points);
}

static void draw_dots(struct ab_plot *p, const struct ab_report *report, const struct dot *dots,
                      uint32_t n)
{
    const struct ab_view_ranking *r = &report->view->ranking;
    for (uint32_t i = 0; i < n; i++) {
        struct ab_paint paint = ab_report_paint(report, dots[i].rank->name);
        struct range x = time_range(r, dots[i].rank), y = peak_range(r, dots[i].rank);
        ab_plot_error_x(p, paint, x.low, x.high, dots[i].at.y);
        ab_plot_error_y(p, paint, dots[i].at.x, y.low, y.high);
        ab_plot_mark(p, paint, dots[i].at, 5);
        ab_plot_keep_free(p, dots[i].at, 6);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct ab_paint paint = ab_report_paint(report, dots[i].rank->name);
        char cut[160];
        paint.title = NULL;
        ab_plot_label(p, paint, dots[i].at, ab_page_cut(cut, sizeof cut, dots[i].rank->name, 28));
    }
}

static void put_scatter(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_view_ranking *r = &report->view->ranking;
    struct dot *dots = ab_alloc_zeroed(r->n_rows + 1, sizeof dots[0]);
    struct ab_point *front = ab_alloc_zeroed(r->n_rows + 1, sizeof front[0]);
    struct ab_plot p = {0};
    uint32_t n = collect_dots(r, dots);
    if (n > 0) {
        set_axes(&p, r, dots, n);
        ab_plot_begin(&p, h,
                      &(struct ab_figure){
                          .title = "Speed against memory",
                          .description = "Time of the whole run and peak of resident memory of "
                                         "each allocator",
                          .why = "Bars: 90 % intervals of the difference from the base. Dashed: "
                                 "those that no other beats in both.",
                          .words = (const char *const[]){"whole run", "x live", "interval", NULL},
                          .height = 260,
                          .size = AB_FIGURE_MIDDLE});
        draw_front(&p, dots, n, front);
        draw_dots(&p, report, dots, n);
        ab_plot_end(&p);
    }
    free(dots);
    free(front);
}

/* ---- sentences ---- */

static void put_headline(struct ab_html *h, const struct ab_view *v)
{
    ab_html_f(h, "<p class=\"soft\">%s</p>\n<div class=\"verdict\">\n", v->title);
    for (unsigned i = 0; i < v->headline.n_sentences; i++)
        ab_html_f(h, "<p>%s</p>\n", v->headline.sentences[i]);
    ab_html_f(h, "</div>\n");
}

static void put_warnings(struct ab_html *h, const struct ab_view *v)
{
    for (size_t i = 0; i < v->warnings.n; i++) {
        const struct ab_view_warning *w = &v->warnings.items[i];
        bool is_bad = w->severity == AB_VIEW_FAILURE;
        if (strcmp(w->id, "caveat") == 0)
            continue; /* of no concern to this work: `verify` and run -v say it */
        ab_html_f(h, "<div class=\"notice%s\"><strong>%s</strong> ", is_bad ? " is-bad" : "",
                  w->severity == AB_VIEW_NOTE      ? "Note:"
                  : w->severity == AB_VIEW_WARNING ? "Warning:"
                                                   : "Failed:");
        ab_html_f(h, "%s.", w->text);
        if (w->remedy[0] != 0)
            ab_html_f(h, "<br>What helps: %s", w->remedy);
        ab_html_f(h, "</div>\n");
    }
}

static enum ab_colour gate_colour(enum ab_verdict verdict)
{
    return verdict == AB_VERDICT_PASS                                          ? AB_COLOUR_GOOD
           : verdict == AB_VERDICT_FAIL || verdict == AB_VERDICT_NOT_EVALUATED ? AB_COLOUR_BAD
                                                                               : AB_COLOUR_WARN;
}

static void put_gates(struct ab_html *h, const struct ab_session *s)
{
    char value[AB_CELL_BYTES], unit[160];
    if (s->n_gates == 0)
        return;
    ab_html_f(h, "<h3>Gates</h3>\n<ul class=\"gates\">\n");
    for (uint32_t i = 0; i < s->n_gates; i++) {
        const struct ab_checked *g = &s->gates[i];
        ab_html_f(h, "<li class=\"%s\"><strong>%s</strong> <code class=\"ink\">%s</code> ",
                  ab_colours[gate_colour(g->verdict)].class_name, ab_check_word(g), g->text);
        if (g->backend != NULL)
            ab_html_f(h, "<span class=\"ink\">%s</span> ", g->backend);
        if (isfinite(g->effect.ratio))
            ab_html_f(h, "<span class=\"ink\">%s</span>",
                      ab_format_value(value, g->effect.ratio, ab_check_unit(g, unit, sizeof unit)));
        ab_html_f(h, "<span class=\"soft\">%s</span></li>\n", g->reason);
    }
    ab_html_f(h, "</ul>\n");
}

static void put_next(struct ab_html *h, const struct ab_view *v)
{
    if (v->next.n == 0)
        return;
    ab_html_f(h, "<h3>Next</h3>\n<ul>\n");
    for (unsigned i = 0; i < v->next.n; i++)
        ab_html_f(h, "<li><code>%s</code> <span class=\"soft\">%s</span></li>\n",
                  v->next.items[i].command, v->next.items[i].why);
    ab_html_f(h, "</ul>\n");
}

void ab_page_summary(struct ab_html *h, const struct ab_report *report)
{
    put_headline(h, report->view);
    put_ranking(h, report);
    if (report->session->n_combinations == 0) { /* else there is no one amount of work */
        ab_page_figures_begin(h);
        put_scatter(h, report);
        ab_page_figures_end(h);
    }
    put_warnings(h, report->view);
    put_gates(h, report->session);
    put_next(h, report->view);
}
