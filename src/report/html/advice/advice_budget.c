/* SPDX-License-Identifier: MIT
 *
 * The budget of a scope: how many miss it before and after, as numbers and as curves.
 */
#include "report/html/advice/advice.h"
#include "report/html/pages/latency_curve.h"
#include "report/html/pages/pages.h"
#include "result/hdr.h"

#include <math.h>
#include <stdlib.h>

struct side {
    const char *name;
    enum ab_colour colour;
    const json_t *json;
    double mean_ns;
    struct ab_latency_curve curve;
};

static void put_row(struct ab_html *h, const struct side *s, double budget_ns)
{
    const char *reason = ab_advice_text(s->json, "reason");
    char missed[80], share[32] = "n/a";
    double n = ab_advice_number(s->json, "n"), over = ab_advice_number(s->json, "n_over_budget");
    if (isfinite(s->mean_ns))
        snprintf(share, sizeof share, "%.2g %%", 100 * s->mean_ns / budget_ns);
    ab_html_f(h, "<tr><th scope=\"row\">%s</th>", s->name);
    ab_advice_put_time(h, s->mean_ns);
    ab_html_f(h, "<td class=\"n\">%s</td>", share);
    if (reason[0] != 0) {
        ab_html_f(h, "<td colspan=\"3\">n/a: %s</td></tr>\n", reason);
        return;
    }
    ab_advice_put_time(h, ab_advice_number(s->json, "worst_ns"));
    snprintf(missed, sizeof missed, "%.0f of %.0f (%.3g %%)", over, n, 100 * over / n);
    ab_html_f(h, "<td class=\"n\">%s</td>", missed);
    ab_advice_put_count(h, ab_advice_number(s->json, "n_scheduler"));
    ab_html_f(h, "</tr>\n");
}

/* A histogram of our own document that cannot be read is a curve that is not drawn. */
static void make_curve(struct ab_html *h, struct side *s)
{
    const char *text = ab_advice_text(s->json, "hdr_v2");
    double overflow = ab_advice_number(s->json, "overflow");
    struct ab_hdr *hdr = text[0] != 0 ? malloc(sizeof *hdr) : NULL;
    struct ab_err err;
    h->is_short_of_memory = h->is_short_of_memory || (text[0] != 0 && hdr == NULL);
    if (hdr != NULL && ab_hdr_decode(text, hdr, &err) == AB_OK) {
        hdr->overflow = overflow > 0 ? (uint64_t)overflow : 0;
        ab_latency_curve_make(hdr, AB_CURVE_POINTS, &s->curve);
        ab_latency_curve_raise(&s->curve, 1);
    }
    free(hdr);
}

static void draw(struct ab_html *h, const struct side *sides, size_t n, double budget_ns)
{
    struct ab_plot p = {.is_x_exact = true};
    struct ab_paint paints[2];
    p.x = (struct ab_axis){.scale = AB_SCALE_PERCENTILE,
                           .unit = AB_AXIS_QUANTILE,
                           .title = "share of scopes that take no more"};
    p.y = (struct ab_axis){.scale = AB_SCALE_LOG,
                           .unit = AB_AXIS_TIME,
                           .low = budget_ns / 1.5,
                           .high = budget_ns * 1.5,
                           .title = "time in the allocator"};
    for (size_t i = 0; i < n; i++) {
        paints[i] = (struct ab_paint){.colour = sides[i].colour, .title = sides[i].name};
        ab_latency_curve_widen(&p, &sides[i].curve);
    }
    ab_page_figures_begin(h);
    ab_plot_begin(
        &p, h,
        &(struct ab_figure){
            .title = "Time in the allocator per scope",
            .description = "Time in the allocator per scope by percentile, before and after",
            .why = "Each curve runs from the scope in which the allocator took least on the left "
                   "to the worst on the right. Lower is better, and what is above the red line "
                   "has missed the budget. Dotted: fewer than 10 scopes took more, so that the "
                   "value is chance.",
            .legend = paints,
            .n_legend = n});
    for (size_t i = 0; i < n; i++)
        ab_latency_curve_draw(&p, paints[i], &sides[i].curve);
    for (size_t i = 0; i < n; i++)
        if (sides[i].curve.n > 0)
            ab_plot_label(&p, paints[i], sides[i].curve.points[sides[i].curve.n / 2],
                          sides[i].name);
    ab_latency_draw_budget(&p, budget_ns);
    ab_plot_end(&p);
    ab_page_figures_end(h);
}

void ab_advice_put_budget(struct ab_html *h, const void *user)
{
    static const char *const columns[] = {
        "", "#mean", "#of the budget", "#worst", "#missed", "#left out: scheduler", NULL};
    const json_t *d = ((const struct ab_advice_report *)user)->document;
    const json_t *budget = json_object_get(d, "budget"), *together = json_object_get(d, "together");
    double budget_ns = ab_advice_number(d, "budget_ns");
    bool is_advised = json_is_object(json_object_get(budget, "after"));
    char title[120], text[64];
    if (!json_is_object(budget))
        return;
    double before = is_advised ? ab_advice_number(together, "base_time_ns")
                               : ab_advice_number(json_object_get(d, "base"), "time_ns");
    struct side sides[2] = {
        {.name = "before",
         .colour = AB_COLOUR_S1,
         .json = json_object_get(budget, "before"),
         .mean_ns = ab_advice_unit_time(d, before)},
        {.name = "with the advice",
         .colour = AB_COLOUR_S0,
         .json = json_object_get(budget, "after"),
         .mean_ns = ab_advice_unit_time(d, ab_advice_number(together, "time_ns"))}};
    snprintf(title, sizeof title, "budget of a scope: %s",
             ab_axis_text(text, sizeof text, AB_AXIS_TIME, budget_ns));
    ab_page_table_begin(h, title, columns);
    for (size_t i = 0; i < 1u + is_advised; i++) {
        if (ab_advice_number(json_object_get(d, "scopes"), "n") == 0)
            sides[i].mean_ns = NAN;
        put_row(h, &sides[i], budget_ns);
        make_curve(h, &sides[i]);
    }
    ab_page_table_end(h);
    ab_html_f(h, "<p class=\"soft\">The mean is that of whole replays; worst (of each round, their "
                 "median) and missed are known from replays that time each call. Scopes in which "
                 "the scheduler gave the CPU to another program are left out.</p>\n");
    if (sides[0].curve.n > 0)
        draw(h, sides, 1u + (sides[1].curve.n > 0), budget_ns);
}
