/* SPDX-License-Identifier: MIT
 *
 * Finds the longest stretch of constant live bytes in a timeline, and the slope of the footprint in
 * it.
 */
#include "stats/growth.h"

#include "core/alloc.h"
#include "core/median.h"
#include "result/session.h"

#include <stdlib.h>

enum { POINTS_LEAST = 8, POINTS_MOST = 200 };
/* the second half of the stretch must have this fraction of all ops */
static const double share_least = 0.2;

static double ops_between(const struct ab_timeline *line, uint32_t first, uint32_t end)
{
    return (double)line->points[end - 1].position - (double)line->points[first].position;
}

/* Finds the longest stretch whose live bytes lie within the band. Starts again at each point, which
 * is fast enough for a few hundred points. */
static struct ab_stretch find_stretch(const struct ab_timeline *line)
{
    struct ab_stretch best = {0, 0};
    double most = -1;
    for (uint32_t first = 0; first < line->n; first++) {
        struct ab_band band = {INFINITY, 0};
        uint32_t end = first;
        while (end < line->n && line->points[end].requested_bytes > 0 &&
               ab_band_takes(&band, line->points[end].requested_bytes, 0))
            end++;
        if (end > first && ops_between(line, first, end) > most) {
            most = ops_between(line, first, end);
            best = (struct ab_stretch){first, end};
        }
    }
    return best;
}

/* Returns the index of the first point in the second half of a stretch, measured in ops. */
static uint32_t middle_of(const struct ab_timeline *line, struct ab_stretch s)
{
    double begin = line->points[s.first].position, half = ops_between(line, s.first, s.end) / 2;
    uint32_t i = s.first;
    while (i < s.end && line->points[i].position < begin + half)
        i++;
    return i;
}

/* Returns the slope by Theil and Sen, in bytes per op, over the points [first, end). If there are
 * many points, uses every `step`th. */
static double slope_of(const struct ab_timeline *line, uint32_t first, uint32_t end)
{
    uint32_t step = (end - first) / POINTS_MOST + 1, n_used = (end - first + step - 1) / step;
    double *x = ab_alloc(((size_t)n_used * n_used / 2 + 1) * sizeof *x), slope;
    size_t n = 0;
    for (uint32_t i = first; i < end; i += step)
        for (uint32_t k = i + step; k < end; k += step) {
            const struct ab_timeline_point *a = &line->points[i], *b = &line->points[k];
            double rise = b->footprint_bytes - a->footprint_bytes;
            if (isfinite(rise) && b->position > a->position)
                x[n++] = rise / ((double)b->position - (double)a->position);
        }
    slope = ab_median(x, n);
    free(x);
    return slope;
}

/* Returns the slope of a timeline; NaN if no stretch is long enough. */
static double growth_of_line(const struct ab_timeline *line, double *over_ops)
{
    if (line->n < POINTS_LEAST)
        return NAN;
    struct ab_stretch s = find_stretch(line);
    if (s.end < s.first + POINTS_LEAST) /* true as well if nothing was ever live */
        return NAN;
    uint32_t first = middle_of(line, s);
    double whole = ops_between(line, 0, line->n);
    if (s.end < first + POINTS_LEAST || ops_between(line, first, s.end) < share_least * whole)
        return NAN;
    *over_ops = fmin(*over_ops, ops_between(line, first, s.end));
    return slope_of(line, first, s.end);
}

struct ab_growth ab_growth_of(const struct ab_session *s, uint32_t backend, uint32_t round)
{
    struct ab_growth g = {NAN, INFINITY, ""};
    double *x = ab_alloc_zeroed((size_t)s->n_timelines + 1, sizeof *x);
    size_t n = 0;
    bool is_any = false;
    for (uint32_t i = 0; i < s->n_timelines; i++) {
        const struct ab_timeline *line = &s->timelines[i];
        if (line->backend != backend || !ab_session_has_numbers(s, backend) ||
            (round != AB_GROWTH_ALL_ROUNDS && line->round != round))
            continue;
        double slope = growth_of_line(line, &g.over_ops);
        is_any = true;
        if (isfinite(slope))
            x[n++] = slope;
    }
    g.bytes = 1e6 * ab_median(x, n);
    free(x);
    if (!isfinite(g.bytes)) {
        g.over_ops = NAN;
        g.why = is_any ? "the live bytes of this work do not stay constant for long enough"
                       : "no memory over time was measured";
    }
    return g;
}
