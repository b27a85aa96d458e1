/* SPDX-License-Identifier: MIT
 *
 * Fills the table of iterations, with a row for each back end that has them, and computes the
 * points of a curve of the longest iterations.
 */
#include "answer/topics.h"
#include "core/alloc.h"
#include "core/median.h"
#include "core/units_show.h"

#include "stats/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { P50, P99, WORST, MISSED, CALLS, COUNT, DISTURBED };

static void put_time(struct ab_grid *g, uint32_t backend, const struct ab_iterations *x,
                     unsigned column, unsigned field, double ns)
{
    const struct ab_metric m = {.phase = x->phase, .number = &ab_iteration_fields[field]};
    char why[200] = "";
    if (!isfinite(ns))
        ab_metric_why_missing(g->session, backend, &m, false, why, sizeof why);
    ab_grid_put(g, column, AB_GRID_TIME, ns, why);
}

/* Sets the titles, and the note that says what was subtracted, missed and left out. */
static void add_words(struct ab_grid *g, const struct ab_iterations *any, uint64_t n_scheduler)
{
    struct ab_text t = {0};
    bool has_budget = isfinite(any->budget_ns);
    const char *budget = has_budget ? AB_TIME(any->budget_ns) : "none", *us = strstr(budget, " us");
    g->title = ab_view_texts_addf(&g->texts, "%s / %s: time in the allocator per %s",
                                  g->session->name, any->phase, any->name);
    g->caption = ab_view_texts_addf(&g->texts, "per %.60s, budget: %.*s%s", any->name,
                                    us != NULL ? (int)(us - budget) : (int)strlen(budget), budget,
                                    us != NULL ? " \u00b5s" : "");
    ab_text_add(&t, "net: the time of the same calls in the null back end is subtracted");
    if (has_budget)
        ab_text_addf(&t, "; missed: iterations that took more than the budget of %s",
                     AB_TIME(any->budget_ns));
    if (n_scheduler > 0)
        ab_text_addf(&t, "; left out: %llu iterations in which the scheduler took the CPU",
                     (unsigned long long)n_scheduler);
    g->note = ab_view_texts_addf(&g->texts, "%s", t.s);
    ab_text_fini(&t);
}

/* Fills the table of the time in the allocator per iteration of a phase. */
bool ab_iterations_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_session *s = at->view->session;
    const char *phase = at->phase;
    struct ab_hdr *scratch = ab_alloc(sizeof *scratch);
    struct ab_iterations x;
    uint64_t n_scheduler = 0;
    *g = (struct ab_grid){.session = s,
                          .rows_are = "back end",
                          .columns = {[P50] = {"p50", 0, "#p50"},
                                      [P99] = {"p99", 0, "#p99"},
                                      [WORST] = {"worst", 0, "#worst"},
                                      [MISSED] = {"missed", 0, "#missed"},
                                      [CALLS] = {"calls", 2, "#calls"},
                                      [COUNT] = {"n", 1, "#count"},
                                      [DISTURBED] = {.in_html = "#disturbed"}},
                          .n_columns = DISTURBED + 1};
    for (uint32_t b = 0; b < s->n_backends; b++) {
        if (!ab_session_has_numbers(s, b) ||
            !ab_session_merge_iterations(s, b, phase, AB_ITERATIONS_ALL_ROUNDS, scratch, &x))
            continue;
        bool has_budget = x.n > 0 && !isnan(x.budget_ns);
        if (g->n_rows == 0)
            ab_grid_heading(g, x.name, "");
        ab_grid_add_backend(g, b);
        put_time(g, b, &x, P50, AB_ITERATION_P50, x.p50);
        put_time(g, b, &x, P99, AB_ITERATION_P99, x.p99);
        put_time(g, b, &x, WORST, AB_ITERATION_MAX, x.max);
        ab_grid_put(g, MISSED, AB_GRID_PORTION, has_budget ? (double)x.n_over_budget : (double)NAN,
                    NULL)
            ->share = (double)x.n_over_budget / (double)x.n;
        ab_grid_put(g, CALLS, AB_GRID_COUNT,
                    x.n > 0 ? (double)x.n_calls / (double)x.n : (double)NAN, NULL);
        ab_grid_put(g, COUNT, AB_GRID_COUNT, (double)x.n, NULL);
        ab_grid_put(g, DISTURBED, AB_GRID_COUNT, (double)x.n_scheduler, NULL);
        n_scheduler += x.n_scheduler;
    }
    free(scratch);
    if (g->n_rows > 0)
        add_words(g, ab_session_iterations(s, phase), n_scheduler);
    return g->n_rows > 0;
}

double ab_iterations_most(const struct ab_session *s, uint32_t backend, const char *phase,
                          uint32_t begin, uint32_t end)
{
    double *of_rounds = ab_alloc_zeroed(s->n_iterations + 1u, sizeof of_rounds[0]);
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
            of_rounds[n++] = fmax(most, 1);
    }
    double median = ab_median(of_rounds, n);
    free(of_rounds);
    return median;
}
