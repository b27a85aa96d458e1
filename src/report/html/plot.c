/* SPDX-License-Identifier: MIT
 *
 * Draws pictures: head, axes and grid, and everything on them.
 */
#include "report/html/plot.h"

#include "answer/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP = 24, RIGHT = 26, BOTTOM = 42, LEFT = 68, WIDTH = 520, HEIGHT = 280, FONT = 12 };
enum { FONT_LARGE = 14 }; /* font size on small screens */
enum { LEGEND_ROW = 20, LEGEND_LEFT = 8, LEGEND_SWATCH = 30, LEGEND_GAP = 18 };

/* Writes the folded help: how to read the picture, and what its terms mean. */
static void put_why(struct ab_html *h, const struct ab_figure *f)
{
    if (f->why == NULL)
        return;
    ab_html_f(h, "<details class=\"why\"><summary>?</summary><p>%s</p>", f->why);
    for (size_t i = 0; f->words != NULL && f->words[i] != NULL; i++) {
        struct ab_text meaning = {0};
        if (ab_view_term_add(&meaning, f->words[i]) && meaning.s != NULL)
            ab_html_f(h, "<p><b>%s</b>: %s</p>", f->words[i], meaning.s);
        ab_text_fini(&meaning);
    }
    ab_html_f(h, "</details>");
}

/* True if the picture is a file of its own. */
static bool is_alone(const struct ab_plot *p)
{
    return p->h == &p->file;
}

static void put_caption(struct ab_html *h, const struct ab_figure *f)
{
    ab_html_f(h, "<figure");
    if (f->size != AB_FIGURE_HALF)
        ab_html_f(h, f->size == AB_FIGURE_WIDE ? " data-wide" : " data-middle");
    ab_html_f(h, ">\n<figcaption>%s", f->title);
    put_why(h, f);
    ab_html_f(h, "</figcaption>\n");
}

static void put_head(struct ab_plot *p, const struct ab_figure *f)
{
    struct ab_html *h = p->h;
    if (is_alone(p))
        ab_html_f(h, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    else
        put_caption(h, f);
    ab_html_f(h,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.1f %.1f\" "
              "role=\"img\" aria-label=\"%s\" font-family=\"system-ui, sans-serif\" "
              "font-size=\"12\"",
              p->width, p->height, f->description);
}

/* Returns the name by which the script of the page knows a unit. */
static const char *axis_unit_name(enum ab_axis_unit unit)
{
    static const char *const names[AB_AXIS_UNIT_COUNT] = {"count",  "time",  "bytes",   "factor",
                                                          "change", "ratio", "quantile"};
    return names[unit];
}

static const char *axis_scale_name(enum ab_axis_scale scale)
{
    static const char *const names[] = {"linear", "log", "percentile"};
    return names[scale];
}

/* Writes the data by which the script converts positions into values. */
static void put_axis_data(struct ab_plot *p, const char *name, const struct ab_axis *a)
{
    ab_html_f(p->h, " data-%s=\"%s %s %.9g %.9g %.1f %.1f\"", name, axis_scale_name(a->scale),
              axis_unit_name(a->unit), a->low, a->high, a->from, a->to);
}

static void open_colour(struct ab_html *h, enum ab_colour colour)
{
    ab_html_f(h, "<g class=\"%s\" color=\"%s\" stroke=\"currentColor\">\n",
              ab_colours[colour].class_name, ab_colours[colour].light);
}

static void put_grid(struct ab_plot *p)
{
    open_colour(p->h, AB_COLOUR_GRID);
    for (unsigned i = 0; i < p->x.n_ticks; i++)
        ab_html_f(p->h, "<path d=\"M%.1f %.1fV%.1f\"/>", ab_axis_at(&p->x, p->x.ticks[i]),
                  p->y.from, p->y.to);
    for (unsigned i = 0; i < p->y.n_ticks; i++)
        ab_html_f(p->h, "<path d=\"M%.1f %.1fH%.1f\"/>", p->x.from,
                  ab_axis_at(&p->y, p->y.ticks[i]), p->x.to);
    ab_html_f(p->h, "</g>\n");
    open_colour(p->h, AB_COLOUR_SOFT);
    ab_html_f(p->h, "<path d=\"M%.1f %.1fV%.1fH%.1f\" fill=\"none\"/></g>\n", p->x.from, p->y.to,
              p->y.from, p->x.to);
}

/* Writes a label under the axis, moved inwards if it would leave the picture. */
static void put_x_label(struct ab_plot *p, double value)
{
    char text[64];
    double at = ab_axis_at(&p->x, value);
    double half =
        ab_axis_text_width(ab_axis_tick(text, sizeof text, p->x.unit, value), FONT_LARGE) / 2;
    at = fmin(fmax(at, half), p->width - half);
    ab_plot_text(p, AB_COLOUR_SOFT, at, p->y.from + 16, "middle", text);
}

static void put_labels(struct ab_plot *p, bool has_no_y)
{
    char text[64];
    for (unsigned i = 0; i < p->x.n_ticks; i++)
        if (p->x.is_labelled[i])
            put_x_label(p, p->x.ticks[i]);
    for (unsigned i = 0; i < p->y.n_ticks && !has_no_y; i++)
        if (p->y.is_labelled[i])
            ab_plot_text(p, AB_COLOUR_SOFT, p->x.from - 7, ab_axis_at(&p->y, p->y.ticks[i]) + 4,
                         "end", ab_axis_tick(text, sizeof text, p->y.unit, p->y.ticks[i]));
    if (p->y.title != NULL && p->y.title[0] != 0)
        ab_plot_text(p, AB_COLOUR_SOFT, 2, TOP - 11, "start", p->y.title);
    if (p->x.title != NULL && p->x.title[0] != 0)
        ab_plot_text(p, AB_COLOUR_SOFT, p->x.to, p->y.from + BOTTOM - 6, "end", p->x.title);
}

/* ---- legend ---- */

/* Returns the position of the next legend entry, and moves *from past it. Rows are as long as the
 * picture is wide. */
static struct ab_point place_entry(const struct ab_plot *p, const struct ab_paint *paint,
                                   struct ab_point *from)
{
    double width = LEGEND_SWATCH + 6 + ab_axis_text_width(paint->title, FONT);
    if (from->x > LEGEND_LEFT && from->x + width > p->width)
        *from = (struct ab_point){LEGEND_LEFT, from->y + LEGEND_ROW};
    struct ab_point at = *from;
    from->x += width + LEGEND_GAP;
    return at;
}

static double legend_height(const struct ab_plot *p, const struct ab_figure *f)
{
    struct ab_point from = {LEGEND_LEFT, 0};
    if (!is_alone(p) || f->n_legend == 0)
        return 0;
    for (size_t i = 0; i < f->n_legend; i++)
        place_entry(p, &f->legend[i], &from);
    return from.y + LEGEND_ROW + 6;
}

static void put_legend(struct ab_plot *p, const struct ab_figure *f, double top)
{
    struct ab_point from = {LEGEND_LEFT, top + LEGEND_ROW / 2};
    for (size_t i = 0; i < f->n_legend && is_alone(p); i++) {
        const struct ab_paint *paint = &f->legend[i];
        struct ab_point at = place_entry(p, paint, &from);
        ab_html_f(p->h,
                  "<path class=\"%s\" color=\"%s\" stroke=\"currentColor\" stroke-width=\"%.1f\"",
                  ab_colours[paint->colour].class_name, ab_colours[paint->colour].light,
                  paint->width > 0 ? paint->width : 3);
        if (paint->dash != NULL && paint->dash[0] != 0)
            ab_html_f(p->h, " stroke-dasharray=\"%s\"", paint->dash);
        ab_html_f(p->h, " d=\"M%.1f %.1fh%d\"/>", at.x, at.y, LEGEND_SWATCH);
        ab_plot_text(p, AB_COLOUR_INK, at.x + LEGEND_SWATCH + 6, at.y + 4, "start", paint->title);
    }
}

void ab_plot_begin(struct ab_plot *p, struct ab_html *h, const struct ab_figure *f)
{
    FILE *file = h->pictures != NULL ? h->pictures->begin(h->pictures->user, h->page, f->title)
                                     : NULL;
    p->file = (struct ab_html){.to = file, .pictures = h->pictures};
    p->h = file != NULL ? &p->file : h;
    p->width = f->size == AB_FIGURE_WIDE ? 2 * WIDTH : WIDTH;
    /* y of the legend, which is below the picture */
    double below = f->height > 0 ? f->height : HEIGHT;
    p->height = below + legend_height(p, f);
    p->x.from = f->left > 0 ? f->left : LEFT;
    p->x.to = p->width - RIGHT;
    p->y.from = below - BOTTOM;
    p->y.to = TOP;
    p->boxes = (struct ab_boxes){.frame = {0, 0, p->width, p->height}};
    ab_axis_set_ticks(&p->x, true, !p->is_x_exact);
    if (f->has_no_y)
        p->y.n_ticks = 0;
    else
        ab_axis_set_ticks(&p->y, false, !p->is_y_exact);
    put_head(p, f);
    put_axis_data(p, "x", &p->x);
    if (!f->has_no_y)
        put_axis_data(p, "y", &p->y);
    ab_html_f(p->h, ">\n");
    if (is_alone(p)) /* a picture in its own file has a white background and its title */
        ab_html_f(p->h,
                  "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                  f->title);
    put_grid(p);
    put_labels(p, f->has_no_y);
    put_legend(p, f, below);
    p->boxes.frame = (struct ab_box){p->x.from + 2, p->y.to - 8, p->width, p->y.from - 2};
}

void ab_plot_end(struct ab_plot *p)
{
    ab_html_f(p->h, is_alone(p) ? "</svg>\n" : "</svg>\n</figure>\n");
    if (is_alone(p))
        p->file.pictures->end(p->file.pictures->user);
}

/* ---- labels that do not touch: the first free place on rings around a point ---- */

enum { NEAR_PX = 11, STEP_PX = 9, RINGS = 8, DIRECTIONS = 8 };

static void boxes_take(struct ab_boxes *b, struct ab_box box)
{
    if (b->n < AB_BOXES_MAX)
        b->taken[b->n++] = box;
}

static bool boxes_is_free(const struct ab_boxes *b, struct ab_box box)
{
    for (size_t i = 0; i < b->n; i++) {
        const struct ab_box *t = &b->taken[i];
        if (box.left < t->right && box.right > t->left && box.top < t->bottom &&
            box.bottom > t->top)
            return false;
    }
    return true;
}

static bool is_inside(const struct ab_box *frame, const struct ab_box *box)
{
    return box->left >= frame->left && box->right <= frame->right && box->top >= frame->top &&
           box->bottom <= frame->bottom;
}

/* Returns the box in a direction from (x, y): right, left, above, below, then the corners. */
static struct ab_box candidate(double x, double y, double width, double height, double distance,
                               unsigned direction)
{
    static const signed char way[DIRECTIONS][2] = {{1, 0},  {-1, 0},  {0, -1}, {0, 1},
                                                   {1, -1}, {-1, -1}, {1, 1},  {-1, 1}};
    double across = way[direction][0], down = way[direction][1];
    double centre_x = x + across * (distance + width / 2);
    double centre_y = y + down * (distance + height / 2);
    return (struct ab_box){centre_x - width / 2, centre_y - height / 2, centre_x + width / 2,
                           centre_y + height / 2};
}

/* Finds and occupies a free box of width × height near (x, y): right, left, above, below, then in
 * growing distance. Returns false if there is none; *out is then the nearest box, not occupied. */
static bool boxes_place(struct ab_boxes *b, double x, double y, double width, double height,
                        struct ab_box *out)
{
    for (unsigned ring = 0; ring < RINGS; ring++)
        for (unsigned d = 0; d < DIRECTIONS; d++) {
            struct ab_box box = candidate(x, y, width, height, NEAR_PX + ring * STEP_PX, d);
            if (is_inside(&b->frame, &box) && boxes_is_free(b, box)) {
                boxes_take(b, box);
                *out = box;
                return true;
            }
        }
    *out = candidate(x, y, width, height, NEAR_PX, 0);
    return false;
}

/* ---- heat maps, drawn shade by shade ---- */

/* Returns the shade of a cell, 1 … AB_HEAT_SHADES; 0 = not drawn. */
static unsigned shade_of(double share, double least, double most)
{
    if (!(share > 0))
        return 0;
    double at = most > least ? log(share / least) / log(most / least) : 1;
    return 1 + (unsigned)lround(fmin(fmax(at, 0), 1) * (AB_HEAT_SHADES - 1));
}

static void put_cell(struct ab_plot *p, const struct ab_heat_cell *c)
{
    double left = ab_axis_at(&p->x, c->x0), right = ab_axis_at(&p->x, c->x1);
    double bottom = ab_axis_at(&p->y, c->y0), top = ab_axis_at(&p->y, c->y1);
    if (right > left && bottom > top)
        ab_html_f(p->h, "M%.1f %.1fh%.1fv%.1fh%.1fz", left, top, right - left, bottom - top,
                  left - right);
}

void ab_heat_cells(struct ab_plot *p, const struct ab_heat_cell *cells, size_t n, double least,
                   double most)
{
    const struct ab_colour_info *colour = &ab_colours[AB_COLOUR_HEAT];
    ab_html_f(p->h, "<g class=\"%s\" color=\"%s\" fill=\"currentColor\">\n", colour->class_name,
              colour->light);
    for (unsigned shade = 1; shade <= AB_HEAT_SHADES; shade++) {
        bool is_any = false;
        for (size_t i = 0; i < n; i++) {
            if (shade_of(cells[i].share, least, most) != shade)
                continue;
            if (!is_any)
                ab_html_f(p->h, "<path fill-opacity=\"%.2f\" d=\"", (double)shade / AB_HEAT_SHADES);
            is_any = true;
            put_cell(p, &cells[i]);
        }
        if (is_any)
            ab_html_f(p->h, "\"/>\n");
    }
    ab_html_f(p->h, "</g>\n");
}

/* ---- drawing on the axes ----
 * Paths are written in hundredths of a pixel, as steps from point to point. That keeps three
 * significant digits of a value, and halves the size of a curve. */

enum { FAR_PX = 16, CAP_PX = 4, KEY_PX = 8 };

static double px_x(const struct ab_plot *p, double x)
{
    return ab_axis_at(&p->x, x);
}

static double px_y(const struct ab_plot *p, double y)
{
    return ab_axis_at(&p->y, y);
}

static void open_paint(struct ab_plot *p, const struct ab_paint *paint)
{
    const struct ab_colour_info *c = &ab_colours[paint->colour];
    ab_html_f(p->h, "<g class=\"%s\" color=\"%s\"", c->class_name, c->light);
    if (paint->series > 0)
        ab_html_f(p->h, " data-s=\"%u\"", paint->series);
    ab_html_f(p->h, ">");
    if (paint->title != NULL)
        ab_html_f(p->h, "<title>%s</title>", paint->title);
}

static void close_paint(struct ab_plot *p)
{
    ab_html_f(p->h, "</g>\n");
}

/* ---- paths ---- */

struct pen { /* position in hundredths of a px */
    long x, y;
    bool is_down;
};

/* Writes n hundredths as a number of an SVG path: "1.8", "-.12", "0". Writes a space before it if
 * the path needs one. */
static void put_hundredths(FILE *to, long n, bool is_first)
{
    long whole = labs(n) / 100, rest = labs(n) % 100;
    if (n < 0)
        fputc('-', to);
    else if (!is_first)
        fputc(' ', to);
    if (whole != 0 || rest == 0)
        fprintf(to, "%ld", whole);
    if (rest != 0)
        fprintf(to, rest % 10 == 0 ? ".%ld" : ".%02ld", rest % 10 == 0 ? rest / 10 : rest);
}

static void put_step(FILE *to, struct pen *pen, double px, double py)
{
    long x = lround(100 * px), y = lround(100 * py);
    if (!pen->is_down) {
        fputc('M', to);
        put_hundredths(to, x, true);
        put_hundredths(to, y, false);
    } else if (y == pen->y) {
        fputc('h', to);
        put_hundredths(to, x - pen->x, true);
    } else if (x == pen->x) {
        fputc('v', to);
        put_hundredths(to, y - pen->y, true);
    } else {
        fputc('l', to);
        put_hundredths(to, x - pen->x, true);
        put_hundredths(to, y - pen->y, false);
    }
    *pen = (struct pen){x, y, true};
}

static void put_points(struct ab_plot *p, struct pen *pen, const struct ab_point *points, size_t n,
                       bool is_backwards)
{
    for (size_t i = 0; i < n; i++) {
        const struct ab_point *at = &points[is_backwards ? n - 1 - i : i];
        if (isnan(at->x) || isnan(at->y))
            pen->is_down = false;
        else
            put_step(p->h->to, pen, px_x(p, at->x), px_y(p, at->y));
    }
}

void ab_plot_line(struct ab_plot *p, struct ab_paint paint, const struct ab_point *points, size_t n)
{
    struct pen pen = {0};
    open_paint(p, &paint);
    ab_html_f(p->h, "<path fill=\"none\" stroke=\"currentColor\" stroke-width=\"%.1f\"",
              paint.width > 0 ? paint.width : 1.6);
    if (paint.dash != NULL && paint.dash[0] != 0)
        ab_html_f(p->h, " stroke-dasharray=\"%s\"", paint.dash);
    ab_html_f(p->h, " d=\"");
    put_points(p, &pen, points, n, false);
    ab_html_f(p->h, "\"/>");
    close_paint(p);
}

void ab_plot_front(struct ab_plot *p, const struct ab_point *points, size_t n)
{
    const struct ab_paint paint = {.colour = AB_COLOUR_SOFT,
                                   .dash = "4 4",
                                   .width = 1.2,
                                   .title = "no other is both faster and leaner"};
    if (n > 1)
        ab_plot_line(p, paint, points, n);
}

void ab_plot_area(struct ab_plot *p, struct ab_paint paint, const struct ab_point *low,
                  const struct ab_point *high, size_t n)
{
    struct pen pen = {0};
    open_paint(p, &paint);
    ab_html_f(p->h, "<path fill=\"currentColor\" d=\"");
    put_points(p, &pen, high, n, false);
    put_points(p, &pen, low, n, true);
    ab_html_f(p->h, "%s\"/>", pen.is_down ? "z" : "");
    close_paint(p);
}

/* ---- rectangles ---- */

static void put_rectangle(struct ab_plot *p, double x0, double y0, double x1, double y1,
                          double opacity)
{
    ab_html_f(p->h,
              "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
              "fill=\"currentColor\"",
              fmin(x0, x1), fmin(y0, y1), fabs(x1 - x0), fabs(y1 - y0));
    if (opacity < 1)
        ab_html_f(p->h, " fill-opacity=\"%.2f\"", opacity);
    ab_html_f(p->h, "/>");
}

void ab_plot_bar(struct ab_plot *p, struct ab_paint paint, struct ab_point a, struct ab_point b,
                 double opacity)
{
    open_paint(p, &paint);
    put_rectangle(p, px_x(p, a.x), px_y(p, a.y), px_x(p, b.x), px_y(p, b.y), opacity);
    close_paint(p);
}

/* Draws a band, and its label in a corner if it fits. */
static void put_band(struct ab_plot *p, enum ab_colour colour, struct ab_box box, const char *label)
{
    double width = ab_axis_text_width(label, FONT);
    if (box.right <= box.left || box.bottom <= box.top)
        return;
    open_paint(p, &(struct ab_paint){.colour = colour, .title = label});
    put_rectangle(p, box.left, box.top, box.right, box.bottom, 1);
    close_paint(p);
    if (box.right - box.left > width + 8 && box.bottom - box.top > FONT + 4)
        ab_plot_text(p, AB_COLOUR_SOFT, box.right - 4, box.bottom - 5, "end", label);
}

void ab_plot_band_y(struct ab_plot *p, enum ab_colour colour, double low, double high,
                    const char *label)
{
    put_band(p, colour, (struct ab_box){p->x.from, px_y(p, high), p->x.to, px_y(p, low)}, label);
}

void ab_plot_band_x(struct ab_plot *p, enum ab_colour colour, double low, double high,
                    const char *label)
{
    put_band(p, colour, (struct ab_box){px_x(p, low), p->y.to, px_x(p, high), p->y.from}, label);
}

/* ---- marks ---- */

void ab_plot_keep_free(struct ab_plot *p, struct ab_point at, double radius)
{
    double x = px_x(p, at.x), y = px_y(p, at.y);
    boxes_take(&p->boxes, (struct ab_box){x - radius, y - radius, x + radius, y + radius});
}

void ab_plot_mark(struct ab_plot *p, struct ab_paint paint, struct ab_point at, double radius)
{
    open_paint(p, &paint);
    ab_html_f(p->h, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.1f\" fill=\"currentColor\"/>",
              px_x(p, at.x), px_y(p, at.y), radius);
    close_paint(p);
}

void ab_plot_dots(struct ab_plot *p, struct ab_paint paint, const struct ab_point *points, size_t n,
                  double width)
{
    if (n == 0)
        return;
    open_paint(p, &paint);
    ab_html_f(p->h,
              "<path stroke=\"currentColor\" stroke-width=\"%.1f\" stroke-linecap=\"round\" d=\"",
              width);
    for (size_t i = 0; i < n; i++)
        ab_html_f(p->h, "M%.1f %.1fh0", px_x(p, points[i].x), px_y(p, points[i].y));
    ab_html_f(p->h, "\"/>");
    close_paint(p);
}

void ab_plot_error_x(struct ab_plot *p, struct ab_paint paint, double low, double high, double y)
{
    if (isnan(low) || isnan(high) || isnan(y))
        return;
    double at = px_y(p, y), left = px_x(p, low), right = px_x(p, high);
    open_paint(p, &paint);
    ab_html_f(p->h,
              "<path stroke=\"currentColor\" stroke-width=\"1.4\" "
              "d=\"M%.1f %.1fv%dm0-%dH%.1fm0-%dv%d\"/>",
              left, at - CAP_PX, 2 * CAP_PX, CAP_PX, right, CAP_PX, 2 * CAP_PX);
    close_paint(p);
    boxes_take(&p->boxes, (struct ab_box){left, at - CAP_PX, right, at + CAP_PX});
}

void ab_plot_error_y(struct ab_plot *p, struct ab_paint paint, double x, double low, double high)
{
    if (isnan(low) || isnan(high) || isnan(x))
        return;
    double at = px_x(p, x), bottom = px_y(p, low), top = px_y(p, high);
    open_paint(p, &paint);
    ab_html_f(p->h,
              "<path stroke=\"currentColor\" stroke-width=\"1.4\" "
              "d=\"M%.1f %.1fh%dm-%d 0V%.1fm-%d 0h%d\"/>",
              at - CAP_PX, bottom, 2 * CAP_PX, CAP_PX, top, CAP_PX, 2 * CAP_PX);
    close_paint(p);
    boxes_take(&p->boxes, (struct ab_box){at - CAP_PX, top, at + CAP_PX, bottom});
}

/* ---- text ---- */

void ab_plot_text(struct ab_plot *p, enum ab_colour colour, double px, double py,
                  const char *anchor, const char *text)
{
    const struct ab_colour_info *c = &ab_colours[colour];
    double width = ab_axis_text_width(text, FONT);
    double left = strcmp(anchor, "start") == 0 ? px
                  : strcmp(anchor, "end") == 0 ? px - width
                                               : px - width / 2;
    boxes_take(&p->boxes, (struct ab_box){left, py - FONT + 2, left + width, py + 3});
    ab_html_f(p->h, "<text class=\"%s\" color=\"%s\" fill=\"currentColor\" x=\"%.1f\" y=\"%.1f\"",
              c->class_name, c->light, px, py);
    if (strcmp(anchor, "start") != 0)
        ab_html_f(p->h, " text-anchor=\"%s\"", anchor);
    ab_html_f(p->h, ">%s</text>\n", text);
}

/* Draws a line from (x, y) to the nearest edge of the box, if the box is far away. */
static void put_leader(struct ab_plot *p, double x, double y, const struct ab_box *box)
{
    double to_x = fmin(fmax(x, box->left), box->right), to_y = fmin(fmax(y, box->top), box->bottom);
    if (hypot(to_x - x, to_y - y) > FAR_PX)
        ab_html_f(p->h,
                  "<path stroke=\"currentColor\" stroke-width=\"1\" d=\"M%.1f %.1fL%.1f %.1f\"/>",
                  x, y, to_x, to_y);
}

void ab_plot_label(struct ab_plot *p, struct ab_paint paint, struct ab_point at, const char *text)
{
    struct ab_box box;
    double x = px_x(p, at.x), y = px_y(p, at.y);
    if (isnan(at.x) || isnan(at.y) ||
        !boxes_place(&p->boxes, x, y, ab_axis_text_width(text, FONT_LARGE) + KEY_PX, FONT_LARGE,
                     &box))
        return;
    open_paint(p, &paint);
    put_leader(p, x, y, &box);
    ab_html_f(
        p->h,
        "<path stroke=\"currentColor\" stroke-width=\"4\" d=\"M%.1f %.1fh5\"/>"
        "<text class=\"ink\" fill=\"currentColor\" color=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>",
        box.left, box.bottom - 7, ab_colours[AB_COLOUR_INK].light, box.left + KEY_PX,
        box.bottom - 3, text);
    close_paint(p);
}
