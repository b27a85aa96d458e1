/* SPDX-License-Identifier: MIT
 *
 * Lays boxes out, and finds how narrow one may be so that there are not too many.
 */
#include "report/html/flame_figure.h"

#include "core/units_show.h"
#include "report/html/axis.h"
#include "report/html/pages/pages.h"

#include <math.h>

enum { WIDTH = 1040, MARGIN = 2, ROW = 19, FONT = 12, TEXT_GAP = 4, NAME_CHARS = 100 };
enum { NAME_BYTES = 4 * NAME_CHARS + 8 };
static const double NARROWEST = 0.3; /* px */

struct drawing {
    struct ab_html *h;
    bool is_bytes;
    double px, narrowest; /* of a unit; of a box */
    unsigned rows, n_boxes;
};

static double width_of(const struct drawing *d, const struct ab_flame_node *n)
{
    return (double)n->value * d->px;
}

/* How many boxes, in how many rows. */
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
        snprintf(value, sizeof value, "%llu calls", (unsigned long long)n->value);
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

static void put_head(const struct drawing *d, const char *title)
{
    ab_html_f(
        d->h,
        "<figure data-wide>\n<figcaption>%s<details class=\"why\"><summary>?</summary>"
        "<p>The outermost function is at the bottom, and above each those that it called; the "
        "width of a box is its share, with all that it called. Boxes narrower than %.1f pixels "
        "are not drawn: the box below them has what they have.</p></details></figcaption>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" role=\"img\" "
        "aria-label=\"%s\" font-family=\"ui-monospace, monospace\" font-size=\"%d\" "
        "data-flame=\"%d\">\n",
        title, d->narrowest, WIDTH, d->rows * ROW + 2, title, FONT, TEXT_GAP);
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
    put_head(&d, title);
    draw(&d, root, root, MARGIN, 0);
    ab_html_f(h, "</svg>\n</figure>\n");
}

void ab_flame_figures(struct ab_html *h, const struct ab_stacks *stacks)
{
    put_figure(h, stacks->by_bytes, true, "Flame graph: bytes asked for, by call site");
    put_figure(h, stacks->by_calls, false, "Flame graph: calls that allocate, by call site");
    put_figure(h, stacks->by_peak, true, "Flame graph: live bytes at the peak, by call site");
}
