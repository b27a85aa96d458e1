/* SPDX-License-Identifier: MIT
 *
 * Resident memory of a program over time. Neighbours are joined when the points run out.
 */
#include "program/memory_curve.h"

#include "core/alloc.h"

#include <math.h>

static void halve(struct ab_memory_curve *c)
{
    for (uint32_t i = 0; i < c->n / 2; i++)
        c->points[i] = c->points[2 * i].bytes >= c->points[2 * i + 1].bytes ? c->points[2 * i]
                                                                            : c->points[2 * i + 1];
    c->n /= 2;
    c->stride *= 2;
}

void ab_memory_curve_add(struct ab_memory_curve *c, uint64_t ns, double bytes)
{
    if (c->stride == 0)
        c->stride = 1;
    if (c->n > 0 && c->n_looks < c->stride) {
        c->n_looks++;
    } else {
        if (c->n == AB_CURVE_POINTS)
            halve(c);
        c->n_looks = 1;
        c->points[c->n++].bytes = -1;
    }
    if (bytes > c->points[c->n - 1].bytes) {
        c->points[c->n - 1].ns = ns;
        c->points[c->n - 1].bytes = bytes;
    }
}

/* growth per hour cannot be seen in shorter programs */
#define OVER_TIME_LEAST_NS UINT64_C(10000000000)

static void note_over_time(const struct ab_memory_curve *c, struct ab_session *s, uint32_t backend,
                           uint32_t round)
{
    if (c->points[c->n - 1].ns < OVER_TIME_LEAST_NS)
        return;
    for (uint32_t i = 0; i < c->n; i++) {
        AB_GROW(s->over_time, s->cap_over_time, s->n_over_time);
        s->over_time[s->n_over_time++] = (struct ab_over_time){.backend = backend,
                                                               .round = round,
                                                               .phase = AB_PROGRAM_PHASE,
                                                               .time_ns = c->points[i].ns,
                                                               .position = AB_NO_POSITION,
                                                               .live_bytes = NAN,
                                                               .resident_bytes = c->points[i].bytes,
                                                               .external_bytes = NAN,
                                                               .retained_bytes = NAN,
                                                               .lazyfree_bytes = NAN};
    }
}

void ab_memory_curve_note(const struct ab_memory_curve *c, struct ab_session *s, uint32_t backend,
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
    note_over_time(c, s, backend, round);
}
