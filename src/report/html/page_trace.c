/* SPDX-License-Identifier: MIT
 *
 * The pages about a trace: sizes and lifetimes of its blocks, its live memory, and which threads
 * free whose blocks. Also writes the report of a trace alone, with call sites, flame graphs and
 * scopes.
 */
#include "report/html/page_trace.h"

#include "base/bits.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/html/frame.h"
#include "report/html/plot.h"
#include "report/html/report_pages.h"
#include "result/shown.h"

#include <math.h>
#include <stdio.h>

/* ---- sizes and lifetimes ---- */

/* range of the classes that have blocks. most: largest number of blocks in a class; all, never:
 * number of all blocks, and of the blocks that are never freed */
struct corner {
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

/* Writes the labels of sizes, which are easier to read as powers of two than of ten. */
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
                      .description = "Blocks by size and by lifetime in calls",
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
                      .why = "Bytes that the program had requested and not freed. In each "
                             "stretch of calls the line is the largest value, and the area goes "
                             "down to the smallest."});
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
                      .why = "Each row is a thread that allocates, numbered in the order of "
                             "their first call; each column, in the same order, a thread that "
                             "frees. Blocks off the diagonal are freed by another thread. The "
                             "scale of the shades is logarithmic.",
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

static void put_pictures(struct ab_html *h, const struct ab_overview *o)
{
    if (o->n_calls == 0)
        return;
    ab_page_figures_begin(h);
    put_lifetimes(h, o);
    put_live(h, o);
    put_threads(h, o);
    ab_page_figures_end(h);
}

/* Draws flame graphs. A result that was read from a file has no stacks, because they are in the
 * trace. */
static void put_stacks(struct ab_html *h, const struct ab_session *s)
{
    if (s->stacks != NULL)
        ab_flame_figures(h, s->stacks, ab_backend_label(&s->backends[0]));
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
    put_pictures(h, o);
    put_stacks(h, report->session);
}

/* ---- overview ---- */

static void put_facts(struct ab_html *h, const char *caption,
                      const struct ab_trace_report_fact *facts, size_t n)
{
    static const char *const columns[] = {"", "", NULL};
    ab_page_table_begin(h, caption, columns);
    for (size_t i = 0; i < n; i++)
        if (facts[i].text[0] != 0)
            ab_html_f(h, "<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n", facts[i].name,
                      facts[i].text);
    ab_page_table_end(h);
}

static void put_overview(struct ab_html *h, const void *user)
{
    const struct ab_trace_report *r = user;
    put_facts(h, "The trace", r->facts, r->n_facts);
    put_pictures(h, r->overview);
}

/* ---- call sites ---- */

/* Writes a cell with bytes. The script of the page sorts by the attribute data-v. */
static void put_bytes(struct ab_html *h, uint64_t bytes)
{
    ab_html_f(h, "<td class=\"n\" data-v=\"%llu\">%s</td>", (unsigned long long)bytes,
              AB_BYTES(bytes));
}

static void put_numbers(struct ab_html *h, const struct ab_trace_report_site *s)
{
    char temporary[32];
    ab_html_f(h, "<td class=\"n\" data-v=\"%llu\">%llu</td>", (unsigned long long)s->calls,
              (unsigned long long)s->calls);
    put_bytes(h, s->bytes);
    put_bytes(h, s->peak_bytes);
    put_bytes(h, s->live_bytes);
    AB_FIT(temporary, s->calls > 0 ? "%llu (%.1f %%)" : "n/a", (unsigned long long)s->temporary,
           100 * (double)s->temporary / (double)s->calls);
    ab_html_f(h, "<td class=\"n\" data-v=\"%llu\">%s</td>", (unsigned long long)s->temporary,
              temporary);
    if (s->median_life != UINT64_MAX)
        ab_html_f(h, "<td class=\"n\" data-v=\"%llu\">≤ %llu</td></tr>\n",
                  (unsigned long long)s->median_life, (unsigned long long)s->median_life);
    else
        ab_html_f(h, "<td class=\"n\" data-v=\"-1\">n/a</td></tr>\n");
}

static void put_site(struct ab_html *h, const struct ab_trace_report_site *s)
{
    ab_html_f(h, "<tr><th scope=\"row\" class=\"site\">");
    for (unsigned i = 0; i < AB_TRACE_REPORT_FRAMES && s->frames[i][0] != 0; i++)
        ab_html_f(h, i == 0 ? "<code>%s</code>" : "<br><code class=\"few\">&lt; %s</code>",
                  s->frames[i]);
    ab_html_f(h, "</th>");
    put_numbers(h, s);
}

static void put_rest(struct ab_html *h, const struct ab_trace_report *r)
{
    if (r->n_rest == 0)
        return;
    ab_html_f(h, "</tbody>\n<tbody><tr><th scope=\"row\">%zu more together</th>", r->n_rest);
    put_numbers(h, &r->rest);
}

static void put_sites(struct ab_html *h, const void *user)
{
    static const char *const columns[] = {
        "call site",    "#calls",     "#bytes",       "#live at peak",
        "#never freed", "#temporary", "#median life", NULL};
    const struct ab_trace_report *r = user;
    if (r->why_no_sites != NULL) {
        ab_html_f(h, "<p>%s</p>\n", r->why_no_sites);
        return;
    }
    ab_html_f(
        h, "<p>Calls that give a block, and the bytes that they ask for. <i>Live at peak</i>: of "
           "its blocks, when most bytes of the whole trace were live. <i>Temporary</i>: freed "
           "before the next allocation of the same thread. <i>Median life</i>: calls between "
           "allocation and free.</p>\n");
    ab_page_table_begin(h, "Top call sites (of any column)", columns);
    for (size_t i = 0; i < r->n_sites; i++)
        put_site(h, &r->sites[i]);
    put_rest(h, r);
    ab_page_table_end(h);
}

static void put_flames(struct ab_html *h, const void *user)
{
    const struct ab_trace_report *r = user;
    if (r->why_no_sites == NULL)
        ab_flame_figures(h, r->stacks, NULL);
}

/* ---- scopes ---- */

static void put_curve(struct ab_html *h, const struct ab_trace_report *r, bool is_bytes)
{
    static struct ab_point low[AB_TRACE_REPORT_STEPS], high[AB_TRACE_REPORT_STEPS];
    double most = 0;
    for (size_t i = 0; i < r->n_steps; i++) {
        const struct ab_trace_report_step *s = &r->steps[i];
        double x = fmin(((double)i + .5) * (double)r->step_scopes, (double)r->n_scopes);
        low[i] = (struct ab_point){x, (double)(is_bytes ? s->bytes_low : s->allocs_low)};
        high[i] = (struct ab_point){x, (double)(is_bytes ? s->bytes_high : s->allocs_high)};
        most = fmax(most, high[i].y);
    }
    struct ab_plot plot = {
        .x = {AB_SCALE_LINEAR, 0, (double)r->n_scopes, "scopes", AB_AXIS_COUNT},
        .y = {AB_SCALE_LINEAR, 0, most, is_bytes ? "bytes" : "allocations",
              is_bytes ? AB_AXIS_BYTES : AB_AXIS_COUNT},
        .is_x_exact = true,
    };
    struct ab_paint paint = {.colour = AB_COLOUR_S0,
                             .title = is_bytes ? "bytes of a scope" : "allocations of a scope"};
    ab_plot_begin(
        &plot, h,
        &(struct ab_figure){
            .title = is_bytes ? "Requested bytes, scope by scope" : "Allocations, scope by scope",
            .description = is_bytes ? "Bytes that the allocations and resizes of each scope "
                                      "request"
                                    : "Calls of each scope that allocate",
            .why = "Among neighboring scopes the line is the largest, and the area goes down to "
                   "the smallest. A high scope may be a missed frame or a slow request."});
    ab_plot_area(&plot, paint, low, high, r->n_steps);
    ab_plot_line(&plot, paint, high, r->n_steps);
    ab_plot_end(&plot);
}

static void put_scopes(struct ab_html *h, const void *user)
{
    const struct ab_trace_report *r = user;
    ab_html_f(h, "<p>A scope is a stretch of calls, a frame or a request: it ends at a mark of the "
                 "program, or where no short-lived block is alive.</p>\n");
    put_facts(h, "Scopes of the program", r->scope_facts, r->n_scope_facts);
    if (r->n_steps == 0)
        return;
    ab_page_figures_begin(h);
    put_curve(h, r, false);
    put_curve(h, r, true);
    ab_page_figures_end(h);
}

/* ---- all ---- */

void ab_trace_report_write(FILE *to, const struct ab_trace_report *report)
{
    const struct ab_frame_part parts[] = {
        {"overview", "Overview", put_overview, report},
        {"sites", "Call sites", put_sites, report},
        {"flame", "Flame graphs", put_flames, report},
        {"scopes", "Scopes", put_scopes, report},
    };
    struct ab_html h = {.to = to};
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    ab_frame_document(&h, report->title, report->about, NULL, parts, AB_ARRAY_LEN(parts));
    ab_format_end(&guard);
}

/* ---- flame graphs: layout, and the narrowest box such that there are not too many ---- */

enum { WIDTH = 1040, MARGIN = 2, ROW = 19, FONT = 12, TEXT_GAP = 4, NAME_CHARS = 100 };
enum { NAME_BYTES = 4 * NAME_CHARS + 8 };
static const double NARROWEST = 0.3; /* px */

struct drawing {
    struct ab_html *h;
    bool is_bytes;
    /* px: width of one unit of value; narrowest: width of the narrowest box that is drawn */
    double px, narrowest;
    unsigned rows, n_boxes;
};

static double width_of(const struct drawing *d, const struct ab_flame_node *n)
{
    return (double)n->value * d->px;
}

/* Counts the boxes that are wide enough to be drawn, and their rows. */
static void measure(struct drawing *d, const struct ab_flame_node *n, unsigned row)
{
    if (width_of(d, n) < d->narrowest)
        return;
    d->n_boxes++;
    d->rows = row >= d->rows ? row + 1 : d->rows;
    for (const struct ab_flame_node *c = n->first; c != NULL; c = c->next)
        measure(d, c, row + 1);
}

static void put_text(struct drawing *d, const char *name, double x, double y, double width)
{
    char shown[NAME_BYTES];
    double most = floor((width - 2 * TEXT_GAP) / ab_axis_text_width("m", FONT));
    if (most < 3)
        return;
    ab_page_cut(shown, sizeof shown, name, most < NAME_CHARS ? (unsigned)most : NAME_CHARS);
    ab_html_f(d->h, "<text x=\"%.2f\" y=\"%.0f\">%s</text>", x + TEXT_GAP, y + ROW - 6, shown);
}

static void put_box(struct drawing *d, const struct ab_flame_node *n,
                    const struct ab_flame_node *root, double x, unsigned row)
{
    char name[NAME_BYTES], colour[AB_FLAME_COLOUR_BYTES], value[32];
    double y = (d->rows - 1 - row) * ROW + 1.0, width = width_of(d, n);
    ab_page_cut(name, sizeof name, n->name != NULL ? n->name : "all", NAME_CHARS);
    if (d->is_bytes)
        ab_units_bytes(value, sizeof value, (double)n->value);
    else
        AB_FIT(value, "%llu calls", (unsigned long long)n->value);
    ab_html_f(d->h,
              "<g><title>%s: %s, %.2f %%</title><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" "
              "height=\"%d\" fill=\"%s\"/>",
              name, value, 100 * (double)n->value / (double)root->value, x, y, width, ROW - 1,
              ab_flame_colour(colour, name));
    put_text(d, name, x, y, width);
    ab_html_f(d->h, "</g>\n");
}

static void draw(struct drawing *d, const struct ab_flame_node *n, const struct ab_flame_node *root,
                 double x, unsigned row)
{
    if (width_of(d, n) < d->narrowest)
        return;
    put_box(d, n, root, x, row);
    for (const struct ab_flame_node *c = n->first; c != NULL; c = c->next) {
        draw(d, c, root, x, row + 1);
        x += width_of(d, c);
    }
}

static void put_caption(const struct drawing *d, const char *title)
{
    ab_html_f(
        d->h,
        "<figure data-wide>\n<figcaption>%s<details class=\"why\"><summary>?</summary>"
        "<p>The outermost function is at the bottom, and above each those that it called; the "
        "width of a box is its share, with all that it called. Boxes narrower than %.1f pixels "
        "are not drawn: the box below them has what they have.</p></details></figcaption>\n",
        title, d->narrowest);
}

/* Writes the picture. With is_alone, in a file of its own, it has a white background and its
 * title. */
static void put_svg(struct drawing *d, const struct ab_flame_node *root, const char *title,
                    bool is_alone)
{
    ab_html_f(d->h,
              "%s<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" role=\"img\" "
              "aria-label=\"%s\" font-family=\"ui-monospace, monospace\" font-size=\"%d\" "
              "data-flame=\"%d\">\n",
              is_alone ? "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" : "", WIDTH,
              d->rows * ROW + 2, title, FONT, TEXT_GAP);
    if (is_alone)
        ab_html_f(d->h,
                  "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                  title);
    draw(d, root, root, MARGIN, 0);
    ab_html_f(d->h, "</svg>\n");
}

static void put_figure(struct ab_html *h, const struct ab_flame *flame, bool is_bytes,
                       const char *title)
{
    const struct ab_flame_node *root = flame != NULL ? ab_flame_root(flame) : NULL;
    if (root == NULL || root->value == 0)
        return;
    struct drawing d = {.h = h,
                        .is_bytes = is_bytes,
                        .px = (WIDTH - 2 * MARGIN) / (double)root->value,
                        .narrowest = NARROWEST};
    measure(&d, root, 0);
    for (; d.n_boxes > AB_FLAME_BOXES; measure(&d, root, 0)) {
        d.narrowest *= 1.5;
        d.n_boxes = d.rows = 0;
    }
    FILE *file = h->pictures != NULL ? h->pictures->begin(h->pictures->user, h->page, title) : NULL;
    struct ab_html alone = {.to = file};
    if (file == NULL) {
        put_caption(&d, title);
        put_svg(&d, root, title, false);
        ab_html_f(h, "</figure>\n");
    } else {
        d.h = &alone;
        put_svg(&d, root, title, true);
        h->pictures->end(h->pictures->user);
    }
}

void ab_flame_figures(struct ab_html *h, const struct ab_stacks *stacks, const char *backend)
{
    char title[200];
    put_figure(h, stacks->by_bytes, true, "Flame graph: requested bytes, by call site");
    put_figure(h, stacks->by_calls, false, "Flame graph: calls that allocate, by call site");
    put_figure(h, stacks->by_peak, true, "Flame graph: live bytes at the peak, by call site");
    if (backend == NULL)
        return;
    AB_FIT(title, "Flame graph: pinned bytes at their maximum under %s, by call site",
           AB_SHOWN(128, backend));
    put_figure(h, stacks->by_pinned, true, title);
}
