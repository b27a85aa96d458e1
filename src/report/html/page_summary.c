/* SPDX-License-Identifier: MIT
 *
 * The first page: the verdict, the ranking, speed against memory, warnings, gates.
 */
#include "core/text.h"
#include "report/html/report_pages.h"

#include "core/alloc.h"
#include "result/shown.h"
#include "stats/check.h"
#include "stats/metric.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- speed against memory ---- */

static void set_axes(struct ab_plot *p, const struct ab_view_ranking *r, const char *title)
{
    bool is_ns = strcmp(ab_metric_unit(&r->subject.metric), "ns") == 0;
    p->x = (struct ab_axis){.scale = AB_SCALE_LOG,
                            .unit = is_ns ? AB_AXIS_TIME : AB_AXIS_COUNT,
                            .low = r->figure_ends.low,
                            .high = r->figure_ends.high,
                            .title = title};
    p->y = (struct ab_axis){.unit = AB_AXIS_BYTES,
                            .high = r->peak_ends.high,
                            .title = "peak of resident memory (lower is leaner)"};
    p->y.high *= 1.08;
}

static void draw_front(struct ab_plot *p, const struct ab_view_ranking *r)
{
    struct ab_point *points = ab_alloc_zeroed(r->n_rows + 1u, sizeof points[0]);
    size_t n = 0;
    for (uint32_t i = 0; i < r->n_ranked; i++)
        if (r->rows[i].is_front)
            points[n++] = (struct ab_point){r->rows[i].figure.median, r->rows[i].peak_bytes};
    ab_plot_front(p, points, n);
    free(points);
}

static void draw_dots(struct ab_plot *p, const struct ab_report *report)
{
    const struct ab_view_ranking *r = &report->view->ranking;
    for (unsigned is_label = 0; is_label < 2; is_label++)
        for (uint32_t i = 0; i < r->n_ranked; i++) {
            const struct ab_view_rank *row = &r->rows[i];
            struct ab_paint paint = ab_report_paint(report, row->name);
            struct ab_point at = {row->figure.median, row->peak_bytes};
            char cut[160];
            if (!row->is_placed)
                continue;
            if (is_label > 0) {
                paint.title = NULL;
                ab_plot_label(p, paint, at, ab_page_cut(cut, sizeof cut, row->name, 28));
                continue;
            }
            ab_plot_error_x(p, paint, row->figure_range.low, row->figure_range.high, at.y);
            ab_plot_error_y(p, paint, at.x, row->peak_range.low, row->peak_range.high);
            ab_plot_mark(p, paint, at, 5);
            ab_plot_keep_free(p, at, 6);
        }
}

static void put_scatter(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_view_ranking *r = &report->view->ranking;
    struct ab_plot p = {0};
    char title[160], description[160];
    if (!(r->figure_ends.high > 0))
        return;
    bool is_left = ab_metric_better(&r->subject.metric) != AB_FIELD_HIGHER;
    AB_FIT(title, "%s, log scale (%s is %s)", r->subject.noun, is_left ? "left" : "right",
           r->subject.is_named ? "better" : "faster");
    AB_FIT(description, "%c%s and peak of resident memory of each allocator",
           r->subject.is_named ? r->subject.noun[0] : toupper((unsigned char)r->subject.noun[0]),
           &r->subject.noun[1]);
    set_axes(&p, r, title);
    ab_plot_begin(
        &p, h,
        &(struct ab_figure){
            .title = "Speed against memory",
            .description = description,
            .why = "Bars: 90 % intervals of the difference from the base. Dashed: those that no "
                   "other beats in both.",
            .words = (const char *const[]){"whole run", "x live", "interval", NULL},
            .height = 260,
            .size = AB_FIGURE_MIDDLE});
    draw_front(&p, r);
    draw_dots(&p, report);
    ab_plot_end(&p);
}

/* ---- sentences ---- */

static void put_headline(struct ab_html *h, const struct ab_view *v)
{
    const struct ab_view_sentences *said = ab_view_sentences(v);
    ab_html_f(h, "<p class=\"soft\">%s</p>\n<div class=\"verdict\">\n", said->title);
    for (unsigned i = 0; i < said->headline.n_sentences; i++)
        ab_html_f(h, "<p>%s</p>\n", said->headline.sentences[i]);
    ab_html_f(h, "</div>\n");
}

static void put_warnings(struct ab_html *h, const struct ab_view *v)
{
    const struct ab_view_sentences *said = ab_view_sentences(v);
    for (size_t i = 0; i < said->warnings.n; i++) {
        const struct ab_view_warning *w = &said->warnings.items[i];
        bool is_bad = w->severity == AB_VIEW_FAILURE;
        if (strcmp(w->id, "caveat") == 0)
            continue; /* caveats are not relevant to this work; `verify` and run -v report them */
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
    const struct ab_view_sentences *said = ab_view_sentences(v);
    if (said->next.n == 0)
        return;
    ab_html_f(h, "<h3>Next</h3>\n<ul>\n");
    for (unsigned i = 0; i < said->next.n; i++)
        ab_html_f(h, "<li><code>%s</code> <span class=\"soft\">%s</span></li>\n",
                  said->next.items[i].command, said->next.items[i].why);
    ab_html_f(h, "</ul>\n");
}

void ab_page_summary(struct ab_html *h, const struct ab_report *report)
{
    put_headline(h, report->view);
    ab_page_topics(h, report, AB_PAGE_SUMMARY, NULL, NULL);
    ab_page_names(h, report->session);
    if (report->session->n_combinations == 0) { /* with combinations, the amounts of work differ */
        ab_page_figures_begin(h);
        put_scatter(h, report);
        ab_page_figures_end(h);
    }
    put_warnings(h, report->view);
    put_gates(h, report->session);
    put_next(h, report->view);
}
