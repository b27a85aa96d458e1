/* SPDX-License-Identifier: MIT
 *
 * The frame of a picture: its head, grid and axes. What is drawn on them: plot_draw.c.
 */
#include "report/html/plot.h"

#include "report/view/words.h"

#include <math.h>
#include <stdio.h>

enum { TOP = 24, RIGHT = 26, BOTTOM = 42, LEFT = 68, WIDTH = 520, HEIGHT = 280, FONT = 12 };
enum { FONT_LARGE = 14 }; /* on small screens */
enum { LEGEND_ROW = 20, LEGEND_LEFT = 8, LEGEND_SWATCH = 30, LEGEND_GAP = 18 };

/* Folded away: how to read it, and what explain says of its words. */
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

static void put_head(struct ab_plot *p, const struct ab_figure *f)
{
    struct ab_html *h = p->h;
    ab_html_f(h, "<figure");
    if (f->size != AB_FIGURE_HALF)
        ab_html_f(h, f->size == AB_FIGURE_WIDE ? " data-wide" : " data-middle");
    ab_html_f(h, ">\n<figcaption>%s", f->title);
    put_why(h, f);
    ab_html_f(h,
              "</figcaption>\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.1f %.1f\" "
              "role=\"img\" aria-label=\"%s\" font-family=\"system-ui, sans-serif\" "
              "font-size=\"12\"",
              p->width, p->height, f->description);
}

/* What the script needs to read values off the picture. */
static void put_axis_data(struct ab_plot *p, const char *name, const struct ab_axis *a)
{
    ab_html_f(p->h, " data-%s=\"%s %s %.9g %.9g %.1f %.1f\"", name, ab_axis_scale_name(a->scale),
              ab_axis_unit_name(a->unit), a->low, a->high, a->from, a->to);
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

/* A label under the axis, moved inwards where it would leave the picture. */
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

/* Where an entry begins that follows `from`, which moves behind it; rows are as long as the picture. */
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
    if (!p->h->is_alone || f->n_legend == 0)
        return 0;
    for (size_t i = 0; i < f->n_legend; i++)
        place_entry(p, &f->legend[i], &from);
    return from.y + LEGEND_ROW + 6;
}

static void put_legend(struct ab_plot *p, const struct ab_figure *f, double top)
{
    struct ab_point from = {LEGEND_LEFT, top + LEGEND_ROW / 2};
    for (size_t i = 0; i < f->n_legend && p->h->is_alone; i++) {
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
    p->h = h;
    p->width = f->size == AB_FIGURE_WIDE ? 2 * WIDTH : WIDTH;
    double below = f->height > 0 ? f->height : HEIGHT; /* where a legend begins */
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
    ab_html_f(h, ">\n");
    put_grid(p);
    put_labels(p, f->has_no_y);
    put_legend(p, f, below);
    p->boxes.frame = (struct ab_box){p->x.from + 2, p->y.to - 8, p->width, p->y.from - 2};
}

void ab_plot_end(struct ab_plot *p)
{
    ab_html_f(p->h, "</svg>\n</figure>\n");
}
