/* SPDX-License-Identifier: MIT
 *
 * Boxes of a picture that are taken, and where text finds room beside them. Everything in px; y
 * grows downwards.
 */
#ifndef AB_REPORT_HTML_LABELS_H
#define AB_REPORT_HTML_LABELS_H

#include <stdbool.h>
#include <stddef.h>

struct ab_box {
    double left, top, right, bottom;
};

enum { AB_BOXES_MAX = 160 };

struct ab_boxes {
    struct ab_box frame; /* labels stay inside */
    struct ab_box taken[AB_BOXES_MAX];
    size_t n; /* more than there is room for are forgotten */
};

void ab_boxes_take(struct ab_boxes *b, struct ab_box box);

/* A box of width × height for what belongs to (x, y): right, left, above, below of it, then farther
 * away in steps. It is taken then. False where there is no room; *out is the nearest one then, not
 * taken. */
bool ab_boxes_place(struct ab_boxes *b, double x, double y, double width, double height,
                    struct ab_box *out);

#endif
