/* SPDX-License-Identifier: MIT
 *
 * The page about a comparison of results: a chart of the changes with intervals and limits, a table
 * of all changes, and the latencies of both results over each other.
 */
#include "core/text.h"
#include "report/html/latency_curve.h"

#include "answer/verdicts.h"
#include "answer/words.h"
#include "base/bits.h"
#include "stats/metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHART_ROWS = 40, ROW_PX = 24, CHART_LEFT = 300, NAME_CHARS = 38, TABLE_ROWS = 500 };

/* ---- texts ---- */

/* Writes "churn alloc p99" or "whole run time". */
static const char *name_cell(char *buf, size_t cap, const struct ab_checked *c)
{
    const char *op = c->iteration != NULL ? c->iteration : c->op;
    snprintf(buf, cap, "%s%s%s %s", c->phase != NULL ? c->phase : "whole run",
             op != NULL ? " " : "", op != NULL ? op : "", c->metric);
    return buf;
}

static const char *number(char buf[64], double x, const char *unit)
{
    enum ab_axis_unit u = strcmp(unit, "ns") == 0      ? AB_AXIS_TIME
                          : strcmp(unit, "bytes") == 0 ? AB_AXIS_BYTES
                                                       : AB_AXIS_COUNT;
    return ab_axis_text(buf, 64, u, x);
}

static const char *change(char buf[64], double ratio)
{
    return isfinite(ratio) ? ab_view_change(buf, 64, ratio) : "n/a";
}

static const char *interval(char buf[160], const struct ab_effect *e)
{
    ab_view_change_interval(buf, 160, e);
    return buf[0] != 0 ? buf : "n/a";
}

static enum ab_colour colour_of(const struct ab_checked *c)
{
    int direction = ab_check_direction(c);
    if (!ab_check_is_judged(c))
        return direction > 0 ? AB_COLOUR_BAD : direction < 0 ? AB_COLOUR_GOOD : AB_COLOUR_SOFT;
    return c->verdict == AB_VERDICT_FAIL || c->verdict == AB_VERDICT_NOT_EVALUATED ? AB_COLOUR_BAD
           : c->verdict == AB_VERDICT_IMPROVED                                     ? AB_COLOUR_GOOD
           : c->verdict == AB_VERDICT_INCONCLUSIVE                                 ? AB_COLOUR_WARN
                                                                                   : AB_COLOUR_SOFT;
}

/* ---- the chart of changes ---- */

static bool is_in_chart(const struct ab_checked *c)
{
    return isfinite(c->effect.ratio) && c->effect.ratio > 0 &&
           (ab_check_is_judged(c) || c->op == NULL || ab_check_direction(c) != 0);
}

static uint32_t choose_cells(const struct ab_comparison *c,
                             const struct ab_checked *rows[CHART_ROWS])
{
    uint32_t n = 0;
    for (unsigned is_judged = 2; is_judged-- > 0;)
        for (uint32_t i = 0; i < c->n_cells && n < CHART_ROWS; i++)
            if (is_in_chart(&c->cells[i]) && ab_check_is_judged(&c->cells[i]) == (is_judged == 1))
                rows[n++] = &c->cells[i];
    return n;
}

static void widen(struct ab_axis *x, double ratio)
{
    if (isfinite(ratio) && ratio > 0) {
        x->low = fmin(x->low, ratio);
        x->high = fmax(x->high, ratio);
    }
}

/* Chooses the axis of changes; it is linear if all changes are small. Returns true if it is
 * linear. */
static bool set_change_axis(struct ab_axis *x, const struct ab_checked *const *rows, uint32_t n)
{
    *x = (struct ab_axis){.low = 1, .high = 1};
    for (uint32_t i = 0; i < n; i++) {
        const struct ab_effect *e = ab_check_judged_effect(rows[i]);
        widen(x, e->ratio);
        widen(x, e->low);
        widen(x, e->high);
        widen(x, 1 + rows[i]->bound);
    }
    bool is_small = x->high < 2 && x->low > 0.5;
    x->scale = is_small ? AB_SCALE_LINEAR : AB_SCALE_LOG;
    x->unit = is_small ? AB_AXIS_CHANGE : AB_AXIS_RATIO;
    x->title = "new ÷ base; right is worse";
    x->low = is_small ? x->low - 1.02 : x->low / 1.1;
    x->high = is_small ? x->high - 0.98 : x->high * 1.1;
    return is_small;
}

static void draw_row(struct ab_plot *p, const struct ab_report *report, const struct ab_checked *c,
                     double y, bool is_small)
{
    double shift = is_small ? 1 : 0;
    const struct ab_effect *e = ab_check_judged_effect(c);
    char label[400], cut[4 * NAME_CHARS + 8], text[440];
    struct ab_paint paint = ab_report_paint(report, c->backend), mark = paint;
    name_cell(text, sizeof text, c);
    AB_FIT(label, "%s: %s%s%s", c->backend, text, e == &c->effect ? "" : ", relative to ",
           e == &c->effect ? "" : c->controls);
    ab_page_cut(cut, sizeof cut, label, NAME_CHARS);
    ab_plot_text(p, AB_COLOUR_INK, p->x.from - 10, ab_axis_at(&p->y, y) + 4, "end", cut);
    paint.title = label;
    paint.dash = NULL;
    paint.width = 2;
    ab_plot_line(p, paint, (const struct ab_point[]){{1 - shift, y}, {e->ratio - shift, y}}, 2);
    ab_plot_error_x(p, paint, e->low - shift, e->high - shift, y);
    if (!isnan(c->bound)) {
        mark.colour = AB_COLOUR_BAD;
        mark.title = "limit";
        mark.dash = NULL;
        mark.width = 3;
        ab_plot_line(p, mark,
                     (const struct ab_point[]){{1 + c->bound - shift, y - 0.32},
                                               {1 + c->bound - shift, y + 0.32}},
                     2);
    }
    AB_FIT(text, "%s, %s", label, ab_check_word(c));
    paint.title = text;
    ab_plot_mark(p, paint, (struct ab_point){e->ratio - shift, y}, 5);
}

static void put_chart(struct ab_html *h, const struct ab_report *report,
                      const struct ab_comparison *c)
{
    const struct ab_checked *rows[CHART_ROWS];
    uint32_t n = choose_cells(c, rows);
    struct ab_plot p = {0};
    if (n == 0)
        return;
    bool is_small = set_change_axis(&p.x, rows, n);
    p.y = (struct ab_axis){.low = 0, .high = n};
    p.is_y_exact = true;
    ab_plot_begin(
        &p, h,
        &(struct ab_figure){.title = "Changes with their 90 % intervals",
                            .description = "Change of each metric from base to new, with "
                                           "its interval and limit",
                            .why = "The dot is the change, joined to no change; the ticks on "
                                   "both sides of it are the ends of its 90 % interval, the red "
                                   "stroke the limit. A verdict needs the interval on one side.",
                            .words = (const char *const[]){"change", "interval", "limit", NULL},
                            .height = 70 + ROW_PX * n,
                            .left = CHART_LEFT,
                            .size = AB_FIGURE_WIDE,
                            .has_no_y = true});
    ab_plot_line(&p, (struct ab_paint){.colour = AB_COLOUR_INK, .title = "no change", .width = 1},
                 (const struct ab_point[]){{is_small ? 0 : 1, 0}, {is_small ? 0 : 1, n}}, 2);
    for (uint32_t i = 0; i < n; i++)
        draw_row(&p, report, rows[i], n - i - 0.5, is_small);
    ab_plot_end(&p);
}

/* ---- the table ---- */

static void put_cell_row(struct ab_html *h, const struct ab_report *report,
                         const struct ab_checked *c)
{
    char text[200], base[64], now[64], ratio[64], range[160], limit[64] = "";
    if (!isnan(c->bound))
        ab_axis_tick(limit, sizeof limit, AB_AXIS_CHANGE, c->bound);
    ab_html_f(h, "<tr><th scope=\"row\">");
    ab_page_name(h, report, c->backend);
    ab_html_f(
        h, "</th><td>%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td>",
        name_cell(text, sizeof text, c), number(base, c->base, c->unit),
        number(now, c->now, c->unit), change(ratio, c->effect.ratio));
    ab_html_f(h,
              "<td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"%s%s\">%s%s%s</td></tr>\n",
              interval(range, &c->effect), limit, ab_colours[colour_of(c)].class_name,
              c->reason[0] != 0 ? " site" : "", ab_check_word(c), c->reason[0] != 0 ? ": " : "",
              c->reason);
}

/* Writes a further row for a number whose verdict does not follow from the plain change: the change
 * relative to back ends that are the same build in both results. */
static void put_relative_row(struct ab_html *h, const struct ab_report *report,
                             const struct ab_checked *c)
{
    char ratio[64], machine[64], range[160], limit[64] = "";
    if (!isnan(c->bound))
        ab_axis_tick(limit, sizeof limit, AB_AXIS_CHANGE, c->bound);
    ab_html_f(h, "<tr><th scope=\"row\">");
    ab_page_name(h, report, c->backend);
    ab_html_f(
        h,
        "</th><td>relative to %s</td><td></td><td class=\"n\">%s: %s</td>"
        "<td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td>%s</td></tr>\n",
        c->controls, c->controls, change(machine, c->machine_ratio),
        change(ratio, c->relative.ratio), interval(range, &c->relative), limit, "this decides");
}

static const char *const table_columns[] = {
    "allocator", "metric", "#base", "#new", "#change", "#90 % interval", "#limit", "verdict", NULL};

static void put_judged(struct ab_html *h, const struct ab_report *report,
                       const struct ab_comparison *c)
{
    ab_page_table_begin(h, "Judged by a limit", table_columns);
    for (uint32_t i = 0; i < c->n_cells; i++)
        if (ab_check_is_judged(&c->cells[i])) {
            put_cell_row(h, report, &c->cells[i]);
            if (ab_check_judged_effect(&c->cells[i]) != &c->cells[i].effect)
                put_relative_row(h, report, &c->cells[i]);
        }
    ab_page_table_end(h);
}

/* Writes the clear changes first, then the others as far as there is room. */
static void put_others(struct ab_html *h, const struct ab_report *report,
                       const struct ab_comparison *c)
{
    uint32_t n_rows = 0, n_left_out = 0;
    ab_page_fold_begin(h, "Compared without a limit", AB_PAGE_OPEN);
    ab_page_table_begin(h, "More than 0 % is worse", table_columns);
    for (unsigned is_unclear = 0; is_unclear < 2; is_unclear++)
        for (uint32_t i = 0; i < c->n_cells; i++) {
            const struct ab_checked *cell = &c->cells[i];
            if (ab_check_is_judged(cell) || (ab_check_direction(cell) != 0) == (is_unclear == 1))
                continue;
            if (n_rows++ < TABLE_ROWS)
                put_cell_row(h, report, cell);
            else
                n_left_out++;
        }
    ab_page_table_end(h);
    if (n_left_out > 0)
        ab_html_f(h,
                  "<p class=\"soft\">%u more without a clear difference: "
                  "allocbench compare -v</p>\n",
                  n_left_out);
    ab_page_fold_end(h);
}

/* ---- all ---- */

static void put_head(struct ab_html *h, const struct ab_comparison *c)
{
    struct ab_view_texts texts = {0};
    struct ab_view_verdicts verdicts;
    bool is_within = c->base == c->now;
    ab_view_verdicts_make(c, &texts, &verdicts);
    ab_html_f(h, "<h3>%s against %s</h3>\n<div class=\"verdict\">\n",
              is_within              ? "Allocators"
              : c->now_label != NULL ? c->now_label
                                     : "new",
              is_within && c->n_cells > 0 ? c->cells[0].base_backend
              : c->base_label != NULL     ? c->base_label
                                          : "base");
    for (unsigned i = 0; i < verdicts.n_sentences; i++)
        ab_html_f(h, "<p>%s</p>\n", verdicts.sentences[i]);
    ab_html_f(h, "</div>\n<p>%s; %u and %u rounds.</p>\n", verdicts.counts, c->base->n_rounds,
              c->now->n_rounds);
    if (c->advisory[0] != 0)
        ab_html_f(h, "<p class=\"notice\">Verdicts are advisory: %s</p>\n", c->advisory);
    for (uint32_t i = 0; i < c->n_notes; i++)
        ab_html_f(h, "<p class=\"soft\">%s</p>\n", c->notes[i]);
    ab_view_texts_fini(&texts);
}

static void put_panels(struct ab_html *h, const struct ab_report *report,
                       const struct ab_comparison *c, const char *phase)
{
    const struct ab_latency_side sides[] = {{.session = c->now, .width = 2.4, .name = "new"},
                                            {.session = c->base, .width = 1, .name = "base"}};
    for (unsigned op = 0; op < AB_OP_ALL; op++)
        if (ab_session_has_op(c->now, phase, op) || ab_session_has_op(c->base, phase, op))
            ab_latency_panel(h, report, sides, AB_ARRAY_LEN(sides), phase, op);
}

static void put_overlay(struct ab_html *h, const struct ab_report *report,
                        const struct ab_comparison *c)
{
    ab_html_f(h,
              "<p>Latency of both: thick lines new, thin ones base. Dotted: fewer than %d slower "
              "calls, so mostly noise.</p>\n",
              AB_QUANTILE_MIN_SAMPLES_BEHIND);
    ab_page_legend(h, report);
    for (uint32_t p = 0; p < c->now->n_phases; p++) {
        ab_page_phases_begin(h, c->now->n_phases, p);
        put_panels(h, report, c, c->now->phases[p]);
        ab_page_phases_end(h, c->now->n_phases, p);
    }
}

void ab_page_compare(struct ab_html *h, const struct ab_report *report)
{
    for (size_t i = 0; i < report->n_comparisons; i++) {
        const struct ab_comparison *c = report->comparisons[i];
        put_head(h, c);
        put_chart(h, report, c);
        put_judged(h, report, c);
        put_others(h, report, c);
        if (c->base != c->now)
            put_overlay(h, report, c);
    }
}
