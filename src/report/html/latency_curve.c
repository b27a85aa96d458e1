/* SPDX-License-Identifier: MIT
 *
 * Draws curves from histograms, in panels.
 */
#include "report/html/latency_curve.h"

#include "core/alloc.h"
#include "core/text.h"
#include "result/numbers.h"
#include "result/session.h"
#include "result/shown.h"
#include "stats/compare.h"
#include "stats/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_POINTS = 60000 }; /* most points of all curves of a report together */

/* ---- a curve ---- */

/* Widens both axes so that they contain the curve. */
static void latency_curve_widen(struct ab_plot *p, const struct ab_latency_curve *c)
{
    if (c->n == 0)
        return;
    p->y.low = fmin(p->y.low, c->points[0].y);
    p->y.high = fmax(p->y.high, c->points[c->n - 1].y);
    p->x.high = fmax(p->x.high, c->points[c->n - 1].x);
}

/* Draws the budget of an iteration as a line with a label. Draws nothing for NaN. */
static void latency_draw_budget(struct ab_plot *p, double budget_ns)
{
    char text[64], label[120];
    if (!isfinite(budget_ns))
        return;
    struct ab_paint paint = {.colour = AB_COLOUR_BAD, .width = 1.2};
    const struct ab_point line[] = {{p->x.low, budget_ns}, {p->x.high, budget_ns}};
    AB_FIT(label, "budget %s", ab_axis_tick(text, sizeof text, AB_AXIS_TIME, budget_ns));
    paint.title = label;
    ab_plot_line(p, paint, line, 2);
    struct ab_point below = {p->x.low, budget_ns * pow(p->y.low / p->y.high, 0.05)};
    ab_plot_label(p, paint, below, label);
}

size_t ab_latency_points(const struct ab_session *s)
{
    size_t n_curves = 0;
    for (uint32_t p = 0; p < s->n_phases; p++) {
        for (unsigned op = 0; op < AB_OP_ALL; op++)
            n_curves += ab_session_has_op(s, s->phases[p], op) ? s->n_backends : 0;
        n_curves += ab_session_iterations(s, s->phases[p]) != NULL ? s->n_backends : 0;
    }
    size_t each = PAGE_POINTS / (n_curves > 0 ? n_curves : 1);
    return each > AB_VIEW_CURVE_POINTS    ? AB_VIEW_CURVE_POINTS
           : each < AB_CURVE_POINTS_LEAST ? AB_CURVE_POINTS_LEAST
                                          : each;
}

/* ---- a panel ---- */

struct panel_curve {
    struct ab_latency_curve curve;
    char title[240]; /* name in the legend: "base glibc", "pool (partial)" */
};

struct panel {
    struct panel_curve *curves;
    struct ab_paint *paints; /* one for each curve */
    size_t n;
};

static struct ab_paint paint_of(const struct ab_report *report, const struct ab_latency_side *side,
                                uint32_t backend, char title[240])
{
    const struct ab_backend_info *b = &side->session->backends[backend];
    struct ab_paint paint = ab_report_paint(report, b->name);
    char label[sizeof b->name + 32];
    snprintf(title, 240, "%s%s%s", side->name != NULL ? side->name : "",
             side->name != NULL ? " " : "", ab_format_backend(label, sizeof label, b));
    paint.title = title;
    paint.width = side->width;
    return paint;
}

static void add_curves(struct panel *panel, const struct ab_report *report,
                       const struct ab_latency_side *side, const char *phase, unsigned op,
                       struct ab_hdr *hdr)
{
    const struct ab_session *s = side->session;
    for (uint32_t b = 0; b < s->n_backends; b++) {
        struct panel_curve *c = &panel->curves[panel->n];
        if (!ab_view_shows(s, b) ||
            ab_session_backend(report->session, s->backends[b].name) == UINT32_MAX)
            continue; /* back ends that only the base has are not compared, and not in the legend */
        ab_session_merge(s, b, phase, op, hdr);
        ab_latency_curve_make(hdr, report->n_curve_points, 0, &c->curve);
        if (c->curve.n > 0)
            panel->paints[panel->n++] = paint_of(report, side, b, c->title);
    }
}

static void set_axes(const struct panel *panel, double floor_ns, struct ab_plot *p)
{
    p->x = (struct ab_axis){.scale = AB_SCALE_PERCENTILE,
                            .unit = AB_AXIS_QUANTILE,
                            .title = "share of calls that are at least this fast"};
    p->y = (struct ab_axis){
        .scale = AB_SCALE_LOG, .unit = AB_AXIS_TIME, .low = INFINITY, .title = "time of one call"};
    for (size_t i = 0; i < panel->n; i++) {
        const struct ab_latency_curve *c = &panel->curves[i].curve;
        p->y.low = fmin(p->y.low, fmax(1, c->points[0].y));
        p->y.high = fmax(p->y.high, c->points[c->n - 1].y);
        p->x.high = fmax(p->x.high, c->points[c->n - 1].x);
    }
    if (floor_ns > 1)
        p->y.low = fmin(p->y.low, floor_ns / 1.5);
    p->is_x_exact = true;
}

/* Draws the uncertain part of the curve dotted. */
static void latency_curve_draw(struct ab_plot *p, struct ab_paint paint,
                               const struct ab_latency_curve *curve)
{
    if (curve->n_sure > 0)
        ab_plot_line(p, paint, curve->points, curve->n_sure);
    size_t from = curve->n_sure > 0 ? curve->n_sure - 1 : 0;
    paint.dash = AB_DASH_DOTS;
    if (curve->n - from > 1)
        ab_plot_line(p, paint, curve->points + from, curve->n - from);
}

static void draw_panel(struct ab_html *h, const struct panel *panel, double floor_ns,
                       const char *phase, unsigned op)
{
    static const char *const words[] = {"percentile", "floor", NULL};
    static const char *const why =
        "Each curve runs from the fastest call on the left to the slowest on the right; the scale "
        "gives each further nine the same room. Lower is faster. Dotted: fewer than 10 slower "
        "calls, so mostly noise. In the gray band the clock cannot distinguish a call from "
        "none.";
    struct ab_plot p = {0};
    char title[200], description[300], band[120], floor_text[64];
    set_axes(panel, floor_ns, &p);
    AB_FIT(title, "%s: %s", phase, ab_result_op_name(op));
    AB_FIT(description, "Latency of %s in %s by percentile", ab_result_op_name(op), phase);
    ab_plot_begin(&p, h,
                  &(struct ab_figure){.title = title,
                                      .description = description,
                                      .why = why,
                                      .words = words,
                                      .legend = panel->paints,
                                      .n_legend = panel->n});
    if (floor_ns > 0) {
        AB_FIT(band, "below the clock's floor (%s)",
               ab_axis_tick(floor_text, sizeof floor_text, AB_AXIS_TIME, floor_ns));
        ab_plot_band_y(&p, AB_COLOUR_FLOOR, p.y.low, floor_ns, band);
    }
    for (size_t i = 0; i < panel->n; i++)
        latency_curve_draw(&p, panel->paints[i], &panel->curves[i].curve);
    ab_plot_end(&p);
}

void ab_latency_panel(struct ab_html *h, const struct ab_report *report,
                      const struct ab_latency_side *sides, size_t n_sides, const char *phase,
                      unsigned op)
{
    size_t most = 1;
    for (size_t i = 0; i < n_sides; i++)
        most += sides[i].session->n_backends;
    struct panel panel = {.curves = ab_alloc_zeroed(most, sizeof panel.curves[0]),
                          .paints = ab_alloc_zeroed(most, sizeof panel.paints[0])};
    struct ab_hdr *hdr = ab_alloc(sizeof *hdr);
    for (size_t i = 0; i < n_sides; i++)
        add_curves(&panel, report, &sides[i], phase, op, hdr);
    if (panel.n > 0)
        draw_panel(h, &panel, sides[0].session->timer.floor_ns, phase, op);
    free(panel.curves);
    free(panel.paints);
    free(hdr);
}

/* ---- latency by percentile: a panel for each op, phase by phase ---- */

static bool has_latency(const struct ab_session *s)
{
    for (uint32_t i = 0; i < s->n_results; i++)
        if (s->results[i].op != AB_OP_ALL && s->results[i].hdr != NULL &&
            ab_hdr_total(s->results[i].hdr) > 0)
            return true;
    return false;
}

static void put_phase(struct ab_html *h, const struct ab_report *report, const char *phase)
{
    const struct ab_latency_side side = {.session = report->session};
    for (unsigned op = 0; op < AB_OP_ALL; op++)
        if (ab_session_has_op(report->session, phase, op))
            ab_latency_panel(h, report, &side, 1, phase, op);
}

void ab_page_latency(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_session *s = report->session;
    if (!has_latency(s))
        return;
    ab_html_f(h,
              "<p>Time of one call, from the fastest to the slowest. Dotted: fewer than %d slower "
              "calls, so mostly noise.</p>\n",
              AB_QUANTILE_MIN_SAMPLES_BEHIND);
    ab_page_legend(h, report);
    for (uint32_t p = 0; p < s->n_phases; p++) {
        ab_page_phases_begin(h, s->n_phases, p);
        put_phase(h, report, s->phases[p]);
        ab_page_phases_end(h, s->n_phases, p);
    }
}

/* ---- time in the allocator per iteration ----
 * For each phase with iterations: a curve per back end over all rounds with the budget as a line, a
 * picture over the iterations in their order, and a table. */

/* Curves of the iterations of one phase; arrays have room for all back ends. */
struct phase {
    /* any: a record of the phase, for its name and budget; timed: its first record with times per
     * stretch, NULL = none */
    const struct ab_iterations *any, *timed;
    struct ab_latency_curve *curves;
    struct ab_paint *paints;
    uint32_t *backends;
    size_t n;
};

static void collect(const struct ab_report *report, const char *phase, struct ab_hdr *hdr,
                    struct phase *out)
{
    const struct ab_session *s = report->session;
    for (uint32_t i = 0; i < s->n_backends; i++) {
        uint32_t b = ab_page_ranked(report, i);
        struct ab_iterations x;
        if (!ab_view_shows(s, b) ||
            !ab_session_merge_iterations(s, b, phase, AB_ITERATIONS_ALL_ROUNDS, hdr, &x))
            continue;
        /* net times can be 0, which a logarithmic axis cannot show; 1 ns is the least */
        ab_latency_curve_make(hdr, report->n_curve_points, 1, &out->curves[out->n]);
        out->paints[out->n] = ab_report_paint(report, s->backends[b].name);
        out->backends[out->n++] = b;
    }
}

static void show_budget(struct ab_plot *p, const struct phase *x)
{
    if (isfinite(x->any->budget_ns)) {
        p->y.low = fmin(p->y.low, x->any->budget_ns / 1.5);
        p->y.high = fmax(p->y.high, x->any->budget_ns * 1.5);
    }
    p->is_x_exact = true;
}

static void page_iterations_set_axes(const struct phase *x, struct ab_plot *p)
{
    p->x = (struct ab_axis){.scale = AB_SCALE_PERCENTILE,
                            .unit = AB_AXIS_QUANTILE,
                            .title = "share of iterations that take no more"};
    p->y = (struct ab_axis){.scale = AB_SCALE_LOG,
                            .unit = AB_AXIS_TIME,
                            .low = INFINITY,
                            .title = "time in the allocator"};
    for (size_t i = 0; i < x->n; i++)
        latency_curve_widen(p, &x->curves[i]);
    show_budget(p, x);
}

static void draw(struct ab_html *h, const struct phase *x, const char *phase)
{
    static const char *const words[] = {"iteration", "percentile", NULL};
    static const char *const why =
        "Each curve runs from the iteration in which the allocator took least on the left to the "
        "worst on the right; the scale gives each further nine the same room. Lower is better, and "
        "what is above the red line has missed the budget. What the same calls take in the null "
        "back end is subtracted: at 1 ns is what takes no longer than there. Dotted: fewer than 10 "
        "slower iterations, so mostly noise.";
    struct ab_plot p = {0};
    char title[200], description[300];
    page_iterations_set_axes(x, &p);
    if (!(p.y.high > 0) || !isfinite(p.y.low))
        return;
    AB_FIT(title, "%s: per %s", phase, x->any->name);
    AB_FIT(description, "Time in the allocator per %s in %s by percentile", x->any->name, phase);
    ab_plot_begin(&p, h,
                  &(struct ab_figure){.title = title,
                                      .description = description,
                                      .why = why,
                                      .words = words,
                                      .legend = x->paints,
                                      .n_legend = x->n});
    for (size_t i = 0; i < x->n; i++)
        latency_curve_draw(&p, x->paints[i], &x->curves[i]);
    latency_draw_budget(&p, x->any->budget_ns);
    ab_plot_end(&p);
}

/* ---- iterations in their order ---- */

enum { MARKS_MOST = 6 }; /* dots of slow iterations for each back end */

struct series { /* points of one back end */
    struct ab_point points[AB_STRETCHES_MAX];
    size_t n;
};

/* Computes the longest iterations of a back end over the phase, at most as many points as a curve
 * of the report has. */
static void make_series(const struct ab_report *report, const struct phase *x, size_t of,
                        struct series *out)
{
    uint32_t n = x->timed->n_stretches, stretch = x->timed->stretch;
    out->n = n < report->n_curve_points ? n : report->n_curve_points;
    for (size_t i = 0; i < out->n; i++) {
        uint32_t begin = (uint32_t)(i * n / out->n), end = (uint32_t)((i + 1) * n / out->n);
        out->points[i] = (struct ab_point){
            1 + 0.5 * stretch * (begin + end),
            ab_iterations_most(report->session, x->backends[of], x->any->phase, begin, end)};
    }
}

static void put_slowest(struct ab_plot *p, const struct ab_report *report, const struct phase *x,
                        size_t of)
{
    const struct ab_view_slowest *slow = ab_view_slow_iterations(report->view);
    unsigned n = 0;
    for (uint32_t i = 0; i < slow->n_calls && n < MARKS_MOST; i++) {
        const struct ab_view_slow_call *c = &slow->calls[i];
        char title[256], time[48];
        struct ab_paint paint = x->paints[of];
        if (c->backend != x->backends[of] || !c->repeats ||
            strcmp(report->session->phases[c->phase], x->any->phase) != 0)
            continue;
        AB_FIT(title, "%s %u: %s, %u of %u", x->any->name, c->iteration,
               ab_axis_text(time, sizeof time, AB_AXIS_TIME, c->ns), c->n_seen, slow->n_rounds);
        paint.title = title;
        ab_plot_mark(p, paint, (struct ab_point){c->iteration, fmax(c->ns, 1)}, 3.5);
        n++;
    }
}

static void draw_series(struct ab_html *h, const struct ab_report *report, const struct phase *x,
                        const struct series *series)
{
    char title[200], description[300], number[100];
    AB_FIT(number, "number of the %s", x->any->name);
    struct ab_plot p = {.x = {AB_SCALE_LINEAR, 1,
                              fmax(2, (double)x->timed->n_stretches * x->timed->stretch), number,
                              AB_AXIS_COUNT},
                        .y = {AB_SCALE_LOG, INFINITY, 0, "time in the allocator", AB_AXIS_TIME}};
    for (size_t i = 0; i < x->n; i++)
        for (size_t k = 0; k < series[i].n; k++) {
            p.y.low = fmin(p.y.low, series[i].points[k].y);
            p.y.high = fmax(p.y.high, series[i].points[k].y);
        }
    if (!(p.y.high > 0))
        return;
    show_budget(&p, x);
    AB_FIT(title, "%s: one %s after the other", x->any->phase, x->any->name);
    AB_FIT(description, "Longest time in the allocator of a %s in each stretch of %s", x->any->name,
           x->any->phase);
    ab_plot_begin(&p, h,
                  &(struct ab_figure){
                      .title = title,
                      .description = description,
                      .why = "Lines: the most that one iteration of each stretch took, as median "
                             "of the rounds. Dots: iterations that were among the slowest in more "
                             "than half of the rounds, so that it is their work or the "
                             "allocator's; their number is under the pointer. What is above the "
                             "red line has missed the budget.",
                      .words = (const char *const[]){"iteration", NULL},
                      .legend = x->paints,
                      .n_legend = x->n});
    for (size_t i = 0; i < x->n; i++) {
        ab_plot_line(&p, x->paints[i], series[i].points, series[i].n);
        put_slowest(&p, report, x, i);
    }
    latency_draw_budget(&p, x->any->budget_ns);
    ab_plot_end(&p);
}

static void put_series(struct ab_html *h, const struct ab_report *report, const struct phase *x)
{
    if (x->timed == NULL)
        return;
    struct series *series = ab_alloc_zeroed(x->n, sizeof series[0]);
    for (size_t i = 0; i < x->n; i++)
        make_series(report, x, i, &series[i]);
    draw_series(h, report, x, series);
    free(series);
}

static void page_iterations_put_phase(struct ab_html *h, const struct ab_report *report,
                                      const char *phase, struct ab_hdr *hdr)
{
    const struct ab_iterations *any = ab_session_iterations(report->session, phase);
    size_t most = report->session->n_backends + 1u;
    if (any == NULL)
        return;
    struct phase x = {.any = any,
                      .curves = ab_alloc_zeroed(most, sizeof x.curves[0]),
                      .paints = ab_alloc_zeroed(most, sizeof x.paints[0]),
                      .backends = ab_alloc_zeroed(most, sizeof x.backends[0])};
    collect(report, phase, hdr, &x);
    for (uint32_t i = 0; i < report->session->n_iterations && x.timed == NULL; i++)
        if (report->session->iterations[i].n_stretches > 0 &&
            strcmp(report->session->iterations[i].phase, phase) == 0)
            x.timed = &report->session->iterations[i];
    if (x.n > 0) {
        ab_page_figures_begin(h);
        draw(h, &x, phase);
        put_series(h, report, &x);
        ab_page_figures_end(h);
        ab_page_topics(h, report, AB_PAGE_ITERATIONS, phase, NULL);
    }
    free(x.curves);
    free(x.paints);
    free(x.backends);
}

void ab_page_iterations(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_session *s = report->session;
    struct ab_hdr *hdr = ab_alloc(sizeof *hdr);
    for (uint32_t p = 0; p < s->n_phases && s->n_iterations > 0; p++)
        if (!ab_session_phase_is_repeated(s, p))
            page_iterations_put_phase(h, report, s->phases[p], hdr);
    free(hdr);
}
