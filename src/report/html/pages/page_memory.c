/* SPDX-License-Identifier: MIT
 *
 * Memory over the op clock, split; at its peak, in bytes that add up; and once all is freed.
 */
#include "report/html/pages/pages.h"

#include "core/median.h"
#include "core/units_show.h"
#include "report/format.h"
#include "report/table/answer/table_peak.h"
#include "report/view/view.h"
#include "stats/aggregate.h"

#include <math.h>
#include <stdlib.h>

enum { COLUMNS = 120, PARTS = AB_VIEW_MEMORY_PARTS, ROW_PX = 17 };

static const enum ab_colour colours[PARTS] = {AB_COLOUR_LIVE, AB_COLOUR_INTERNAL,
                                              AB_COLOUR_EXTERNAL, AB_COLOUR_RETAINED};

/* ---- over time ---- */

static const struct ab_timeline *first_timeline(const struct ab_session *s, uint32_t backend)
{
    for (uint32_t i = 0; i < s->n_timelines; i++)
        if (s->timelines[i].backend == backend && s->timelines[i].n > 1 &&
            ab_page_shows(s, backend))
            return &s->timelines[i];
    return NULL;
}

/* Of up to COLUMNS stretches of a line the point with the largest footprint; how many. */
static uint32_t thin(const struct ab_timeline *t, const struct ab_timeline_point **out)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < COLUMNS; c++) {
        uint32_t from = (uint32_t)((uint64_t)t->n * c / COLUMNS);
        uint32_t to = (uint32_t)((uint64_t)t->n * (c + 1) / COLUMNS);
        const struct ab_timeline_point *best = NULL;
        for (uint32_t i = from; i < to; i++)
            if (isfinite(t->points[i].footprint_bytes) &&
                (best == NULL || t->points[i].footprint_bytes > best->footprint_bytes))
                best = &t->points[i];
        if (best != NULL)
            out[n++] = best;
    }
    return n;
}

static bool is_split(const struct ab_timeline_point *p)
{
    return isfinite(p->requested_bytes) && isfinite(p->external_bytes);
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

/* Points [first, end), all of them split. */
static void put_stretch(struct ab_plot *plot, const struct ab_timeline_point *const *points,
                        uint32_t first, uint32_t end)
{
    struct ab_point edges[PARTS + 1][COLUMNS];
    for (uint32_t i = first; i < end; i++) {
        double ends[PARTS];
        stack(points[i], ends);
        edges[0][i - first] = (struct ab_point){points[i]->position, 0};
        for (unsigned k = 0; k < PARTS; k++)
            edges[k + 1][i - first] = (struct ab_point){points[i]->position, ends[k]};
    }
    for (unsigned k = 0; k < PARTS; k++)
        ab_plot_area(plot,
                     (struct ab_paint){.colour = colours[k], .title = ab_view_memory_part_names[k]},
                     edges[k], edges[k + 1], end - first);
}

/* Areas where the parts are known; the footprint as a line where they are not everywhere. */
static void put_areas(struct ab_plot *plot, const struct ab_timeline *t)
{
    const struct ab_timeline_point *points[COLUMNS];
    struct ab_point footprint[COLUMNS];
    uint32_t n = thin(t, points), n_split = 0;
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && is_split(points[end]); end++) {
        }
        n_split += end - i;
        if (end > i)
            put_stretch(plot, points, i, end);
        else
            end++;
    }
    for (uint32_t i = 0; i < n; i++)
        footprint[i] = (struct ab_point){points[i]->position, points[i]->footprint_bytes};
    if (n_split < n)
        ab_plot_line(plot, (struct ab_paint){.colour = colours[AB_VIEW_LIVE], .title = "footprint"},
                     footprint, n);
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
        ab_html_f(h,
                  "<li><span class=\"name\"><svg class=\"swatch\" viewBox=\"0 0 34 10\" "
                  "aria-hidden=\"true\"><rect class=\"%s\" color=\"%s\" fill=\"currentColor\" "
                  "width=\"34\" height=\"10\"/></svg>%s</span></li>",
                  ab_colours[colours[k]].class_name, ab_colours[colours[k]].light,
                  ab_view_memory_part_names[k]);
    ab_html_f(h, "</ul>\n");
}

static void put_timelines(struct ab_html *h, const struct ab_session *s, double most)
{
    static const char *const parts[] = {"live", "internal", "external", "retained", NULL};
    struct ab_paint key[PARTS];
    char label[sizeof s->backends->name + 32];
    for (unsigned k = 0; k < PARTS; k++)
        key[k] = (struct ab_paint){
            .colour = colours[k], .width = 10, .title = ab_view_memory_part_names[k]};
    put_key(h);
    ab_page_figures_begin(h);
    for (uint32_t b = 0; b < s->n_backends; b++) {
        const struct ab_timeline *t = first_timeline(s, b);
        if (t == NULL)
            continue;
        struct ab_plot plot = {
            .x = {AB_SCALE_LINEAR, 0, fmax((double)s->n_tape_ops, t->points[t->n - 1].position),
                  "operations", AB_AXIS_COUNT},
            .y = {AB_SCALE_LINEAR, 0, most, "resident bytes", AB_AXIS_BYTES},
            .is_x_exact = true,
        };
        ab_plot_begin(
            &plot, h,
            &(struct ab_figure){
                .title = ab_format_backend(label, sizeof label, &s->backends[b]),
                .description = "Resident memory over the operations of the work, split into what "
                               "is live and what is not",
                .why = "From below: live, internal, external, retained. The upper edge is the "
                       "footprint; where it is a line, its parts are not known. Of one round; of "
                       "each stretch the largest footprint. All pictures have one scale.",
                .words = parts,
                .height = 220,
                .legend = key,
                .n_legend = PARTS});
        put_areas(&plot, t);
        ab_plot_end(&plot);
    }
    ab_page_figures_end(h);
}

/* ---- the peak ---- */

static void put_whys(struct ab_html *h, const struct ab_view_memory_row *row)
{
    ab_html_f(h, "<td>");
    for (unsigned k = 0; k < PARTS; k++)
        if (!isfinite(row->parts[k]) && row->whys[k] != NULL && row->whys[k][0] != 0)
            ab_html_f(h, "%s n/a: %s. ", ab_view_memory_part_names[k], row->whys[k]);
    ab_html_f(h, "</td>");
}

static void put_peaks(struct ab_html *h, const struct ab_report *report,
                      const struct ab_view_memory *view)
{
    static const char *const columns[] = {
        "allocator", "#live", "#+ internal", "#+ external", "#+ retained", "#= peak", "", NULL};
    const struct ab_session *s = report->session;
    double most = NAN;
    for (uint32_t b = 0; b < view->n_rows; b++)
        most = fmax(most, view->rows[b].peak_bytes); /* fmax passes over NaN */
    const struct ab_peak_scale scale = ab_peak_scale_of(most);
    ab_page_table_begin(h, "Memory at the peak of the run", columns);
    for (uint32_t b = 0; b < view->n_rows; b++) {
        const struct ab_view_memory_row *row = &view->rows[b];
        char cells[PARTS + 1][AB_CELL_BYTES];
        struct ab_footnotes notes = {0}; /* put_whys has the reasons */
        if (!ab_page_shows(s, b) || !isfinite(row->peak_bytes))
            continue;
        ab_peak_fill(row, &scale, cells, &notes, true);
        ab_html_f(h, "<tr><th scope=\"row\">");
        ab_page_backend(h, report, b);
        ab_html_f(h, "</th>");
        for (unsigned k = 0; k <= PARTS; k++)
            if (k == PARTS || isfinite(row->parts[k]))
                ab_html_f(h, "<td class=\"n\">%s %s</td>", cells[k], scale.name);
            else
                ab_html_f(h, "<td class=\"n\">n/a</td>");
        put_whys(h, row);
        ab_html_f(h, "</tr>\n");
    }
    ab_page_table_end(h);
}

/* ---- after everything is freed ---- */

/* Median over the rounds; NaN = not measured. */
static double drained(const struct ab_session *s, uint32_t backend, unsigned when)
{
    double *x = malloc(((size_t)s->n_memory + 1) * sizeof x[0]);
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_memory && x != NULL; i++)
        if (s->memory[i].backend == backend && isfinite(s->memory[i].drained_bytes[when]))
            x[n++] = s->memory[i].drained_bytes[when];
    double median = n > 0 ? ab_median(x, n) : (double)NAN;
    free(x);
    return median;
}

static const char *const drain_texts[AB_DRAIN_COUNT] = {"immediately", "after 0.1 s", "after 1 s",
                                                        "after 10 s", "purged"};

#define GROUP_GAP 0.6 /* rows between two back ends */

enum { LABEL_CHARS = 40, LABEL_BYTES = 4 * LABEL_CHARS + 8 };

static const char *row_label(char buf[LABEL_BYTES], const struct ab_session *s, uint32_t backend)
{
    char label[sizeof s->backends->name + 32];
    ab_format_backend(label, sizeof label, &s->backends[backend]);
    return ab_page_cut(buf, LABEL_BYTES, label, LABEL_CHARS);
}

static void put_bars(struct ab_plot *plot, const struct ab_report *report, double n_rows)
{
    const struct ab_session *s = report->session;
    double row = 0;
    for (uint32_t b = 0; b < s->n_backends; b++) {
        struct ab_paint paint = ab_report_paint(report, s->backends[b].name);
        bool is_first = true;
        for (unsigned k = 0; ab_page_shows(s, b) && k < AB_DRAIN_COUNT; k++) {
            char text[240], label[LABEL_BYTES];
            double bytes = drained(s, b, k), y = n_rows - row;
            if (!isfinite(bytes))
                continue;
            y -= is_first && row > 0 ? GROUP_GAP : 0;
            row += is_first && row > 0 ? GROUP_GAP : 0;
            snprintf(text, sizeof text, "%s%s%s", is_first ? row_label(label, s, b) : "",
                     is_first ? ", " : "", drain_texts[k]);
            is_first = false;
            ab_plot_bar(plot, paint, (struct ab_point){0, y - .15},
                        (struct ab_point){bytes, y - .85}, k == AB_DRAIN_COUNT - 1 ? .45 : 1);
            double middle = (ab_axis_at(&plot->y, y) + ab_axis_at(&plot->y, y - 1)) / 2;
            ab_plot_text(plot, AB_COLOUR_SOFT, plot->x.from - 7, middle + 4, "end", text);
            row++;
        }
    }
}

/* Widest label and number of rows, with the gaps between; the most bytes. */
static double measure(const struct ab_session *s, double *left, double *most)
{
    double n = 0;
    for (uint32_t b = 0; b < s->n_backends; b++) {
        double before = n;
        char label[LABEL_BYTES];
        for (unsigned k = 0; ab_page_shows(s, b) && k < AB_DRAIN_COUNT; k++) {
            double bytes = drained(s, b, k);
            n += isfinite(bytes);
            *most = isfinite(bytes) ? fmax(*most, bytes) : *most;
        }
        n += n > before && before > 0 ? GROUP_GAP : 0;
        *left = fmax(*left, ab_axis_text_width(row_label(label, s, b), 12));
    }
    *left = fmin(*left + ab_axis_text_width(", after 0.1 s", 12) + 14, 420);
    return n;
}

static void put_drained(struct ab_html *h, const struct ab_report *report)
{
    double left = 0, most = 0;
    double n = measure(report->session, &left, &most);
    if (n <= 0)
        return;
    struct ab_plot plot = {.x = {AB_SCALE_LINEAR, 0, most, "resident bytes", AB_AXIS_BYTES},
                           .y = {AB_SCALE_LINEAR, 0, n, "", AB_AXIS_COUNT},
                           .is_y_exact = true};
    ab_plot_begin(&plot, h,
                  &(struct ab_figure){
                      .title = "Memory after everything was freed",
                      .description = "Resident memory of each allocator once all blocks were freed",
                      .why = "Medians of the rounds.",
                      .words = (const char *const[]){"after free", NULL},
                      .height = 66 + ROW_PX * n,
                      .left = left,
                      .is_wide = true,
                      .has_no_y = true});
    put_bars(&plot, report, n);
    ab_plot_end(&plot);
}

void ab_page_memory(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_session *s = report->session;
    const struct ab_view_memory *view = &report->view->memory;
    double most = highest(s);
    bool is_any = false;
    if (ab_session_is_exec(s)) /* page_program.c: over time, not over operations */
        return;
    for (uint32_t b = 0; b < view->n_rows; b++)
        is_any = is_any || (ab_page_shows(s, b) && isfinite(view->rows[b].peak_bytes));
    if (is_any)
        put_peaks(h, report, view);
    if (most > 0)
        put_timelines(h, s, most);
    put_drained(h, report);
}
