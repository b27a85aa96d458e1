/* SPDX-License-Identifier: MIT
 *
 * The page about memory: its parts over the op clock, at the peak in bytes that add up, and once
 * everything is freed.
 */
#include "report/html/report_pages.h"

#include "answer/answer.h"
#include "core/units_show.h"
#include "result/shown.h"
#include "stats/metric.h"

#include <math.h>
#include <string.h>

enum {
    PARTS = AB_VIEW_RETAINED + 1 /* the aged heap counts as live */,
    ROW_PX = 17,
    NAME_CHARS = 60,
    NAME_BYTES = 4 * NAME_CHARS + 8
};

static const char unknown[] = "parts not known";
static const enum ab_colour colours[PARTS] = {AB_COLOUR_LIVE, AB_COLOUR_INTERNAL,
                                              AB_COLOUR_EXTERNAL, AB_COLOUR_RETAINED};

/* ---- over time ---- */

/* Draws the points [first, end) of a footprint, either split into parts or as a whole. */
static void put_stretch(struct ab_plot *plot, const struct ab_view_footprint *f, uint32_t first,
                        uint32_t end, bool has_parts)
{
    struct ab_point below[AB_VIEW_STRETCHES], above[AB_VIEW_STRETCHES];
    for (uint32_t i = first; i < end; i++)
        below[i] = (struct ab_point){f->points[i].x, 0};
    for (unsigned k = has_parts ? 0 : PARTS - 1; k < PARTS; k++) {
        for (uint32_t i = first; i < end; i++)
            above[i] = (struct ab_point){f->points[i].x, f->points[i].ends[k]};
        ab_plot_area(plot,
                     (struct ab_paint){.colour = has_parts ? colours[k] : AB_COLOUR_UNKNOWN,
                                       .title = has_parts ? ab_view_memory_part_names[k] : unknown},
                     below + first, above + first, end - first);
        memcpy(below + first, above + first, (end - first) * sizeof below[0]);
    }
}

/* Draws an area for each part between two points with known parts, otherwise one area for the
 * whole. Returns true if all parts are known. */
static bool put_areas(struct ab_plot *plot, const struct ab_view_footprint *f)
{
    bool is_all = true;
    for (uint32_t i = 0, end; i + 1 < f->n; i = end) {
        bool has_parts = f->points[i].is_split && f->points[i + 1].is_split;
        for (end = i + 1; end + 1 < f->n; end++)
            if ((f->points[end].is_split && f->points[end + 1].is_split) != has_parts)
                break;
        put_stretch(plot, f, i, end + 1, has_parts);
        is_all = is_all && has_parts;
    }
    return is_all;
}

static void put_key(struct ab_html *h)
{
    ab_html_f(h, "<ul class=\"legend\">");
    for (unsigned k = PARTS; k-- > 0;)
        ab_page_key(h, colours[k], ab_view_memory_part_names[k]);
    ab_page_key(h, AB_COLOUR_UNKNOWN, unknown);
    ab_html_f(h, "</ul>\n");
}

/* Draws the timeline of a back end. Returns true if the parts are known everywhere. */
static bool put_timeline(struct ab_html *h, const struct ab_session *s,
                         const struct ab_view_footprint *f, double most)
{
    static const char *const parts[] = {"live", "internal", "external", "retained", NULL};
    char label[sizeof s->backends->name + 32];
    struct ab_paint key[PARTS + 1] = {
        [PARTS] = {.colour = AB_COLOUR_UNKNOWN, .width = 10, .title = unknown}};
    for (unsigned k = 0; k < PARTS; k++)
        key[k] = (struct ab_paint){
            .colour = colours[k], .width = 10, .title = ab_view_memory_part_names[k]};
    struct ab_plot plot = {
        .x = {AB_SCALE_LINEAR, 0, f->x_end, "operations", AB_AXIS_COUNT},
        .y = {AB_SCALE_LINEAR, 0, most, "resident bytes, first round", AB_AXIS_BYTES},
        .is_x_exact = true,
    };
    ab_plot_begin(&plot, h,
                  &(struct ab_figure){
                      .title = ab_format_backend(label, sizeof label, &s->backends[f->backend]),
                      .description = "Resident memory over the operations of the work, split into "
                                     "what is live and what is not",
                      .why = "From below: live, internal, external, retained. The upper edge is "
                             "the footprint; of each stretch the largest is drawn. "
                             "All pictures have one scale.",
                      .words = parts,
                      .height = 220,
                      .legend = key,
                      .n_legend = PARTS + 1});
    bool is_all = put_areas(&plot, f);
    ab_plot_end(&plot);
    return is_all;
}

static void put_timelines(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_view_pictures *all = ab_view_pictures(report->view);
    bool is_all = true;
    if (!(all->footprints_most > 0))
        return;
    put_key(h);
    ab_page_figures_begin(h);
    for (uint32_t i = 0; i < all->n_footprints; i++)
        is_all = put_timeline(h, report->session, &all->footprints[i], all->footprints_most) &&
                 is_all;
    ab_page_figures_end(h);
    if (!is_all)
        ab_html_f(h, "<p class=\"soft\">Parts not known: which pages of the heap are resident was "
                     "not looked at there, because it takes long, or it contradicts itself.</p>\n");
}

/* ---- after everything is freed ---- */

static const char *const drain_texts[AB_DRAIN_COUNT] = {"immediately", "after 0.1 s", "after 1 s",
                                                        "after 10 s", "purged"};

/* Draws the name of each back end, and below it a bar for each moment after freeing. */
static void put_bars(struct ab_plot *plot, const struct ab_report *report, double n_rows)
{
    const struct ab_session *s = report->session;
    double y = n_rows;
    for (uint32_t i = 0; i < s->n_backends; i++) {
        uint32_t b = ab_page_ranked(report, i);
        char label[sizeof s->backends->name + 32], cut[NAME_BYTES], value[32];
        bool is_first = true;
        for (unsigned k = 0; ab_view_shows(s, b) && k < AB_DRAIN_COUNT; k++) {
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
        for (unsigned k = 0; ab_view_shows(s, b) && k < AB_DRAIN_COUNT; k++) {
            double bytes = ab_view_memory_drained(s, b, k);
            n += isfinite(bytes) ? 1 : 0;
            *most = fmax(*most, bytes); /* fmax ignores NaN */
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
    if (ab_session_is_exec(report->session)) /* page_program.c shows it over time instead of
                                                operations */
        return;
    ab_page_topics(h, report, AB_PAGE_PEAK, NULL, NULL);
    ab_page_topics(h, report, AB_PAGE_PINS, NULL, NULL);
    ab_page_topics(h, report, AB_PAGE_GROWTH, NULL, ab_page_courses);
    ab_page_topics(h, report, AB_PAGE_IDLE, NULL, NULL);
    put_timelines(h, report);
    ab_page_topics(h, report, AB_PAGE_WALKS, NULL, NULL);
    put_drained(h, report);
}
