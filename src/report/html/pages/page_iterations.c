/* SPDX-License-Identifier: MIT
 *
 * Time in the allocator per iteration: of each phase that has iterations a curve for each back end over
 * all rounds, with the budget as a line, the same over the iterations as they came, and a table.
 */
#include "report/html/pages/latency_curve.h"
#include "report/html/pages/pages.h"

#include "core/median.h"
#include "core/memory.h"
#include "result/session.h"
#include "stats/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is drawn of one phase; arrays have room for all back ends. */
struct phase {
    const struct ab_iterations *any, *timed; /* timed: with stretches; NULL = none is known */
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
        if (!ab_page_shows(s, b) ||
            !ab_session_merge_iterations(s, b, phase, AB_ITERATIONS_ALL_ROUNDS, hdr, &x))
            continue;
        ab_latency_curve_make(hdr, report->n_curve_points, &out->curves[out->n]);
        ab_latency_curve_raise(&out->curves[out->n], 1);
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
    set_axes(x, &p);
    if (!(p.y.high > 0) || !isfinite(p.y.low))
        return;
    snprintf(title, sizeof title, "%.100s: per %.60s", phase, x->any->name);
    snprintf(description, sizeof description,
             "Time in the allocator per %.60s in %.100s by percentile", x->any->name, phase);
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
}

/* ---- as they came ---- */

enum { MARKS_MOST = 6 }; /* of each back end */

struct series { /* of one back end */
    struct ab_point points[AB_STRETCHES_MAX];
    size_t n;
};

/* The most of the stretches [begin, end), as median of the rounds; at least 1 ns, NaN = not known. */
static double most_of(const struct ab_session *s, uint32_t backend, const char *phase,
                      uint32_t begin, uint32_t end, double *room)
{
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_iterations; i++) {
        const struct ab_iterations *x = &s->iterations[i];
        double most = NAN;
        if (x->backend != backend || strcmp(x->phase, phase) != 0)
            continue;
        for (uint32_t k = begin; k < end && k < x->n_stretches; k++)
            if (x->stretches[k] != AB_NO_TIME)
                most = fmax(most, (double)x->stretches[k]);
        if (isfinite(most))
            room[n++] = fmax(most, 1);
    }
    return ab_median(room, n);
}

/* No more points than a curve of the report has. */
static void make_series(const struct ab_report *report, const struct phase *x, size_t of,
                        double *room, struct series *out)
{
    uint32_t n = x->timed->n_stretches, stretch = x->timed->stretch;
    out->n = n < report->n_curve_points ? n : report->n_curve_points;
    for (size_t i = 0; i < out->n; i++) {
        uint32_t begin = (uint32_t)(i * n / out->n), end = (uint32_t)((i + 1) * n / out->n);
        out->points[i] = (struct ab_point){
            1 + 0.5 * stretch * (begin + end),
            most_of(report->session, x->backends[of], x->any->phase, begin, end, room)};
    }
}

static void put_slowest(struct ab_plot *p, const struct ab_report *report, const struct phase *x,
                        size_t of)
{
    const struct ab_view_slowest *slow = &report->view->slow_iterations;
    unsigned n = 0;
    for (uint32_t i = 0; i < slow->n_calls && n < MARKS_MOST; i++) {
        const struct ab_view_slow_call *c = &slow->calls[i];
        char title[256], time[48];
        struct ab_paint paint = x->paints[of];
        if (c->backend != x->backends[of] || !c->repeats ||
            strcmp(report->session->phases[c->phase], x->any->phase) != 0)
            continue;
        snprintf(title, sizeof title, "%.60s %u: %s, %u of %u", x->any->name, c->iteration,
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
    snprintf(number, sizeof number, "number of the %.60s", x->any->name);
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
    snprintf(title, sizeof title, "%.100s: one %.60s after the other", x->any->phase, x->any->name);
    snprintf(description, sizeof description,
             "The most that a %.60s of each stretch of %.100s took in the allocator", x->any->name,
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
    ab_latency_draw_budget(&p, x->any->budget_ns);
    ab_plot_end(&p);
}

static void put_series(struct ab_html *h, const struct ab_report *report, const struct phase *x)
{
    if (x->timed == NULL)
        return;
    struct series *series = ab_alloc_zeroed(x->n, sizeof series[0]);
    double *room = ab_alloc_zeroed(report->session->n_iterations, sizeof room[0]);
    for (size_t i = 0; i < x->n; i++)
        make_series(report, x, i, room, &series[i]);
    draw_series(h, report, x, series);
    free(series);
    free(room);
}

static void put_table(struct ab_html *h, const struct ab_report *report, const struct phase *x,
                      struct ab_hdr *scratch)
{
    char title[160], budget[64] = "none";
    uint64_t n_scheduler;
    struct ab_grid g;
    if (isfinite(x->any->budget_ns))
        ab_axis_text(budget, sizeof budget, AB_AXIS_TIME, x->any->budget_ns);
    snprintf(title, sizeof title, "per %.60s, budget: %s", x->any->name, budget);
    ab_iterations_grid(report->session, x->any->phase, scratch, &g, &n_scheduler);
    ab_page_grid(h, report, title, &g);
    ab_grid_fini(&g);
}

static void put_phase(struct ab_html *h, const struct ab_report *report, const char *phase,
                      struct ab_hdr *hdr)
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
        put_table(h, report, &x, hdr);
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
            put_phase(h, report, s->phases[p], hdr);
    free(hdr);
}
