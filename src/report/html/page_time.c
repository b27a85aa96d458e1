/* SPDX-License-Identifier: MIT
 *
 * The page about time per operation, phase by phase: bars with intervals and numbers.
 */
#include "core/text.h"
#include "report/html/report_pages.h"

#include "result/shown.h"
#include "stats/metric.h"

#include <math.h>
#include <stdio.h>

enum { ROW_PX = 22, LEFT = 176, NAME_CHARS = 17, TITLE_BYTES = 200, TITLE_CHARS = 70 };
/* length of the axis as a multiple of the longest bar, so that the number fits beside the bar */
#define ROOM 1.3

static bool has_row(const struct ab_report *report, uint32_t backend, uint32_t phase)
{
    double ns = ab_view_phases_at(ab_view_phases(report->view), backend, phase)->ns_per_op.median;
    return ab_view_shows(report->session, backend) && isfinite(ns);
}

/* Writes "~26.2 ns". */
static const char *value_text(char buf[80], const struct ab_view_time *t)
{
    char text[64];
    snprintf(buf, 80, "%s%s", t->is_unclear ? "~" : "",
             ab_axis_text(text, sizeof text, AB_AXIS_TIME, t->ns_per_op.median));
    return buf;
}

static void draw_bar(struct ab_plot *p, const struct ab_report *report, uint32_t backend,
                     uint32_t phase, double y)
{
    const struct ab_backend_info *b = &report->session->backends[backend];
    const struct ab_view_time *t = ab_view_phases_at(ab_view_phases(report->view), backend, phase);
    double ns = t->ns_per_op.median, high = ns;
    char cut[120], title[300], value[64], label[sizeof b->name + 32];
    struct ab_paint paint = ab_report_paint(report, b->name);
    AB_FIT(title, "%s: %s per operation", ab_format_backend(label, sizeof label, b),
           ab_axis_text(value, sizeof value, AB_AXIS_TIME, ns));
    paint.title = title;
    ab_plot_text(p, AB_COLOUR_INK, p->x.from - 7, ab_axis_at(&p->y, y) + 4, "end",
                 ab_page_cut(cut, sizeof cut, label, NAME_CHARS));
    ab_plot_bar(p, paint, (struct ab_point){0, y - 0.34}, (struct ab_point){ns, y + 0.34}, 0.75);
    paint.colour = AB_COLOUR_INK;
    if (isfinite(t->range_ns.high)) {
        high = fmin(t->range_ns.high, p->x.high / ROOM); /* cuts a very wide interval */
        ab_plot_error_x(p, paint, t->range_ns.low, high, y);
    }
    ab_plot_text(p, AB_COLOUR_INK, ab_axis_at(&p->x, fmax(ns, high)) + 8, ab_axis_at(&p->y, y) + 4,
                 "start", value_text(title, t));
}

/* Draws the band of a harness, which neighbouring rows with the same harness share. */
static void draw_harness(struct ab_plot *p, double ns, double low, double high)
{
    char title[120], value[64];
    AB_FIT(title, "harness alone: %s per operation",
           ab_axis_text(value, sizeof value, AB_AXIS_TIME, ns));
    if (isfinite(ns))
        ab_plot_bar(p, (struct ab_paint){.colour = AB_COLOUR_FLOOR, .title = title},
                    (struct ab_point){0, low}, (struct ab_point){ns, high}, 1);
}

static void draw_rows(struct ab_plot *p, const struct ab_report *report, uint32_t phase, double n)
{
    const struct ab_session *s = report->session;
    double row = n, from = n, harness = NAN;
    for (uint32_t i = 0; i < s->n_backends; i++) {
        uint32_t b = ab_page_ranked(report, i);
        if (!has_row(report, b, phase))
            continue;
        double of_row = ab_view_phases_harness(ab_view_phases(report->view), b, phase);
        if (row == n || of_row != harness) {
            draw_harness(p, harness, row, from);
            from = row;
        }
        harness = of_row;
        row--;
    }
    draw_harness(p, harness, row, from);
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (has_row(report, ab_page_ranked(report, i), phase))
            draw_bar(p, report, ab_page_ranked(report, i), phase, n-- - 0.5);
}

/* Writes "time per operation; gray: harness 1.48 ns". If there is no room for all harnesses, only
 * the bands name them, on hover. */
static void name_axis(char buf[TITLE_BYTES], const struct ab_view_phases *ph, uint32_t phase)
{
    size_t n = (size_t)snprintf(buf, TITLE_BYTES, "time per operation; gray: harness"), first = n;
    for (unsigned i = 0; i < ph->n_harness && n < TITLE_BYTES; i++) {
        char text[64];
        bool is_named = ph->n_harness > 1;
        ab_axis_text(text, sizeof text, AB_AXIS_TIME, ph->harness[i].ns_per_op[phase]);
        n += (size_t)snprintf(buf + n, TITLE_BYTES - n, "%s %s%s%s%s", i > 0 ? "," : "", text,
                              is_named ? " (" : "", is_named ? ph->harness[i].name : "",
                              is_named ? ")" : "");
    }
    if (n > TITLE_CHARS)
        buf[first] = 0;
}

static void put_phase(struct ab_html *h, const struct ab_report *report, uint32_t phase)
{
    const struct ab_view_phases *ph = ab_view_phases(report->view);
    struct ab_plot p = {0};
    uint32_t n = ph->phases[phase].n_shown;
    char description[200], title[TITLE_BYTES];
    if (n == 0)
        return;
    name_axis(title, ph, phase);
    p.x = (struct ab_axis){.high = ph->phases[phase].most_ns, .unit = AB_AXIS_TIME, .title = title};
    p.x.high *= ROOM;
    p.y = (struct ab_axis){.low = 0, .high = n};
    p.is_y_exact = true;
    AB_FIT(description, "Time per operation in %s", ph->phases[phase].name);
    ab_plot_begin(&p, h,
                  &(struct ab_figure){.title = ph->phases[phase].name,
                                      .description = description,
                                      .why = "Median of the rounds. Caps: 90 % interval of the "
                                             "difference from the base. The gray band is what the "
                                             "harness itself takes with calls of that kind; all "
                                             "times include it.",
                                      .words = (const char *const[]){"ns_per_op", "harness", NULL},
                                      .height = 68 + ROW_PX * n,
                                      .left = LEFT,
                                      .has_no_y = true});
    draw_rows(&p, report, phase, n);
    ab_plot_end(&p);
}

void ab_page_time(struct ab_html *h, const struct ab_report *report)
{
    uint32_t n = ab_view_phases(report->view)->n_phases;
    if (n == 0 || ab_session_is_exec(report->session))
        return;
    for (uint32_t p = 0; p < n; p++) {
        ab_page_phases_begin(h, n, p);
        put_phase(h, report, p);
        ab_page_phases_end(h, n, p);
    }
    ab_html_f(h, "<p class=\"soft\">~: not distinguishable from the base.</p>\n");
}
