/* SPDX-License-Identifier: MIT
 *
 * Memory over the op clock, split; at its peak, in bytes that add up; and once all is freed.
 */
#include "report/html/pages.h"

#include "core/units_show.h"
#include "report/format.h"
#include "report/view/view.h"
#include "stats/metric.h"

#include <math.h>
#include <stdlib.h>

enum {
    COLUMNS = 120,
    PARTS = AB_VIEW_MEMORY_PARTS,
    ROW_PX = 17,
    NAME_CHARS = 60,
    NAME_BYTES = 4 * NAME_CHARS + 8
};

static const char unknown[] = "parts not known";
static const enum ab_colour colours[PARTS] = {AB_COLOUR_LIVE, AB_COLOUR_INTERNAL,
                                              AB_COLOUR_EXTERNAL, AB_COLOUR_RETAINED};

/* ---- over time ---- */

static bool is_split(const struct ab_timeline_point *p)
{
    return isfinite(p->requested_bytes) && isfinite(p->external_bytes);
}

static const struct ab_timeline *first_timeline(const struct ab_session *s, uint32_t backend)
{
    for (uint32_t i = 0; i < s->n_timelines; i++)
        if (s->timelines[i].backend == backend && s->timelines[i].n > 1 &&
            ab_page_shows(s, backend))
            return &s->timelines[i];
    return NULL;
}

static bool is_better(const struct ab_timeline_point *p, const struct ab_timeline_point *than)
{
    return than == NULL || p->footprint_bytes > than->footprint_bytes ||
           (p->footprint_bytes == than->footprint_bytes && is_split(p) && !is_split(than));
}

/* Of up to COLUMNS stretches of a line the point with the largest footprint, if possible one whose
 * parts are known; how many. */
static uint32_t thin(const struct ab_timeline *t, const struct ab_timeline_point **out)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < COLUMNS; c++) {
        uint32_t from = (uint32_t)((uint64_t)t->n * c / COLUMNS);
        uint32_t to = (uint32_t)((uint64_t)t->n * (c + 1) / COLUMNS);
        const struct ab_timeline_point *best = NULL;
        for (uint32_t i = from; i < to; i++)
            if (isfinite(t->points[i].footprint_bytes) && is_better(&t->points[i], best))
                best = &t->points[i];
        if (best != NULL)
            out[n++] = best;
    }
    return n;
}

/* Where the parts end, one upon the other: the last end is the footprint. Where the usable size is
 * not known, internal is part of external. */
static void stack(const struct ab_timeline_point *p, double ends[PARTS])
{
    double external = fmin(p->external_bytes, p->footprint_bytes);
    double held = p->footprint_bytes - external;
    double live = fmin(p->requested_bytes, held);
    double usable = isfinite(p->usable_bytes) ? p->usable_bytes : live;
    ends[AB_VIEW_LIVE] = live;
    ends[AB_VIEW_INTERNAL] = fmin(fmax(usable, live), held);
    ends[AB_VIEW_EXTERNAL] = ends[AB_VIEW_INTERNAL] + external;
    ends[AB_VIEW_RETAINED] = p->footprint_bytes;
}

/* Points [first, end): all of them split, or the whole footprint. */
static void put_stretch(struct ab_plot *plot, const struct ab_timeline_point *const *points,
                        uint32_t first, uint32_t end, bool has_parts)
{
    struct ab_point edges[PARTS + 1][COLUMNS];
    for (uint32_t i = first; i < end; i++) {
        double ends[PARTS] = {points[i]->footprint_bytes};
        if (has_parts)
            stack(points[i], ends);
        edges[0][i - first] = (struct ab_point){points[i]->position, 0};
        for (unsigned k = 0; k < PARTS; k++)
            edges[k + 1][i - first] = (struct ab_point){points[i]->position, ends[k]};
    }
    for (unsigned k = 0; k < (has_parts ? PARTS : 1); k++)
        ab_plot_area(plot,
                     (struct ab_paint){.colour = has_parts ? colours[k] : AB_COLOUR_UNKNOWN,
                                       .title = has_parts ? ab_view_memory_part_names[k] : unknown},
                     edges[k], edges[k + 1], end - first);
}

/* Between two points whose parts are known areas of these, else one of all. */
static bool put_areas(struct ab_plot *plot, const struct ab_timeline *t)
{
    const struct ab_timeline_point *points[COLUMNS];
    uint32_t n = thin(t, points);
    bool is_all = true;
    for (uint32_t i = 0, end; i + 1 < n; i = end) {
        bool has_parts = is_split(points[i]) && is_split(points[i + 1]);
        for (end = i + 1; end + 1 < n; end++)
            if ((is_split(points[end]) && is_split(points[end + 1])) != has_parts)
                break;
        put_stretch(plot, points, i, end + 1, has_parts);
        is_all = is_all && has_parts;
    }
    return is_all;
}

static double highest(const struct ab_session *s)
{
    double most = 0;
    for (uint32_t b = 0; b < s->n_backends; b++) {
        const struct ab_timeline *t = first_timeline(s, b);
        for (uint32_t i = 0; t != NULL && i < t->n; i++)
            if (isfinite(t->points[i].footprint_bytes))
                most = fmax(most, t->points[i].footprint_bytes);
    }
    return most;
}

static void put_key(struct ab_html *h)
{
    ab_html_f(h, "<ul class=\"legend\">");
    for (unsigned k = PARTS; k-- > 0;)
        ab_page_key(h, colours[k], ab_view_memory_part_names[k]);
    ab_page_key(h, AB_COLOUR_UNKNOWN, unknown);
    ab_html_f(h, "</ul>\n");
}

/* True: the parts are known everywhere. */
static bool put_timeline(struct ab_html *h, const struct ab_session *s, const struct ab_timeline *t,
                         double most)
{
    static const char *const parts[] = {"live", "internal", "external", "retained", NULL};
    char label[sizeof s->backends->name + 32];
    struct ab_paint key[PARTS + 1] = {
        [PARTS] = {.colour = AB_COLOUR_UNKNOWN, .width = 10, .title = unknown}};
    for (unsigned k = 0; k < PARTS; k++)
        key[k] = (struct ab_paint){
            .colour = colours[k], .width = 10, .title = ab_view_memory_part_names[k]};
    struct ab_plot plot = {
        .x = {AB_SCALE_LINEAR, 0, fmax((double)s->n_tape_ops, t->points[t->n - 1].position),
              "operations", AB_AXIS_COUNT},
        .y = {AB_SCALE_LINEAR, 0, most, "resident bytes, first round", AB_AXIS_BYTES},
        .is_x_exact = true,
    };
    ab_plot_begin(&plot, h,
                  &(struct ab_figure){
                      .title = ab_format_backend(label, sizeof label, &s->backends[t->backend]),
                      .description = "Resident memory over the operations of the work, split into "
                                     "what is live and what is not",
                      .why = "From below: live, internal, external, retained. The upper edge is "
                             "the footprint; of each stretch the largest is drawn. "
                             "All pictures have one scale.",
                      .words = parts,
                      .height = 220,
                      .legend = key,
                      .n_legend = PARTS + 1});
    bool is_all = put_areas(&plot, t);
    ab_plot_end(&plot);
    return is_all;
}

static void put_timelines(struct ab_html *h, const struct ab_report *report, double most)
{
    bool is_all = true;
    put_key(h);
    ab_page_figures_begin(h);
    for (uint32_t i = 0; i < report->session->n_backends; i++) {
        const struct ab_timeline *t = first_timeline(report->session, ab_page_ranked(report, i));
        if (t != NULL)
            is_all = put_timeline(h, report->session, t, most) && is_all;
    }
    ab_page_figures_end(h);
    if (!is_all)
        ab_html_f(h, "<p class=\"soft\">Parts not known: which pages of the heap are resident was "
                     "not looked at there, because it takes long, or it contradicts itself.</p>\n");
}

/* ---- the peak ---- */

static void put_whys(struct ab_html *h, const struct ab_session *s,
                     const struct ab_view_memory *view)
{
    for (uint32_t b = 0; b < view->n_rows; b++)
        for (unsigned k = 0; k < PARTS && ab_page_shows(s, b); k++)
            if (!isfinite(view->rows[b].parts[k]) && view->rows[b].whys[k] != NULL &&
                view->rows[b].whys[k][0] != 0)
                ab_html_f(h, "<p class=\"soft\">%s, %s n/a: %s.</p>\n", s->backends[b].name,
                          ab_view_memory_part_names[k], view->rows[b].whys[k]);
}

/* ---- after everything is freed ---- */

static const char *const drain_texts[AB_DRAIN_COUNT] = {"immediately", "after 0.1 s", "after 1 s",
                                                        "after 10 s", "purged"};

/* A row with the name, below it one for each time of reading. */
static void put_bars(struct ab_plot *plot, const struct ab_report *report, double n_rows)
{
    const struct ab_session *s = report->session;
    double y = n_rows;
    for (uint32_t i = 0; i < s->n_backends; i++) {
        uint32_t b = ab_page_ranked(report, i);
        char label[sizeof s->backends->name + 32], cut[NAME_BYTES], value[32];
        bool is_first = true;
        for (unsigned k = 0; ab_page_shows(s, b) && k < AB_DRAIN_COUNT; k++) {
            double bytes = ab_view_memory_drained(s, b, k);
            if (!isfinite(bytes))
                continue;
            if (is_first)
                ab_plot_text(plot, AB_COLOUR_INK, 2, ab_axis_at(&plot->y, y-- - .7), "start",
                             ab_page_cut(cut, sizeof cut,
                                         ab_format_backend(label, sizeof label, &s->backends[b]),
                                         NAME_CHARS));
            is_first = false;
            ab_plot_bar(plot, ab_report_paint(report, s->backends[b].name),
                        (struct ab_point){0, y - .15}, (struct ab_point){bytes, y - .85},
                        k == AB_DRAIN_COUNT - 1 ? .45 : 1);
            ab_plot_text(plot, AB_COLOUR_SOFT, plot->x.from - 7, ab_axis_at(&plot->y, y - .5) + 4,
                         "end", drain_texts[k]);
            ab_plot_text(plot, AB_COLOUR_INK, ab_axis_at(&plot->x, bytes) + 6,
                         ab_axis_at(&plot->y, y - .5) + 4, "start",
                         ab_units_bytes(value, sizeof value, bytes));
            y--;
        }
    }
}

static unsigned count_rows(const struct ab_session *s, double *most)
{
    unsigned n = 0;
    for (uint32_t b = 0; b < s->n_backends; b++) {
        unsigned before = n;
        for (unsigned k = 0; ab_page_shows(s, b) && k < AB_DRAIN_COUNT; k++) {
            double bytes = ab_view_memory_drained(s, b, k);
            n += isfinite(bytes) ? 1 : 0;
            *most = fmax(*most, bytes); /* fmax passes over NaN */
        }
        n += n > before;
    }
    return n;
}

static void put_drained(struct ab_html *h, const struct ab_report *report)
{
    double most = 0;
    unsigned n = count_rows(report->session, &most);
    if (n == 0)
        return;
    struct ab_plot plot = {.x = {AB_SCALE_LINEAR, 0, 1.2 * most, "resident bytes", AB_AXIS_BYTES},
                           .y = {AB_SCALE_LINEAR, 0, n, "", AB_AXIS_COUNT},
                           .is_y_exact = true};
    ab_plot_begin(&plot, h,
                  &(struct ab_figure){
                      .title = "Memory after everything was freed",
                      .description = "Resident memory of each allocator once all blocks were freed",
                      .why = "Medians of the rounds.",
                      .words = (const char *const[]){"after free", NULL},
                      .height = 66 + ROW_PX * n,
                      .left = 100,
                      .size = AB_FIGURE_MIDDLE,
                      .has_no_y = true});
    put_bars(&plot, report, n);
    ab_plot_end(&plot);
}

void ab_page_memory(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_session *s = report->session;
    double most = highest(s);
    struct ab_grid g;
    if (ab_session_is_exec(s)) /* page_program.c: over time, not over operations */
        return;
    if (ab_memory_peak_grid(report->view, &g)) {
        ab_page_grid(h, report, "Memory at the peak of the run", &g);
        put_whys(h, s, &report->view->memory);
    }
    ab_grid_fini(&g);
    if (most > 0)
        put_timelines(h, report, most);
    put_drained(h, report);
}
