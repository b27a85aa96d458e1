/* SPDX-License-Identifier: MIT
 *
 * Time in the allocator per iteration: of each phase that has iterations a curve for each back end over
 * all rounds, with the budget as a line, and a table.
 */
#include "report/html/pages/latency_curve.h"
#include "report/html/pages/pages.h"

#include "result/session.h"
#include "stats/metric/metric_iterations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is drawn of one phase; arrays have room for all back ends. */
struct phase {
    const struct ab_iterations *any;
    struct ab_iterations *rows; /* their hdr is not to be used */
    struct ab_latency_curve *curves;
    struct ab_paint *paints;
    double *missed_percent;
    uint32_t *backends;
    size_t n;
};

static void collect(const struct ab_report *report, const char *phase, struct ab_hdr *hdr,
                    struct phase *out)
{
    const struct ab_session *s = report->session;
    for (uint32_t i = 0; i < s->n_backends; i++) {
        uint32_t b = ab_page_ranked(report, i);
        struct ab_iterations *x = &out->rows[out->n];
        if (!ab_page_shows(s, b) ||
            !ab_session_merge_iterations(s, b, phase, AB_ITERATIONS_ALL_ROUNDS, hdr, x))
            continue;
        struct ab_metric missed = {.phase = phase,
                                   .iteration = &ab_iteration_fields[AB_ITERATION_MISSED_PERCENT]};
        ab_latency_curve_make(hdr, report->n_curve_points, &out->curves[out->n]);
        ab_latency_curve_raise(&out->curves[out->n], 1);
        out->missed_percent[out->n] = ab_metric_value(s, b, &missed);
        out->paints[out->n] = ab_report_paint(report, s->backends[b].name);
        out->backends[out->n++] = b;
    }
}

static void set_axes(const struct phase *x, struct ab_plot *p)
{
    p->x = (struct ab_axis){.scale = AB_SCALE_PERCENTILE,
                            .unit = AB_AXIS_QUANTILE,
                            .title = "share of iterations that take no more"};
    p->y = (struct ab_axis){.scale = AB_SCALE_LOG,
                            .unit = AB_AXIS_TIME,
                            .low = INFINITY,
                            .title = "time in the allocator"};
    for (size_t i = 0; i < x->n; i++)
        ab_latency_curve_widen(p, &x->curves[i]);
    if (isfinite(x->any->budget_ns)) {
        p->y.low = fmin(p->y.low, x->any->budget_ns / 1.5);
        p->y.high = fmax(p->y.high, x->any->budget_ns * 1.5);
    }
    p->is_x_exact = true;
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
    set_axes(x, &p);
    if (!(p.y.high > 0) || !isfinite(p.y.low))
        return;
    snprintf(title, sizeof title, "%.100s: per %.60s", phase, x->any->name);
    snprintf(description, sizeof description,
             "Time in the allocator per %.60s in %.100s by percentile", x->any->name, phase);
    ab_page_figures_begin(h);
    ab_plot_begin(&p, h,
                  &(struct ab_figure){.title = title,
                                      .description = description,
                                      .why = why,
                                      .words = words,
                                      .legend = x->paints,
                                      .n_legend = x->n});
    for (size_t i = 0; i < x->n; i++)
        ab_latency_curve_draw(&p, x->paints[i], &x->curves[i]);
    ab_latency_draw_budget(&p, x->any->budget_ns);
    ab_plot_end(&p);
    ab_page_figures_end(h);
}

/* Where it is n/a, the reason under the pointer. */
static void put_time(struct ab_html *h, const struct ab_session *s, uint32_t backend,
                     const char *phase, unsigned field, double ns)
{
    const struct ab_metric m = {.phase = phase, .iteration = &ab_iteration_fields[field]};
    char text[200];
    if (isfinite(ns)) {
        ab_page_number(h, AB_AXIS_TIME, ns);
        return;
    }
    ab_metric_why_missing(s, backend, &m, false, text, sizeof text);
    ab_html_f(h, "<td class=\"n\" title=\"%s\">n/a</td>", text);
}

static void put_times(struct ab_html *h, const struct ab_session *s, uint32_t backend,
                      const struct ab_iterations *x)
{
    put_time(h, s, backend, x->phase, AB_ITERATION_P50, x->p50);
    put_time(h, s, backend, x->phase, AB_ITERATION_P99, x->p99);
    put_time(h, s, backend, x->phase, AB_ITERATION_MAX, x->max);
}

static void put_table(struct ab_html *h, const struct ab_report *report, const struct phase *x)
{
    static const char *const columns[] = {"back end", "#p50",   "#p99",       "#worst", "#missed",
                                          "#calls",   "#count", "#disturbed", NULL};
    char missed[80], calls[32], title[160], budget[64] = "none";
    if (isfinite(x->any->budget_ns))
        ab_axis_text(budget, sizeof budget, AB_AXIS_TIME, x->any->budget_ns);
    snprintf(title, sizeof title, "per %.60s, budget: %s", x->any->name, budget);
    ab_page_table_begin(h, title, columns);
    for (size_t i = 0; i < x->n; i++) {
        const struct ab_iterations *r = &x->rows[i];
        snprintf(missed, sizeof missed, "n/a");
        snprintf(calls, sizeof calls, "n/a");
        if (r->n > 0)
            snprintf(calls, sizeof calls, "%.4g", (double)r->n_calls / (double)r->n);
        if (isfinite(x->missed_percent[i]))
            snprintf(missed, sizeof missed, "%llu (%.3g %%)", (unsigned long long)r->n_over_budget,
                     x->missed_percent[i]);
        ab_html_f(h, "<tr><th scope=\"row\">");
        ab_page_backend(h, report, x->backends[i]);
        ab_html_f(h, "</th>");
        put_times(h, report->session, x->backends[i], r);
        ab_html_f(h,
                  "<td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%llu</td>"
                  "<td class=\"n\">%llu</td></tr>\n",
                  missed, calls, (unsigned long long)r->n, (unsigned long long)r->n_scheduler);
    }
    ab_page_table_end(h);
}

static void put_phase(struct ab_html *h, const struct ab_report *report, const char *phase,
                      struct ab_hdr *hdr)
{
    const struct ab_iterations *any = ab_session_iterations(report->session, phase);
    size_t most = report->session->n_backends + 1u;
    if (any == NULL)
        return;
    struct phase x = {.any = any,
                      .rows = calloc(most, sizeof x.rows[0]),
                      .curves = calloc(most, sizeof x.curves[0]),
                      .paints = calloc(most, sizeof x.paints[0]),
                      .missed_percent = calloc(most, sizeof x.missed_percent[0]),
                      .backends = calloc(most, sizeof x.backends[0])};
    if (x.rows == NULL || x.curves == NULL || x.paints == NULL || x.missed_percent == NULL ||
        x.backends == NULL)
        h->is_short_of_memory = true;
    else
        collect(report, phase, hdr, &x);
    if (x.n > 0) {
        draw(h, &x, phase);
        put_table(h, report, &x);
    }
    free(x.rows);
    free(x.curves);
    free(x.paints);
    free(x.missed_percent);
    free(x.backends);
}

void ab_page_iterations(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_session *s = report->session;
    struct ab_hdr *hdr = s->n_iterations > 0 ? malloc(sizeof *hdr) : NULL;
    h->is_short_of_memory = h->is_short_of_memory || (s->n_iterations > 0 && hdr == NULL);
    for (uint32_t p = 0; p < s->n_phases && hdr != NULL; p++)
        if (!ab_session_phase_is_repeated(s, p))
            put_phase(h, report, s->phases[p], hdr);
    free(hdr);
}
