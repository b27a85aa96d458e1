/* SPDX-License-Identifier: MIT
 *
 * What the trace looks like: sizes and lifetimes of its blocks, its live memory, who frees whose
 * blocks.
 */
#include "report/html/flame_figure.h"
#include "report/html/pages/heat_cells.h"
#include "report/html/pages/pages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- sizes and lifetimes ---- */

struct corner { /* classes in use */
    unsigned size_from, size_to, life_to;
    uint64_t most, all, never;
};

static struct corner find_corner(const struct ab_overview *o)
{
    struct corner c = {.size_from = AB_OVERVIEW_CLASSES};
    for (unsigned size = 0; size < AB_OVERVIEW_CLASSES; size++)
        for (unsigned life = 0; life <= AB_OVERVIEW_CLASSES; life++) {
            uint64_t n = o->blocks[size][life];
            if (n == 0)
                continue;
            c.size_from = size < c.size_from ? size : c.size_from;
            c.size_to = size;
            if (life < AB_OVERVIEW_CLASSES)
                c.life_to = life > c.life_to ? life : c.life_to;
            else
                c.never += n;
            c.most = n > c.most ? n : c.most;
            c.all += n;
        }
    return c;
}

static size_t list_cells(const struct ab_overview *o, const struct corner *c,
                         struct ab_heat_cell *cells)
{
    size_t n = 0;
    for (unsigned size = c->size_from; size <= c->size_to; size++)
        for (unsigned life = 0; life <= AB_OVERVIEW_CLASSES; life++) {
            bool is_never = life == AB_OVERVIEW_CLASSES;
            double to = is_never ? c->life_to + 2 : life;
            if (o->blocks[size][life] > 0)
                cells[n++] = (struct ab_heat_cell){exp2(to - 1), exp2(to), exp2(size - 1.0),
                                                   exp2(size),
                                                   (double)o->blocks[size][life] / (double)c->all};
        }
    return n;
}

/* Powers of two read better than those of ten. */
static void put_sizes(struct ab_plot *plot, const struct corner *c)
{
    unsigned step = (c->size_to - c->size_from) / 8 + 1;
    for (unsigned k = c->size_from; k <= c->size_to; k += step) {
        char text[48];
        ab_plot_text(plot, AB_COLOUR_SOFT, plot->x.from - 7, ab_axis_at(&plot->y, exp2(k)) + 4,
                     "end", ab_axis_tick(text, sizeof text, AB_AXIS_BYTES, exp2(k)));
    }
}

static void put_lifetimes(struct ab_html *h, const struct ab_overview *o)
{
    static struct ab_heat_cell cells[AB_OVERVIEW_CLASSES * (AB_OVERVIEW_CLASSES + 1)];
    struct corner c = find_corner(o);
    if (c.all == 0)
        return;
    double end = exp2(c.life_to + (c.never > 0 ? 2 : 0));
    struct ab_plot plot = {
        .x = {AB_SCALE_LOG, 0.5, end, "lifetime, calls", AB_AXIS_COUNT},
        .y = {AB_SCALE_LOG, exp2(c.size_from - 1.0), exp2(c.size_to), "size of the block",
              AB_AXIS_BYTES},
        .is_x_exact = true,
        .is_y_exact = true,
    };
    ab_plot_begin(&plot, h,
                  &(struct ab_figure){
                      .title = "Sizes and lifetimes",
                      .description = "How many blocks of which size lived for how many calls",
                      .why = "Dark on the left: blocks that die soon, for an arena or the stack. A "
                             "dark row: many blocks of one size, for a pool. The column on the "
                             "right: blocks that are never freed. The scale of the shades is "
                             "logarithmic.",
                      .has_no_y = true});
    put_sizes(&plot, &c);
    if (c.never > 0) {
        ab_plot_band_x(&plot, AB_COLOUR_FLOOR, exp2(c.life_to + 1), end, "");
        ab_plot_text(&plot, AB_COLOUR_SOFT, plot.x.to, plot.y.to - 7, "end", "never freed");
    }
    ab_heat_cells(&plot, cells, list_cells(o, &c, cells), 1.0 / (double)c.all,
                  (double)c.most / (double)c.all);
    ab_plot_end(&plot);
}

/* ---- live memory ---- */

static void put_live(struct ab_html *h, const struct ab_overview *o)
{
    static struct ab_point low[AB_OVERVIEW_STEPS], high[AB_OVERVIEW_STEPS];
    uint64_t most = 0;
    for (uint32_t i = 0; i < o->n_steps; i++) {
        double x = fmin(((double)i + .5) * (double)o->step_calls, (double)o->n_calls);
        low[i] = (struct ab_point){x, (double)o->live[i].low};
        high[i] = (struct ab_point){x, (double)o->live[i].high};
        most = o->live[i].high > most ? o->live[i].high : most;
    }
    struct ab_plot plot = {
        .x = {AB_SCALE_LINEAR, 0, (double)o->n_calls, "calls", AB_AXIS_COUNT},
        .y = {AB_SCALE_LINEAR, 0, (double)most, "live bytes", AB_AXIS_BYTES},
        .is_x_exact = true,
    };
    struct ab_paint paint = {.colour = AB_COLOUR_LIVE, .title = "live bytes"};
    ab_plot_begin(&plot, h,
                  &(struct ab_figure){
                      .title = "Live memory of the trace",
                      .description = "Requested bytes of live blocks over the calls of the trace",
                      .why = "What the program had asked for and not freed. The line is the most "
                             "and the area goes down to the least of each stretch of calls."});
    ab_plot_area(&plot, paint, low, high, o->n_steps);
    ab_plot_line(&plot, paint, high, o->n_steps);
    ab_plot_end(&plot);
}

/* ---- threads ---- */

static const char *row_text(char buf[24], const struct ab_overview *o, uint32_t row)
{
    if (o->thread[row] == AB_OVERVIEW_OTHERS)
        return "others";
    snprintf(buf, 24, "%d", (int)o->thread[row]);
    return buf;
}

static void put_matrix_cells(struct ab_plot *plot, const struct ab_overview *o)
{
    static struct ab_heat_cell cells[AB_OVERVIEW_THREADS * AB_OVERVIEW_THREADS];
    uint64_t most = 0, all = 0;
    size_t n = 0;
    for (uint32_t a = 0; a < o->n_rows; a++)
        for (uint32_t f = 0; f < o->n_rows; f++) {
            most = o->freed[a][f] > most ? o->freed[a][f] : most;
            all += o->freed[a][f];
        }
    for (uint32_t a = 0; a < o->n_rows && all > 0; a++)
        for (uint32_t f = 0; f < o->n_rows; f++)
            cells[n++] = (struct ab_heat_cell){f, f + 1.0, o->n_rows - a - 1.0, o->n_rows - a,
                                               (double)o->freed[a][f] / (double)all};
    if (all > 0)
        ab_heat_cells(plot, cells, n, 1.0 / (double)all, (double)most / (double)all);
}

static void put_threads(struct ab_html *h, const struct ab_overview *o)
{
    char text[24];
    if (o->n_rows < 2)
        return;
    struct ab_plot plot = {
        .x = {AB_SCALE_LINEAR, 0, o->n_rows, "freed by (in the order of the rows)", AB_AXIS_COUNT},
        .y = {AB_SCALE_LINEAR, 0, o->n_rows, "allocated by thread", AB_AXIS_COUNT},
        .is_x_exact = true,
        .is_y_exact = true,
    };
    ab_plot_begin(&plot, h,
                  &(struct ab_figure){
                      .title = "Who frees what",
                      .description = "Blocks by the thread that allocated and the thread that "
                                     "freed them",
                      .why = "Each row is a thread that allocates, numbered in the order of their "
                             "first call; each column, in the same order, a thread that frees. "
                             "What is off the diagonal is freed by another thread. The scale of "
                             "the shades is logarithmic.",
                      .height = 90 + 16.0 * o->n_rows,
                      .has_no_y = true});
    put_matrix_cells(&plot, o);
    for (uint32_t row = 0; row < o->n_rows; row++) {
        double y =
            (ab_axis_at(&plot.y, o->n_rows - row) + ab_axis_at(&plot.y, o->n_rows - row - 1.0)) / 2;
        ab_plot_text(&plot, AB_COLOUR_SOFT, plot.x.from - 7, y + 4, "end", row_text(text, o, row));
    }
    ab_plot_end(&plot);
}

void ab_page_overview(struct ab_html *h, const struct ab_overview *o)
{
    if (o->n_calls == 0)
        return;
    ab_page_figures_begin(h);
    put_lifetimes(h, o);
    put_live(h, o);
    put_threads(h, o);
    ab_page_figures_end(h);
}

/* A stored result has no stacks: they are in the trace. */
static void put_stacks(struct ab_html *h, const struct ab_stacks *stacks)
{
    if (stacks != NULL)
        ab_flame_figures(h, stacks);
    else
        ab_html_f(
            h, "<p class=\"few\">Flame graphs of a trace with call sites (<code>allocbench "
               "record --sites</code>) are in the report that <code>replay --html</code> writes, "
               "and in <code>allocbench trace info --html FILE TRACE</code>.</p>\n");
}

void ab_page_trace(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_overview *o = report->session->overview;
    if (o == NULL || o->n_calls == 0)
        return;
    ab_page_overview(h, o);
    put_stacks(h, report->session->stacks);
}
