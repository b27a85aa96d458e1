/* SPDX-License-Identifier: MIT
 *
 * Time per operation, phase by phase: bars with intervals, and the numbers.
 */
#include "report/html/pages/pages.h"

#include "stats/aggregate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROW_PX = 22, LEFT = 150, NAME_CHARS = 19 };

static bool is_shown(const struct ab_report *report, uint32_t backend)
{
    const struct ab_session *s = report->session;
    return ab_session_has_numbers(s, backend) && !ab_backend_is_null(&s->backends[backend]);
}

/* What the interval of the ratio to the base makes of the base's time; false: there is none. */
static bool find_range(const struct ab_report *report, uint32_t backend, uint32_t phase,
                       double *low, double *high)
{
    const struct ab_view_phases *ph = &report->view->phases;
    uint32_t base = report->view->ranking.base;
    if (base == UINT32_MAX || backend == base)
        return false;
    const struct ab_effect *e = &ab_view_phases_at(ph, backend, phase)->speed;
    double ns = ab_view_phases_at(ph, base, phase)->ns_per_op.median;
    if (!isfinite(ns) || !isfinite(e->low) || !isfinite(e->high) || e->low <= 0)
        return false;
    *low = ns / e->high;
    *high = ns / e->low;
    return true;
}

static double highest_of(const struct ab_report *report, uint32_t phase, uint32_t *n_rows)
{
    double most = 0, low, high;
    *n_rows = 0;
    for (uint32_t b = 0; b < report->session->n_backends; b++) {
        double ns = ab_view_phases_at(&report->view->phases, b, phase)->ns_per_op.median;
        if (!is_shown(report, b) || !isfinite(ns))
            continue;
        most = fmax(most, ns);
        if (find_range(report, b, phase, &low, &high))
            most = fmax(most, fmin(high, 3 * ns)); /* a wild interval is cut, not all bars */
        ++*n_rows;
    }
    return most;
}

static void draw_bar(struct ab_plot *p, const struct ab_report *report, uint32_t backend,
                     uint32_t phase, double y)
{
    const char *name = report->session->backends[backend].name;
    double ns = ab_view_phases_at(&report->view->phases, backend, phase)->ns_per_op.median;
    double low, high;
    char cut[120], title[240], value[64];
    struct ab_paint paint = ab_report_paint(report, name);
    snprintf(title, sizeof title, "%.150s: %s per operation", name,
             ab_axis_text(value, sizeof value, AB_AXIS_TIME, ns));
    paint.title = title;
    ab_plot_text(p, AB_COLOUR_INK, p->x.from - 7, ab_axis_at(&p->y, y) + 4, "end",
                 ab_page_cut(cut, sizeof cut, name, NAME_CHARS));
    ab_plot_bar(p, paint, (struct ab_point){0, y - 0.34}, (struct ab_point){ns, y + 0.34}, 0.75);
    paint.colour = AB_COLOUR_INK;
    if (find_range(report, backend, phase, &low, &high))
        ab_plot_error_x(p, paint, low, high, y);
}

/* The cheapest harness of this phase; NaN where none was measured. */
static double harness_of(const struct ab_view_phases *ph, uint32_t phase)
{
    double least = NAN;
    for (unsigned i = 0; i < ph->n_harness; i++)
        least = fmin(least, ph->harness[i].ns_per_op[phase]); /* fmin passes over NaN */
    return least;
}

static void put_phase(struct ab_html *h, const struct ab_report *report, uint32_t phase)
{
    const struct ab_view_phases *ph = &report->view->phases;
    struct ab_plot p = {0};
    uint32_t n;
    char description[200];
    double most = highest_of(report, phase, &n), harness = harness_of(ph, phase);
    if (n == 0)
        return;
    p.x = (struct ab_axis){
        .low = 0, .high = most, .unit = AB_AXIS_TIME, .title = "time per operation"};
    p.y = (struct ab_axis){.low = 0, .high = n};
    p.is_y_exact = true;
    snprintf(description, sizeof description, "Time per operation in %.150s",
             ph->phases[phase].name);
    ab_plot_begin(&p, h,
                  &(struct ab_figure){.title = ph->phases[phase].name,
                                      .description = description,
                                      .why = "Median of the rounds. Caps: 90 % interval of the "
                                             "difference from the base. The grey band is what the "
                                             "harness itself takes at least; all times include "
                                             "it.",
                                      .words = (const char *const[]){"ns_per_op", "harness", NULL},
                                      .height = 68 + ROW_PX * n,
                                      .left = LEFT,
                                      .has_no_y = true});
    if (isfinite(harness))
        ab_plot_band_x(&p, AB_COLOUR_FLOOR, 0, harness, "harness alone");
    for (uint32_t b = 0, row = 0; b < report->session->n_backends; b++)
        if (is_shown(report, b) && isfinite(ab_view_phases_at(ph, b, phase)->ns_per_op.median))
            draw_bar(&p, report, b, phase, n - row++ - 0.5);
    ab_plot_end(&p);
}

static void put_row(struct ab_html *h, const struct ab_report *report, uint32_t phase)
{
    const struct ab_view_phases *ph = &report->view->phases;
    char text[64];
    ab_html_f(h, "<tr><th scope=\"row\">%s</th>", ph->phases[phase].name);
    for (uint32_t b = 0; b < report->session->n_backends; b++) {
        const struct ab_view_time *t = ab_view_phases_at(ph, b, phase);
        if (!is_shown(report, b))
            continue;
        bool is_unclear = b != report->view->ranking.base && isfinite(t->speed.ratio) &&
                          !t->vs.is_clear;
        ab_html_f(h, "<td class=\"n\">%s%s</td>", is_unclear ? "~" : "",
                  ab_axis_text(text, sizeof text, AB_AXIS_TIME, t->ns_per_op.median));
    }
    ab_html_f(h, "<td class=\"n soft\">%s</td></tr>\n",
              ab_axis_text(text, sizeof text, AB_AXIS_TIME, harness_of(ph, phase)));
}

static void put_table(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_session *s = report->session;
    ab_html_f(h, "<div class=\"scroll\"><table>\n<caption>Time per operation</caption>\n"
                 "<thead><tr><th scope=\"col\">phase</th>");
    for (uint32_t b = 0; b < s->n_backends; b++)
        if (is_shown(report, b))
            ab_html_f(h, "<th scope=\"col\" class=\"n\">%s</th>", s->backends[b].name);
    ab_html_f(h, "<th scope=\"col\" class=\"n\">harness</th></tr></thead>\n<tbody>\n");
    for (uint32_t p = 0; p < report->view->phases.n_phases; p++)
        put_row(h, report, p);
    ab_page_table_end(h);
    ab_html_f(h, "<p class=\"soft\">~: not distinguishable from the base.</p>\n");
}

void ab_page_time(struct ab_html *h, const struct ab_report *report)
{
    uint32_t n = report->view->phases.n_phases;
    if (n == 0 || ab_session_is_exec(report->session))
        return;
    for (uint32_t p = 0; p < n; p++) {
        ab_page_phases_begin(h, n, p);
        put_phase(h, report, p);
        ab_page_phases_end(h, n, p);
    }
    put_table(h, report);
}
