/* SPDX-License-Identifier: MIT
 *
 * What is drawn on the axes of a picture. Paths are written in hundredths of a pixel, as steps from
 * point to point: three significant digits of a value stay, and a curve takes half the room.
 */
#include "report/html/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FONT = 12, FONT_LARGE = 14 /* on small screens */, FAR_PX = 16, CAP_PX = 4, KEY_PX = 8 };

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

struct pen { /* in hundredths of a px */
    long x, y;
    bool is_down;
};

/* "1.8", "-.12", "0" */
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

/* A label in a band's corner, when it fits. */
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
    ab_boxes_take(&p->boxes, (struct ab_box){x - radius, y - radius, x + radius, y + radius});
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
    ab_boxes_take(&p->boxes, (struct ab_box){left, at - CAP_PX, right, at + CAP_PX});
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
    ab_boxes_take(&p->boxes, (struct ab_box){at - CAP_PX, top, at + CAP_PX, bottom});
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
    ab_boxes_take(&p->boxes, (struct ab_box){left, py - FONT + 2, left + width, py + 3});
    ab_html_f(p->h, "<text class=\"%s\" color=\"%s\" fill=\"currentColor\" x=\"%.1f\" y=\"%.1f\"",
              c->class_name, c->light, px, py);
    if (strcmp(anchor, "start") != 0)
        ab_html_f(p->h, " text-anchor=\"%s\"", anchor);
    ab_html_f(p->h, ">%s</text>\n", text);
}

/* From the point to the nearest edge of a box. */
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
        !ab_boxes_place(&p->boxes, x, y, ab_axis_text_width(text, FONT_LARGE) + KEY_PX, FONT_LARGE,
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
