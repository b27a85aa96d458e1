/* SPDX-License-Identifier: MIT
 *
 * The page about params with lists of values: time and memory of each back end over the values, and
 * the numbers.
 */
#include "report/html/report_pages.h"
#include "result/shown.h"

#include "core/alloc.h"
#include "core/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An axis is logarithmic if the largest value is at least this multiple of the smallest. */
#define WIDE 20.0

/* Returns the x position of a combination: its value if that is a number, otherwise its index from
 * 1 on. */
static double place_of(const struct ab_view_by_value *b, uint32_t value)
{
    return b->is_number ? b->x[value] : value + 1.0;
}

static void widen(struct ab_axis *a, double value)
{
    if (!isfinite(value))
        return;
    a->low = fmin(a->low, value);
    a->high = fmax(a->high, value);
}

static void settle(struct ab_axis *a, bool is_from_zero)
{
    if (a->low > 0 && a->high > WIDE * a->low)
        a->scale = AB_SCALE_LOG;
    else if (is_from_zero)
        a->low = 0;
}

/* Returns the title of the x axis: "n", or "n: 1 = few, 2 = many" if the values are words. */
static const char *title_of_x(const struct ab_view *v, struct ab_text *t)
{
    const struct ab_view_by_value *b = ab_view_by_value(v);
    for (uint32_t k = 0; k < b->n_values; k++) {
        const char *values = v->session->combinations[k].values;
        size_t n = b->is_single ? strcspn(values, "=") : 0;
        if (k == 0 && n > 0)
            ab_text_addf(t, "%.*s", (int)n, values);
        if (!b->is_number)
            ab_text_addf(t, "%s%u = %s", k == 0 ? (n > 0 ? ": " : "") : ", ", k + 1,
                         values + n + (n > 0));
    }
    return t->s;
}

static void draw_name(struct ab_plot *p, const struct ab_report *report, uint32_t name,
                      struct ab_by_value_of of)
{
    const struct ab_view *v = report->view;
    const struct ab_view_by_value *b = ab_view_by_value(v);
    const struct ab_backend_info *info = &v->session->backends[b->rows[name * b->n_values]];
    struct ab_point *points = ab_alloc_zeroed(b->n_values + 1u, sizeof points[0]),
                    last = {NAN, NAN};
    struct ab_paint paint = ab_report_paint(report, info->name);
    paint.title = AB_OWN_LABEL(info);
    for (uint32_t k = 0; k < b->n_values; k++) {
        points[k] = (struct ab_point){place_of(b, k), ab_view_by_value_at(v, name, k, of)};
        last = isfinite(points[k].y) ? points[k] : last;
    }
    ab_plot_line(p, paint, points, b->n_values);
    for (uint32_t k = 0; k < b->n_values; k++)
        if (isfinite(points[k].y))
            ab_plot_mark(p, paint, points[k], 3.5);
    if (isfinite(last.y))
        ab_plot_label(p, paint, last, paint.title);
    free(points);
}

static void put_chart(struct ab_html *h, const struct ab_report *report, struct ab_by_value_of of,
                      const char *title)
{
    const struct ab_view *v = report->view;
    const struct ab_view_by_value *b = ab_view_by_value(v);
    bool is_bytes = of.what == AB_BY_VALUE_PEAK;
    struct ab_text x_title = {0};
    struct ab_plot p = {.x = {.low = INFINITY, .high = -INFINITY, .unit = AB_AXIS_COUNT},
                        .y = {.low = INFINITY,
                              .high = -INFINITY,
                              .unit = is_bytes ? AB_AXIS_BYTES : AB_AXIS_TIME,
                              .title = is_bytes                       ? "peak of resident memory"
                                       : of.what == AB_BY_VALUE_PHASE ? "time per operation"
                                                                      : "time of the whole run"}};
    for (uint32_t n = 0; n < b->n_names; n++)
        for (uint32_t k = 0; k < b->n_values; k++) {
            widen(&p.x, place_of(b, k));
            widen(&p.y, ab_view_by_value_at(v, n, k, of));
        }
    if (isfinite(p.y.low)) {
        settle(&p.x, false);
        settle(&p.y, true);
        p.x.title = title_of_x(v, &x_title);
        ab_plot_begin(&p, h,
                      &(struct ab_figure){.title = title,
                                          .description = "A line for each allocator, over the "
                                                         "values of the param",
                                          .why = "Each value is other work: lines may be compared "
                                                 "with each other at one value, and one line "
                                                 "shows how the allocator scales. Medians of the "
                                                 "rounds.",
                                          .height = 260});
        for (uint32_t n = 0; n < b->n_names; n++)
            draw_name(&p, report, n, of);
        ab_plot_end(&p);
    }
    ab_text_fini(&x_title);
}

static void put_charts(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_session *s = report->session;
    if (s->n_phases > 1)
        put_chart(h, report, (struct ab_by_value_of){AB_BY_VALUE_RUN, 0}, "Whole run");
    for (uint32_t i = 0; i < s->n_phases && i < AB_PAGE_PHASES; i++)
        put_chart(h, report, (struct ab_by_value_of){AB_BY_VALUE_PHASE, i}, s->phases[i]);
    put_chart(h, report, (struct ab_by_value_of){AB_BY_VALUE_PEAK, 0}, "Memory");
}

void ab_page_by_value(struct ab_html *h, const struct ab_report *report)
{
    if (ab_view_by_value(report->view)->n_values == 0)
        return;
    if (ab_view_by_value(report->view)->is_single) { /* several params have no common axis */
        ab_page_figures_begin(h);
        put_charts(h, report);
        ab_page_figures_end(h);
    }
    ab_html_f(h, "<div class=\"tables\">\n");
    ab_page_topics(h, report, AB_PAGE_BY_VALUE, NULL, NULL);
    ab_html_f(h, "</div>\n");
}
