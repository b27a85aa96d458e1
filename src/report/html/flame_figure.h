/* SPDX-License-Identifier: MIT
 *
 * Stacks as flame graphs in a page: the outermost function at the bottom, a box as wide as the share of
 * its value, which it says on hover. The script of the page adds a search, and shows a box over the
 * whole width when it is clicked.
 */
#ifndef AB_REPORT_HTML_FLAME_FIGURE_H
#define AB_REPORT_HTML_FLAME_FIGURE_H

#include "report/flame.h"
#include "report/html/html.h"

/* A picture has at most AB_FLAME_BOXES boxes: what is narrower is left out, and said. */
enum { AB_FLAME_BOXES = 3000 };

/* A picture for each key that is known and has a value; nothing where there is none. */
void ab_flame_figures(struct ab_html *h, const struct ab_stacks *stacks);

#endif
