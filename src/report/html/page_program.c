/* SPDX-License-Identifier: MIT
 *
 * A real program under each allocator: its resident memory over time, every run of every round, what
 * it took in numbers, the replay's prediction, and what served its malloc.
 */
#include "report/html/pages.h"

#include "base/bits.h"
#include "core/memory.h"
#include "report/view/program.h"
#include "stats/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROW_PX = 26, LEFT = 176, NAME_CHARS = 17, FIRST_COLUMN = 1 };
#define MS_NS 1e6

static const struct {
    const char *field, *title, *column;
    enum ab_axis_unit unit;
    bool has_figure;
} metrics[] = {
    {"wall_ns", "Wall time", NULL, AB_AXIS_TIME, true}, /* the ranking has it */
    {"cpu_ns", "CPU time", "#CPU time", AB_AXIS_TIME, true},
    {"resident_peak_bytes", "Peak of resident memory", "#peak", AB_AXIS_BYTES, true},
    {"resident_mean_bytes", "Mean of resident memory", "#mean", AB_AXIS_BYTES, true},
    {"faults_minor", "Minor page faults", "#minor faults", AB_AXIS_COUNT, false},
};

/* In the order of the ranking. */
static uint32_t list_shown(const struct ab_report *report, uint32_t *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < report->view->ranking.n_rows; i++)
        if (ab_page_shows(report->session, report->view->ranking.rows[i].backend))
            list[n++] = report->view->ranking.rows[i].backend;
    return n;
}

/* ---- memory over time ---- */

static const struct ab_timeline *first_course(const struct ab_session *s, uint32_t backend)
{
    for (uint32_t i = 0; i < s->n_timelines; i++)
        if (s->timelines[i].backend == backend && s->timelines[i].n > 1)
            return &s->timelines[i];
    return NULL;
}

static void draw_course(struct ab_plot *p, const struct ab_report *report,
                        const struct ab_timeline *t)
{
    struct ab_point *points = ab_alloc_zeroed((size_t)t->n + 1, sizeof points[0]);
    for (uint32_t i = 0; i < t->n; i++)
        points[i] = (struct ab_point){t->points[i].position * MS_NS, t->points[i].footprint_bytes};
    struct ab_paint paint = ab_report_paint(report, report->session->backends[t->backend].name);
    ab_plot_line(p, paint, points, t->n);
    free(points);
}

static void put_courses(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_session *s = report->session;
    struct ab_plot p = {.x = {.unit = AB_AXIS_TIME, .title = "time since the start of the program"},
                        .y = {.unit = AB_AXIS_BYTES, .title = "resident memory, first round"}};
    for (uint32_t b = 0; b < s->n_backends; b++) {
        const struct ab_timeline *t = ab_page_shows(s, b) ? first_course(s, b) : NULL;
        for (uint32_t i = 0; t != NULL && i < t->n; i++) {
            p.x.high = fmax(p.x.high, t->points[i].position * MS_NS);
            p.y.high = fmax(p.y.high, t->points[i].footprint_bytes);
        }
    }
    if (!(p.x.high > 0) || !(p.y.high > 0))
        return;
    size_t n_legend;
    struct ab_paint *legend = ab_page_paints(report, &n_legend);
    ab_page_legend(h, report);
    ab_plot_begin(&p, h,
                  &(struct ab_figure){.title = "Resident memory over time",
                                      .description = "Resident memory of all processes of the "
                                                     "program over its time, under each allocator",
                                      .why = "What is resident of the program, its code and "
                                             "libraries included, looked at every 10 ms. Of "
                                             "several looks the largest is drawn.",
                                      .size = AB_FIGURE_MIDDLE,
                                      .legend = legend,
                                      .n_legend = n_legend});
    for (uint32_t b = 0; b < s->n_backends; b++)
        if (ab_page_shows(s, b) && first_course(s, b) != NULL)
            draw_course(&p, report, first_course(s, b));
    ab_plot_end(&p);
    free(legend);
}

/* ---- every round ---- */

struct strip { /* one metric: a row for each back end, a dot for each round */
    const struct ab_report *report;
    const struct ab_field *field;
    const uint32_t *backends;
    uint32_t n;
};

static bool find_ends(const struct strip *x, struct ab_axis *axis)
{
    const struct ab_session *s = x->report->session;
    *axis = (struct ab_axis){.low = INFINITY, .high = -INFINITY};
    for (uint32_t b = 0; b < x->n; b++)
        for (uint32_t r = 0; r < s->n_rounds; r++) {
            double value = ab_program_value_of_round(s, x->backends[b], x->field,
                                                     s->rounds[r].index);
            axis->low = fmin(axis->low, value); /* fmin and fmax pass over NaN */
            axis->high = fmax(axis->high, value);
        }
    if (!isfinite(axis->low) || !isfinite(axis->high))
        return false;
    double slack = fmax(0.06 * (axis->high - axis->low), 0.01 * axis->high);
    axis->low = fmax(0, axis->low - slack);
    axis->high += slack;
    return true;
}

static void draw_rounds(struct ab_plot *p, const struct strip *x, uint32_t backend, double y)
{
    const struct ab_session *s = x->report->session;
    struct ab_program_value value;
    char cut[120];
    struct ab_paint paint = ab_report_paint(x->report, s->backends[backend].name);
    ab_plot_text(p, AB_COLOUR_INK, p->x.from - 7, ab_axis_at(&p->y, y) + 4, "end",
                 ab_page_cut(cut, sizeof cut, s->backends[backend].name, NAME_CHARS));
    for (uint32_t r = 0; r < s->n_rounds; r++) {
        double of_round = ab_program_value_of_round(s, backend, x->field, s->rounds[r].index);
        if (isfinite(of_round))
            ab_plot_mark(p, paint, (struct ab_point){of_round, y}, 3.2);
    }
    ab_program_value_of(s, backend, UINT32_MAX, x->field, &value);
    paint.colour = AB_COLOUR_INK;
    paint.dash = NULL;
    paint.width = 2;
    paint.title = "median";
    if (isfinite(value.median))
        ab_plot_line(p, paint,
                     (const struct ab_point[]){{value.median, y - 0.36}, {value.median, y + 0.36}},
                     2);
}

static void put_strip(struct ab_html *h, const struct strip *x, size_t metric)
{
    struct ab_plot p = {.y = {.low = 0, .high = x->n}, .is_y_exact = true};
    char description[120];
    if (x->n == 0 || !find_ends(x, &p.x))
        return;
    p.x.unit = metrics[metric].unit;
    snprintf(description, sizeof description, "%s of each run, in a row for each allocator",
             metrics[metric].title);
    ab_plot_begin(&p, h,
                  &(struct ab_figure){.title = metrics[metric].title,
                                      .description = description,
                                      .why = "A dot for each round, the stroke their median. The "
                                             "axis need not begin at 0.",
                                      .height = 60 + ROW_PX * (double)x->n,
                                      .left = LEFT,
                                      .has_no_y = true});
    for (uint32_t b = 0; b < x->n; b++)
        draw_rounds(&p, x, x->backends[b], x->n - b - 0.5);
    ab_plot_end(&p);
}

static void put_strips(struct ab_html *h, const struct ab_report *report, const uint32_t *backends,
                       uint32_t n)
{
    ab_html_f(h, "<h3>Every round</h3>\n");
    ab_page_figures_begin(h);
    for (size_t i = 0; i < AB_ARRAY_LEN(metrics); i++) {
        struct strip x = {report, ab_program_field(metrics[i].field), backends, n};
        if (metrics[i].has_figure && x.field != NULL)
            put_strip(h, &x, i);
    }
    ab_page_figures_end(h);
}

/* ---- numbers ---- */

/* "2.66x less [2.64, 2.68]" */
static void put_factor(struct ab_html *h, const struct ab_effect *ratio)
{
    char words[96], range[160];
    struct ab_view_factor f = ab_view_factor_of(ratio);
    if (isfinite(f.times))
        ab_html_f(h, "<br>%s<br><span class=\"soft\">%s</span>",
                  ab_view_factor_words(words, sizeof words, &f, "more", "less"),
                  ab_view_factor_interval(range, sizeof range, &f));
}

static void put_numbers_row(struct ab_html *h, const struct ab_report *report, uint32_t backend)
{
    const struct ab_session *s = report->session;
    ab_html_f(h, "<tr><th scope=\"row\">");
    ab_page_backend(h, report, backend);
    ab_html_f(h, "</th>");
    for (size_t i = FIRST_COLUMN; i < AB_ARRAY_LEN(metrics); i++) {
        struct ab_program_value value;
        char text[64];
        const struct ab_field *field = ab_program_field(metrics[i].field);
        if (field == NULL)
            return;
        ab_program_value_of(s, backend, report->view->ranking.base, field, &value);
        ab_html_f(h, "<td class=\"n\">%s",
                  ab_axis_text(text, sizeof text, metrics[i].unit, value.median));
        put_factor(h, &value.ratio);
        ab_html_f(h, "</td>");
    }
    ab_html_f(h, "</tr>\n");
}

static void put_numbers(struct ab_html *h, const struct ab_report *report, const uint32_t *backends,
                        uint32_t n)
{
    const char *columns[AB_ARRAY_LEN(metrics) + 1] = {"allocator"};
    const uint32_t base = report->view->ranking.base;
    for (size_t i = FIRST_COLUMN; i < AB_ARRAY_LEN(metrics); i++)
        columns[i] = metrics[i].column;
    ab_page_table_begin(h, "What else a run took", columns);
    for (uint32_t i = 0; i < n; i++)
        put_numbers_row(h, report, backends[i]);
    ab_page_table_end(h);
    ab_html_f(h, "<p class=\"soft\">Medians of the rounds");
    if (base != UINT32_MAX && n > 1)
        ab_html_f(h,
                  "; below them how many times more or less than under %s, with the 90 %% interval "
                  "of the pairs of rounds. ~: no clear difference",
                  report->session->backends[base].name);
    ab_html_f(h, ".</p>\n");
}

/* ---- the replay's prediction ---- */

static void put_prediction(struct ab_html *h, const struct ab_report *report)
{
    struct ab_grid g;
    if (ab_program_witness_grid(report->view, &g)) {
        ab_page_grid(h, report, "Beside the replay of the trace, ns a call", &g);
        ab_html_f(h,
                  "<p class=\"soft\">How much more (+) or less (-) a call costs than with %s, with "
                  "90 %% intervals: as the replay predicts it, and as the program has it, from its "
                  "CPU time by the calls in the trace. Not measurable: the interval of the program "
                  "contains 0.</p>\n",
                  report->session->backends[report->view->ranking.base].name);
    }
    ab_grid_fini(&g);
}

/* ---- what served it ---- */

/* Other ends than exit status 0 leave no numbers. */
static void put_end(struct ab_html *h, const struct ab_session *s, uint32_t backend)
{
    const struct ab_backend_info *b = &s->backends[backend];
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_results; i++)
        n += s->results[i].backend == backend;
    if (ab_session_has_numbers(s, backend))
        ab_html_f(h, "<td>0 in all %u runs</td>", n);
    else
        ab_html_f(h, "<td class=\"site\">%s: %s</td>", ab_backend_status_name(b->status),
                  b->reason);
}

static void put_served(struct ab_html *h, const struct ab_report *report)
{
    static const char *const columns[] = {"allocator", "exit status", "provided by",
                                          "version",   "build id",    NULL};
    const struct ab_session *s = report->session;
    ab_page_table_begin(h, "Allocator in use", columns);
    for (uint32_t i = 0; i < s->n_backends; i++) {
        uint32_t backend = ab_page_ranked(report, i);
        const struct ab_backend_info *b = &s->backends[backend];
        ab_html_f(h, "<tr><th scope=\"row\">");
        ab_page_backend(h, report, backend);
        ab_html_f(h, "</th>");
        put_end(h, s, backend);
        ab_html_f(h, "<td><code>%s</code></td><td>%s</td><td><code>%s</code></td></tr>\n",
                  b->path[0] != 0                  ? b->path
                  : b->status == AB_BACKEND_ABSENT ? "n/a"
                                                   : "the C library",
                  b->version, b->build_id);
    }
    ab_page_table_end(h);
    ab_html_f(h, "<p class=\"soft\">Proven for every process of every run that has numbers: its "
                 "mappings hold this file, and no other that defines malloc.</p>\n");
}

void ab_page_program(struct ab_html *h, const struct ab_report *report)
{
    uint32_t *backends = ab_alloc_zeroed((size_t)report->session->n_backends + 1,
                                         sizeof backends[0]);
    if (ab_session_is_exec(report->session)) {
        uint32_t n = list_shown(report, backends);
        put_courses(h, report);
        if (n > 0) {
            put_strips(h, report, backends, n);
            put_numbers(h, report, backends, n);
        }
        put_prediction(h, report);
        put_served(h, report);
    }
    free(backends);
}
