/* SPDX-License-Identifier: MIT
 *
 * Joins neighbours as points run out.
 */
#include "program/course.h"

#include "core/grow.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

static void halve(struct ab_course *c)
{
    for (uint32_t i = 0; i < c->n / 2; i++)
        c->points[i] = c->points[2 * i].bytes >= c->points[2 * i + 1].bytes ? c->points[2 * i]
                                                                            : c->points[2 * i + 1];
    c->n /= 2;
    c->stride *= 2;
}

void ab_course_add(struct ab_course *c, uint64_t ns, double bytes)
{
    if (c->stride == 0)
        c->stride = 1;
    if (c->n > 0 && c->n_looks < c->stride) {
        c->n_looks++;
    } else {
        if (c->n == AB_COURSE_POINTS)
            halve(c);
        c->n_looks = 1;
        c->points[c->n++].bytes = -1;
    }
    if (bytes > c->points[c->n - 1].bytes) {
        c->points[c->n - 1].ns = ns;
        c->points[c->n - 1].bytes = bytes;
    }
}

void ab_course_note(const struct ab_course *c, struct ab_session *s, uint32_t backend,
                    uint32_t round)
{
    if (c->n == 0)
        return;
    struct ab_timeline line = {.backend = backend, .round = round, .n = c->n};
    line.points = ab_alloc_zeroed(c->n, sizeof line.points[0]);
    AB_GROW(s->timelines, s->cap_timelines, s->n_timelines);
    for (uint32_t i = 0; i < c->n; i++)
        line.points[i] = (struct ab_timeline_point){
            .position = (uint32_t)(c->points[i].ns / 1000000),
            .requested_bytes = NAN,
            .usable_bytes = NAN,
            .footprint_bytes = c->points[i].bytes,
            .external_bytes = NAN};
    s->timelines[s->n_timelines++] = line;
}
