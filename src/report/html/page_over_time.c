/* SPDX-License-Identifier: MIT
 *
 * Latency over time: for each back end a map of the ops by when they ran and how long they took.
 */
#include "report/format.h"
#include "report/html/pages.h"
#include "report/html/plot.h"

#include "core/memory.h"
#include "stats/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_SHARE 1e-4 /* of the calls of a column, in the faintest shade */
/* Columns of a map; with many back ends fewer, so that the page stays small. */
enum { COLUMNS_MOST = 72, COLUMNS_FEW = 48, MANY = 6 };

struct column { /* of all rounds */
    uint32_t begin, end;
    uint64_t n, counts[AB_WINDOW_BINS];
};

struct map {
    struct column columns[COLUMNS_MOST];
    unsigned n;
};

/* The windows of a back end in the order of the op clock, those of one stretch side by side. */
struct stretches {
    const struct ab_window **list;
    uint32_t n, n_stretches;
};

static int by_begin(const void *a, const void *b)
{
    const struct ab_window *x = *(const struct ab_window *const *)a;
    const struct ab_window *y = *(const struct ab_window *const *)b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static void list_windows(const struct ab_session *s, uint32_t backend, struct stretches *out)
{
    *out = (struct stretches){
        .list = ab_alloc_zeroed((size_t)s->n_windows + 1, sizeof out->list[0])};
    for (uint32_t i = 0; i < s->n_windows; i++)
        if (s->windows[i].backend == backend && s->windows[i].end > s->windows[i].begin)
            out->list[out->n++] = &s->windows[i];
    qsort(out->list, out->n, sizeof out->list[0], by_begin);
    for (uint32_t i = 0; i < out->n; i++)
        out->n_stretches += i == 0 || out->list[i]->begin != out->list[i - 1]->begin;
}

/* False where nothing is known of the bins: in results of older versions. */
static bool make_map(const struct stretches *x, unsigned most, struct map *map)
{
    uint32_t stretch = 0;
    uint64_t known = 0;
    *map = (struct map){.n = x->n_stretches < most ? x->n_stretches : most};
    for (uint32_t i = 0; i < x->n; i++) {
        const struct ab_window *w = x->list[i];
        stretch += i > 0 && w->begin != x->list[i - 1]->begin;
        struct column *c = &map->columns[(uint64_t)stretch * map->n / x->n_stretches];
        if (c->end == 0)
            c->begin = w->begin;
        c->end = w->end > c->end ? w->end : c->end;
        for (unsigned bin = 0; bin < AB_WINDOW_BINS; bin++) {
            c->counts[bin] += w->counts[bin];
            c->n += w->counts[bin];
            known += w->counts[bin];
        }
    }
    return known > 0;
}

/* The first bin in use, and the last plus 1, of all maps. */
struct range {
    unsigned from, to;
};

static void widen(const struct map *map, struct range *r)
{
    for (unsigned i = 0; i < map->n; i++)
        for (unsigned bin = 0; bin < AB_WINDOW_BINS; bin++)
            if (map->columns[i].counts[bin] > 0) {
                r->from = bin < r->from ? bin : r->from;
                r->to = bin + 1 > r->to ? bin + 1 : r->to;
            }
}

static void draw(struct ab_plot *plot, const struct map *map)
{
    size_t n = 0;
    struct ab_heat_cell *cells = ab_alloc_zeroed(COLUMNS_MOST * AB_WINDOW_BINS, sizeof cells[0]);
    for (unsigned i = 0; i < map->n; i++)
        for (unsigned bin = 0; bin < AB_WINDOW_BINS; bin++) {
            const struct column *c = &map->columns[i];
            if (c->counts[bin] > 0)
                cells[n++] = (struct ab_heat_cell){
                    c->begin,
                    c->end,
                    fmax((double)ab_window_bin_low(bin), 0.5),
                    (double)ab_window_bin_low(bin + 1),
                    (double)c->counts[bin] / (double)c->n,
                };
        }
    ab_heat_cells(plot, cells, n, LEAST_SHARE, 1);
    free(cells);
}

static void put_map(struct ab_html *h, const struct ab_session *s, uint32_t backend,
                    const struct map *map, const struct range *range)
{
    char label[sizeof s->backends->name + 32];
    struct ab_plot plot = {
        .x = {AB_SCALE_LINEAR, 0, (double)map->columns[map->n - 1].end, "operations",
              AB_AXIS_COUNT},
        .y = {AB_SCALE_LOG, fmax((double)ab_window_bin_low(range->from), 0.5),
              (double)ab_window_bin_low(range->to), "time of one call", AB_AXIS_TIME},
        .is_x_exact = true,
        .is_y_exact = true,
    };
    ab_plot_begin(
        &plot, h,
        &(struct ab_figure){
            .title = ab_format_backend(label, sizeof label, &s->backends[backend]),
            .description = "How many calls took how long, over the operations of the work",
            .why = "Each column is a stretch of the work. The darker a cell, the larger "
                   "the share of the calls in that stretch which took that long; the "
                   "scale is logarithmic, from 0.01 % to all. Of all rounds and kinds of "
                   "calls. All pictures have one scale.",
            .words = (const char *const[]){"op clock", "distribution", NULL},
            .height = 240});
    if (isfinite(s->timer.floor_ns) && s->timer.floor_ns > plot.y.low)
        ab_plot_band_y(&plot, AB_COLOUR_FLOOR, plot.y.low, s->timer.floor_ns,
                       "below the clock's floor");
    draw(&plot, map);
    ab_plot_end(&plot);
}

static void put_key(struct ab_html *h, double floor_ns)
{
    const struct ab_colour_info *heat = &ab_colours[AB_COLOUR_HEAT];
    char floor_text[64], text[100];
    ab_html_f(h,
              "<ul class=\"legend\"><li><span class=\"name\">%.2f %%<svg class=\"swatch\" "
              "viewBox=\"0 0 %d 10\" aria-hidden=\"true\"><g class=\"%s\" color=\"%s\" "
              "fill=\"currentColor\">",
              100 * LEAST_SHARE, 6 * AB_HEAT_SHADES, heat->class_name, heat->light);
    for (unsigned i = 0; i < AB_HEAT_SHADES; i++)
        ab_html_f(h, "<rect x=\"%u\" width=\"6\" height=\"10\" fill-opacity=\"%.2f\"/>", 6 * i,
                  (i + 1.0) / AB_HEAT_SHADES);
    ab_html_f(h, "</g></svg>100 %% of the calls of a stretch</span></li>");
    if (isfinite(floor_ns)) {
        snprintf(text, sizeof text, "below the clock's floor (%s)",
                 ab_axis_tick(floor_text, sizeof floor_text, AB_AXIS_TIME, floor_ns));
        ab_page_key(h, AB_COLOUR_FLOOR, text);
    }
    ab_html_f(h, "</ul>\n");
}

void ab_page_over_time(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_session *s = report->session;
    struct map *maps = ab_alloc_zeroed((size_t)s->n_backends + 1, sizeof maps[0]);
    struct range range = {AB_WINDOW_BINS, 0};
    struct stretches x;
    unsigned most = s->n_backends > MANY ? COLUMNS_FEW : COLUMNS_MOST;
    for (uint32_t b = 0; b < s->n_backends; b++) {
        if (!ab_page_shows(s, b))
            continue;
        list_windows(s, b, &x);
        if (make_map(&x, most, &maps[b]))
            widen(&maps[b], &range);
        else
            maps[b].n = 0;
        free(x.list);
    }
    if (range.to > 0) {
        put_key(h, s->timer.floor_ns);
        ab_page_figures_begin(h);
        for (uint32_t i = 0; i < s->n_backends; i++) {
            uint32_t b = ab_page_ranked(report, i);
            if (maps[b].n > 0)
                put_map(h, s, b, &maps[b], &range);
        }
        ab_page_figures_end(h);
    }
    free(maps);
}
