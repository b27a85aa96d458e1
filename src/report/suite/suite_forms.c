/* SPDX-License-Identifier: MIT
 *
 * Writes the answer about several workloads: terminal, Markdown, CSV, JUnit, HTML.
 */
#include "report/suite/suite_forms.h"

#include "answer/suite_view.h"
#include "core/alloc.h"
#include "core/text.h"
#include "report/csv.h"
#include "report/html/frame.h"
#include "report/html/report_pages.h"
#include "report/sinks/sinks.h"
#include "report/table/table.h"
#include "result/shown.h"

#include <math.h>
#include <stdlib.h>

static const char reading[] = "Ratios to the base: below 1 is faster, or smaller.";
static const char unclear[] = "~: not clearly different. [low, high]: 90 % interval.";

/* ---- terminal ---- */

void ab_suite_table(FILE *to, const struct ab_suite *suite, struct ab_table_style style)
{
    struct ab_suite_view v;
    struct ab_legend legend = {0};
    struct ab_format_guard guard;
    ab_suite_view_make(suite, &v);
    ab_format_begin(&guard);
    ab_table_line(to, style, AB_STRONG, v.title);
    for (unsigned i = 0; i < v.n_sentences; i++)
        ab_table_prose(to, style, i == 0 ? AB_STRONG : AB_PLAIN, v.sentences[i]);
    ab_legend_grid(to, &v.matrix, style, &legend);
    ab_legend_grid(to, &v.means, style, &legend);
    ab_table_prose(to, style, AB_FAINT, ab_view_texts_addf(&v.texts, "%s %s", reading, unclear));
    ab_table_names(to, &suite->summary, style);
    if (v.n_judged[0] != 0)
        ab_table_line(to, style, AB_STRONG, ab_view_texts_addf(&v.texts, "Gates: %s", v.n_judged));
    for (size_t i = 0; i < v.n_verdicts; i++)
        ab_table_prose(to, style, AB_BAD, v.verdicts[i]);
    ab_format_end(&guard);
    ab_suite_view_fini(&v);
}

/* ---- Markdown ---- */

static void put_markdown(FILE *to, const struct ab_suite_view *v)
{
    struct ab_text t = {0};
    ab_text_add(&t, "## allocbench: ");
    ab_sinks_markdown_text(&t, v->title);
    ab_text_add(&t, "\n\n");
    for (unsigned i = 0; i < v->n_sentences; i++) {
        ab_sinks_markdown_text(&t, v->sentences[i]);
        ab_text_add(&t, "\n");
    }
    ab_text_add(&t, "\n");
    ab_sinks_markdown_grid(&t, &v->matrix);
    ab_sinks_markdown_grid(&t, &v->means);
    struct ab_view_texts names = {0};
    ab_view_names(&v->suite->summary, &names);
    for (size_t i = 0; i < names.n; i++) {
        ab_text_add(&t, "- ");
        ab_sinks_markdown_text(&t, names.items[i]);
        ab_text_add(&t, i + 1 < names.n ? "\n" : "\n\n");
    }
    ab_view_texts_fini(&names);
    ab_sinks_markdown_text(&t, reading);
    ab_text_add(&t, " ");
    ab_sinks_markdown_text(&t, unclear);
    ab_text_add(&t, "\n");
    if (v->n_judged[0] != 0) {
        ab_text_add(&t, "\nGates: ");
        ab_sinks_markdown_text(&t, v->n_judged);
        ab_text_add(&t, "\n\n");
    }
    for (size_t i = 0; i < v->n_verdicts; i++) {
        ab_text_add(&t, "- ");
        ab_sinks_markdown_text(&t, v->verdicts[i]);
        ab_text_add(&t, "\n");
    }
    fputs(t.s, to);
    ab_text_fini(&t);
}

/* ---- CSV: a line per number, as for a single result ---- */

struct line {
    const char *workload, *backend, *metric, *unit, *failure;
    double value, ratio, low, high;
    uint32_t n; /* number of workloads in a mean; 0 = not a mean */
};

static void put_number(FILE *to, double x)
{
    if (isfinite(x))
        ab_csv_number(to, x);
    fputc(',', to);
}

static void put_line(FILE *to, const struct line *l)
{
    ab_csv_text(to, l->workload);
    fputc(',', to);
    ab_csv_text(to, l->backend);
    fprintf(to, ",%s,", l->metric);
    put_number(to, l->value);
    fprintf(to, "%s,", l->unit);
    put_number(to, l->ratio);
    put_number(to, l->low);
    put_number(to, l->high);
    if (l->n > 0)
        fprintf(to, "%u", l->n);
    fputc(',', to);
    ab_csv_text(to, l->failure);
    fputs("\r\n", to);
}

void ab_suite_csv(FILE *to, const struct ab_suite *suite)
{
    const struct ab_suite_figures *f = &suite->figures;
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    static const char *const units[AB_SUITE_METRICS] = {"ns", "bytes"};
    fputs("workload,backend,metric,value,unit,ratio,low,high,n_workloads,failure\r\n", to);
    for (unsigned m = 0; m < AB_SUITE_METRICS; m++)
        for (uint32_t r = 0; r < f->n_rows; r++) {
            for (uint32_t w = 0; w < f->n_works; w++) {
                const struct ab_suite_cell *c = &f->cells[(size_t)w * f->n_rows + r];
                const struct ab_effect *e = &c->ratio[m];
                put_line(to, &(struct line){f->works[w].name, f->rows[r].name,
                                            ab_suite_metric_names[m], units[m], c->failure,
                                            c->value[m], e->ratio, e->low, e->high, 0});
            }
            const struct ab_suite_mean *mean = &f->rows[r].mean[m];
            put_line(to,
                     &(struct line){AB_SUITE_MEAN, f->rows[r].name, ab_suite_metric_names[m], "",
                                    "", NAN, mean->ratio, mean->low, mean->high, f->n_counted[m]});
        }
    ab_format_end(&guard);
}

/* ---- JUnit ---- */

/* Writes a testsuite per file, and one for gates on means. */
void ab_suite_junit(FILE *to, const struct ab_suite *suite)
{
    struct ab_suite_work *works = ab_alloc_zeroed(suite->n + 1u, sizeof works[0]);
    uint32_t n = 0;
    for (; n < suite->n; n++) {
        const struct ab_suite_item *item = &suite->items[n];
        works[n] = (struct ab_suite_work){.name = item->name,
                                          .session = item->document != NULL ? &item->stored.session
                                                                            : NULL,
                                          .reason = item->reason};
    }
    ab_sinks_junit(to, works, n, suite->summary.n_gates > 0 ? &suite->summary : NULL);
    free(works);
}

/* ---- HTML ---- */

static void widen(struct ab_axis *a, double x)
{
    a->low = isfinite(x) ? fmin(a->low, x) : a->low;
    a->high = isfinite(x) ? fmax(a->high, x) : a->high;
}

static void draw_front(struct ab_plot *p, const struct ab_suite_view *v)
{
    struct ab_point *points = ab_alloc_zeroed(v->n_dots + 1, sizeof points[0]);
    size_t n = 0;
    for (size_t i = 0; i < v->n_dots; i++)
        if (v->dots[i].is_front)
            points[n++] = (struct ab_point){v->dots[i].time, v->dots[i].memory};
    ab_plot_front(p, points, n);
    free(points);
}

static void draw_dots(struct ab_plot *p, const struct ab_suite_view *v)
{
    const char **names = ab_alloc_zeroed(v->n_dots + 1, sizeof names[0]);
    struct ab_series_style *styles = ab_alloc_zeroed(v->n_dots + 1, sizeof styles[0]);
    for (size_t i = 0; i < v->n_dots; i++)
        names[i] = v->dots[i].name;
    ab_palette_assign(names, v->n_dots, styles);
    for (unsigned is_label = 0; is_label < 2; is_label++) /* labels avoid all marks, so marks come
                                                             first */
        for (size_t i = 0; i < v->n_dots; i++) {
            const struct ab_suite_dot *d = &v->dots[i];
            struct ab_paint paint = {.colour = styles[i].colour, .title = d->name};
            struct ab_point at = {d->time, d->memory};
            char cut[160];
            if (is_label) {
                paint.title = NULL;
                ab_plot_label(p, paint, at, ab_page_cut(cut, sizeof cut, d->name, 28));
                continue;
            }
            ab_plot_error_x(p, paint, d->time_low, d->time_high, d->memory);
            ab_plot_error_y(p, paint, d->time, d->memory_low, d->memory_high);
            ab_plot_mark(p, paint, at, 5);
            ab_plot_keep_free(p, at, 6);
        }
    free(names);
    free(styles);
}

static void put_picture(struct ab_html *h, const struct ab_suite_view *v)
{
    struct ab_plot p = {
        .x = {.scale = AB_SCALE_LOG,
              .unit = AB_AXIS_FACTOR,
              .low = INFINITY,
              .title = "time / time of the base, geometric mean, log scale (left is faster)"},
        .y = {.scale = AB_SCALE_LOG,
              .unit = AB_AXIS_FACTOR,
              .low = INFINITY,
              .title = "peak memory / that of the base, geometric mean, log scale"}};
    if (v->n_dots == 0)
        return;
    for (size_t i = 0; i < v->n_dots; i++) {
        const struct ab_suite_dot *d = &v->dots[i];
        const double x[] = {d->time, d->time_low, d->time_high},
                     y[] = {d->memory, d->memory_low, d->memory_high};
        for (unsigned k = 0; k < 3; k++) {
            widen(&p.x, x[k]);
            widen(&p.y, y[k]);
        }
    }
    ab_page_figures_begin(h);
    ab_plot_begin(&p, h,
                  &(struct ab_figure){.title = "Time against memory",
                                      .description = "Geometric means of the ratios to the base, "
                                                     "of time and of peak memory",
                                      .why = "Bars: 90 % intervals. Dashed: those that no other "
                                             "beats in both.",
                                      .height = 300,
                                      .size = AB_FIGURE_MIDDLE});
    draw_front(&p, v);
    draw_dots(&p, v);
    ab_plot_end(&p);
    ab_page_figures_end(h);
}

static void put_summary(struct ab_html *h, const void *user)
{
    const struct ab_suite_view *v = user;
    ab_html_f(h, "<p class=\"soft\">%s</p>\n<div class=\"verdict\">\n", v->title);
    for (unsigned i = 0; i < v->n_sentences; i++)
        ab_html_f(h, "<p>%s</p>\n", v->sentences[i]);
    ab_html_f(h, "</div>\n");
    ab_page_grid(h, NULL, "Geometric means", &v->means);
    ab_html_f(h, "<p class=\"soft\">%s In brackets: 90 %% interval.</p>\n", reading);
    ab_page_names(h, &v->suite->summary);
    put_picture(h, v);
    if (v->n_judged[0] != 0)
        ab_html_f(h, "<h3>Gates</h3>\n<p>%s</p>\n<ul class=\"gates\">\n", v->n_judged);
    for (size_t i = 0; i < v->n_verdicts; i++)
        ab_html_f(h, "<li>%s</li>\n", v->verdicts[i]);
    if (v->n_judged[0] != 0)
        ab_html_f(h, "</ul>\n");
}

static void put_workloads(struct ab_html *h, const void *user)
{
    const struct ab_suite_view *v = user;
    ab_page_grid(h, NULL, "Each by itself", &v->matrix);
    ab_html_f(h,
              "<p class=\"soft\">Of the base time and peak, of the others ratios to it; faint: not "
              "in the means.</p>\n");
}

static void put_html(FILE *to, const struct ab_suite_view *v)
{
    struct ab_html h = {.to = to};
    const struct ab_frame_part parts[] = {
        {"summary", "Summary", put_summary, v},
        {"workloads", v->suite->kind == AB_SESSION_TRACE ? "Traces" : "Workloads", put_workloads,
         v},
    };
    ab_frame_document(&h, v->title, v->suite->command_line, v->suite->version, parts, 2);
}

/* ---- forms that show the view ---- */

static void write_view(FILE *to, const struct ab_suite *suite,
                       void (*put)(FILE *to, const struct ab_suite_view *v))
{
    struct ab_suite_view v;
    struct ab_format_guard guard;
    ab_suite_view_make(suite, &v);
    ab_format_begin(&guard);
    put(to, &v);
    ab_format_end(&guard);
    ab_suite_view_fini(&v);
}

void ab_suite_markdown(FILE *to, const struct ab_suite *suite)
{
    write_view(to, suite, put_markdown);
}

void ab_suite_html(FILE *to, const struct ab_suite *suite)
{
    write_view(to, suite, put_html);
}
