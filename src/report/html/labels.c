/* SPDX-License-Identifier: MIT
 *
 * Labels that do not touch each other: the first free place on rings around a point.
 */
#include "report/html/labels.h"

#include <math.h>

enum { NEAR_PX = 11, STEP_PX = 9, RINGS = 8, DIRECTIONS = 8 };

void ab_boxes_take(struct ab_boxes *b, struct ab_box box)
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

/* Right, left, above, below, then the corners. */
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

bool ab_boxes_place(struct ab_boxes *b, double x, double y, double width, double height,
                    struct ab_box *out)
{
    for (unsigned ring = 0; ring < RINGS; ring++)
        for (unsigned d = 0; d < DIRECTIONS; d++) {
            struct ab_box box = candidate(x, y, width, height, NEAR_PX + ring * STEP_PX, d);
            if (is_inside(&b->frame, &box) && boxes_is_free(b, box)) {
                ab_boxes_take(b, box);
                *out = box;
                return true;
            }
        }
    *out = candidate(x, y, width, height, NEAR_PX, 0);
    return false;
}
