/* SPDX-License-Identifier: MIT
 *
 * Curves from histograms, and the panels that hold them.
 */
#include "report/html/pages/latency_curve.h"

#include "report/format.h"
#include "stats/aggregate.h"
#include "stats/compare.h"
#include "stats/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAGE_POINTS = 60000 }; /* of all curves of a report */

/* ---- a curve ---- */

static void add_point(struct ab_latency_curve *c, double q, double ns)
{
    /* The middle of three on one level says nothing; the last of the sure ones stays. */
    if (c->n >= 2 && c->n > c->n_sure && c->points[c->n - 1].y == ns && c->points[c->n - 2].y == ns)
        c->n--;
    c->points[c->n++] = (struct ab_point){q, ns};
}

/* The sure part ends here; its last point is also the first of the rest. */
static void add_sure(struct ab_latency_curve *c, double q, double ns)
{
    if (c->n >= 2 && c->points[c->n - 1].y == ns && c->points[c->n - 2].y == ns)
        c->n--;
    c->points[c->n++] = (struct ab_point){q, ns};
    c->n_sure = c->n;
}

struct walk { /* over the counters, upwards */
    const struct ab_hdr *hdr;
    uint64_t before; /* values in counters below i + 1 */
    uint32_t i;
};

/* Value of q of n: q rises from call to call. */
static double walk_to(struct walk *w, double q, uint64_t n)
{
    double want = fmax(1, ceil(q * (double)n - 1e-9 * (double)n));
    while ((double)w->before < want && w->i < AB_HDR_COUNTS)
        w->before += w->hdr->counts[w->i++];
    if ((double)w->before < want) /* among those that the histogram cannot hold */
        return NAN;
    return (double)ab_hdr_high(w->i > 0 ? w->i - 1 : 0);
}

void ab_latency_curve_make(const struct ab_hdr *hdr, size_t n_points, struct ab_latency_curve *out)
{
    uint64_t n = ab_hdr_total(hdr) + hdr->overflow;
    struct walk w = {.hdr = hdr, .i = ab_hdr_first(hdr)};
    out->n = out->n_sure = 0;
    if (n == 0 || n_points < 2)
        return;
    double nines = fmin(log10((double)n), AB_AXIS_NINES_MOST),
           sure = log10((double)n / AB_QUANTILE_MIN_SAMPLES_BEHIND);
    for (size_t i = 0; i < n_points; i++) {
        double x = nines * (double)i / (double)(n_points - 1), q = 1 - pow(10, -x);
        double ns = walk_to(&w, q, n);
        if (isnan(ns))
            return;
        if (x <= sure + 1e-12)
            add_sure(out, q, ns);
        else
            add_point(out, q, ns);
    }
}

void ab_latency_curve_raise(struct ab_latency_curve *c, double least)
{
    for (size_t i = 0; i < c->n; i++)
        c->points[i].y = fmax(c->points[i].y, least);
}

void ab_latency_curve_widen(struct ab_plot *p, const struct ab_latency_curve *c)
{
    if (c->n == 0)
        return;
    p->y.low = fmin(p->y.low, c->points[0].y);
    p->y.high = fmax(p->y.high, c->points[c->n - 1].y);
    p->x.high = fmax(p->x.high, c->points[c->n - 1].x);
}

void ab_latency_draw_budget(struct ab_plot *p, double budget_ns)
{
    char text[64], label[120];
    if (!isfinite(budget_ns))
        return;
    struct ab_paint paint = {.colour = AB_COLOUR_BAD, .width = 1.2};
    const struct ab_point line[] = {{p->x.low, budget_ns}, {p->x.high, budget_ns}};
    snprintf(label, sizeof label, "budget %s",
             ab_axis_tick(text, sizeof text, AB_AXIS_TIME, budget_ns));
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
    return each > AB_CURVE_POINTS         ? AB_CURVE_POINTS
           : each < AB_CURVE_POINTS_LEAST ? AB_CURVE_POINTS_LEAST
                                          : each;
}

/* ---- a panel ---- */

struct panel_curve {
    struct ab_latency_curve curve;
    char title[240]; /* "base glibc", "pool (partial)" */
};

struct panel {
    struct panel_curve *curves;
    struct ab_paint *paints; /* of each curve */
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
        if (!ab_page_shows(s, b) ||
            ab_session_backend(report->session, s->backends[b].name) == UINT32_MAX)
            continue; /* what only the base has is not compared, and not in the legend */
        ab_session_merge(s, b, phase, op, hdr);
        ab_latency_curve_make(hdr, report->n_curve_points, &c->curve);
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

void ab_latency_curve_draw(struct ab_plot *p, struct ab_paint paint,
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
    snprintf(title, sizeof title, "%.150s: %s", phase, ab_result_op_name(op));
    snprintf(description, sizeof description, "Latency of %s in %.150s by percentile",
             ab_result_op_name(op), phase);
    ab_plot_begin(&p, h,
                  &(struct ab_figure){.title = title,
                                      .description = description,
                                      .why = why,
                                      .words = words,
                                      .legend = panel->paints,
                                      .n_legend = panel->n});
    if (floor_ns > 0) {
        snprintf(band, sizeof band, "below the clock's floor (%s)",
                 ab_axis_tick(floor_text, sizeof floor_text, AB_AXIS_TIME, floor_ns));
        ab_plot_band_y(&p, AB_COLOUR_FLOOR, p.y.low, floor_ns, band);
    }
    for (size_t i = 0; i < panel->n; i++)
        ab_latency_curve_draw(&p, panel->paints[i], &panel->curves[i].curve);
    ab_plot_end(&p);
}

void ab_latency_panel(struct ab_html *h, const struct ab_report *report,
                      const struct ab_latency_side *sides, size_t n_sides, const char *phase,
                      unsigned op)
{
    size_t most = 1;
    for (size_t i = 0; i < n_sides; i++)
        most += sides[i].session->n_backends;
    struct panel panel = {.curves = calloc(most, sizeof panel.curves[0]),
                          .paints = calloc(most, sizeof panel.paints[0])};
    struct ab_hdr *hdr = malloc(sizeof *hdr);
    if (panel.curves == NULL || panel.paints == NULL || hdr == NULL)
        h->is_short_of_memory = true;
    for (size_t i = 0; i < n_sides && !h->is_short_of_memory; i++)
        add_curves(&panel, report, &sides[i], phase, op, hdr);
    if (panel.n > 0)
        draw_panel(h, &panel, sides[0].session->timer.floor_ns, phase, op);
    free(panel.curves);
    free(panel.paints);
    free(hdr);
}
