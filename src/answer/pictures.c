/* SPDX-License-Identifier: MIT
 *
 * Computes the points, cells and axis ranges of the pictures of a session.
 */
#include "answer/pictures.h"

#include "answer/answer.h"
#include "answer/program_view.h"
#include "base/bits.h"
#include "core/alloc.h"
#include "stats/metric.h"
#include "stats/over_time.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

enum {
    /* Most columns of a map. With more than MANY back ends a map has fewer, so that the page stays
     * small. */
    COLUMNS_MOST = 72,
    COLUMNS_FEW = 48,
    MANY = 6,
    TIMES_MOST = 600 /* most points of a line over time */
};
#define MS_NS 1e6

/* Returns the timeline of the first round; NULL if there is none or pages do not show the back
 * end. */
static const struct ab_timeline *first_timeline(const struct ab_session *s, uint32_t backend)
{
    for (uint32_t i = 0; i < s->n_timelines; i++)
        if (s->timelines[i].backend == backend && s->timelines[i].n > 1 &&
            ab_view_shows(s, backend))
            return &s->timelines[i];
    return NULL;
}

/* ---- memory over the op clock ---- */

static bool is_split(const struct ab_timeline_point *p)
{
    return isfinite(p->requested_bytes) && isfinite(p->external_bytes);
}

static bool is_better(const struct ab_timeline_point *p, const struct ab_timeline_point *than)
{
    return than == NULL || p->footprint_bytes > than->footprint_bytes ||
           (p->footprint_bytes == than->footprint_bytes && is_split(p) && !is_split(than));
}

/* Stacks the parts of a point. If the usable size is not known, internal bytes are counted as
 * external. */
static struct ab_view_footprint_point stack(const struct ab_timeline_point *p)
{
    struct ab_view_footprint_point out = {.x = p->position, .is_split = is_split(p)};
    out.ends[AB_VIEW_RETAINED] = p->footprint_bytes;
    if (!out.is_split)
        return out;
    double external = fmin(p->external_bytes, p->footprint_bytes);
    double held = p->footprint_bytes - external;
    double live = fmin(p->requested_bytes, held);
    double usable = isfinite(p->usable_bytes) ? p->usable_bytes : live;
    out.ends[AB_VIEW_LIVE] = live;
    out.ends[AB_VIEW_INTERNAL] = fmin(fmax(usable, live), held);
    out.ends[AB_VIEW_EXTERNAL] = out.ends[AB_VIEW_INTERNAL] + external;
    return out;
}

/* Reduces a timeline to one point per stretch: the one with the largest footprint, preferably with
 * known parts. */
static void thin(const struct ab_timeline *t, struct ab_view_footprint *out)
{
    for (uint32_t c = 0; c < AB_VIEW_STRETCHES; c++) {
        uint32_t from = (uint32_t)((uint64_t)t->n * c / AB_VIEW_STRETCHES);
        uint32_t to = (uint32_t)((uint64_t)t->n * (c + 1) / AB_VIEW_STRETCHES);
        const struct ab_timeline_point *best = NULL;
        for (uint32_t i = from; i < to; i++)
            if (isfinite(t->points[i].footprint_bytes) && is_better(&t->points[i], best))
                best = &t->points[i];
        if (best != NULL)
            out->points[out->n++] = stack(best);
    }
}

static void add_footprint(const struct ab_session *s, uint32_t backend,
                          struct ab_view_pictures *out)
{
    const struct ab_timeline *t = first_timeline(s, backend);
    if (t == NULL)
        return;
    struct ab_view_footprint *f = &out->footprints[out->n_footprints++];
    f->backend = backend;
    f->x_end = fmax((double)s->n_tape_ops, t->points[t->n - 1].position);
    thin(t, f);
    for (uint32_t i = 0; i < f->n; i++)
        out->footprints_most = fmax(out->footprints_most, f->points[i].ends[AB_VIEW_RETAINED]);
}

/* ---- latency over the op clock ---- */

struct column { /* a column of a heat map; counts are sums over all rounds */
    uint32_t begin, end;
    uint64_t n, counts[AB_WINDOW_BINS];
};

/* The windows (counts of calls by latency in a stretch of the work) of a back end. They are sorted
 * by the op clock, so that windows of one stretch from all rounds are adjacent. */
struct stretches {
    const struct ab_window **list;
    uint32_t n, n_stretches;
};

static int by_begin(const void *a, const void *b)
{
    const struct ab_window *x = *(const struct ab_window *const *)a;
    const struct ab_window *y = *(const struct ab_window *const *)b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static void list_windows(const struct ab_session *s, uint32_t backend, struct stretches *out)
{
    *out = (struct stretches){
        .list = ab_alloc_zeroed((size_t)s->n_windows + 1, sizeof out->list[0])};
    for (uint32_t i = 0; i < s->n_windows; i++)
        if (s->windows[i].backend == backend && s->windows[i].end > s->windows[i].begin)
            out->list[out->n++] = &s->windows[i];
    qsort(out->list, out->n, sizeof out->list[0], by_begin);
    for (uint32_t i = 0; i < out->n; i++)
        out->n_stretches += i == 0 || out->list[i]->begin != out->list[i - 1]->begin;
}

/* Sums the windows into at most `most` columns. Returns the number of columns. */
static unsigned fill_columns(const struct stretches *x, unsigned most, struct column *columns)
{
    uint32_t stretch = 0;
    unsigned n = x->n_stretches < most ? x->n_stretches : most;
    for (uint32_t i = 0; i < x->n; i++) {
        const struct ab_window *w = x->list[i];
        stretch += i > 0 && w->begin != x->list[i - 1]->begin;
        struct column *c = &columns[(uint64_t)stretch * n / x->n_stretches];
        if (c->end == 0)
            c->begin = w->begin;
        c->end = w->end > c->end ? w->end : c->end;
        for (unsigned bin = 0; bin < AB_WINDOW_BINS; bin++) {
            c->counts[bin] += w->counts[bin];
            c->n += w->counts[bin];
        }
    }
    return n;
}

static void add_cells(const struct column *c, struct ab_view_map *map, struct ab_view_span *y)
{
    for (unsigned bin = 0; bin < AB_WINDOW_BINS; bin++) {
        struct ab_heat_cell cell = {c->begin, c->end, fmax((double)ab_window_bin_low(bin), 0.5),
                                    (double)ab_window_bin_low(bin + 1),
                                    (double)c->counts[bin] / (double)c->n};
        if (c->counts[bin] == 0)
            continue;
        map->cells[map->n++] = cell;
        y->low = fmin(y->low, cell.y0);
        y->high = fmax(y->high, cell.y1);
    }
}

/* Adds the heat map of the latency of a back end over the work. Adds nothing if the bins are not
 * known, as in results of older versions. */
static void add_map(const struct ab_session *s, uint32_t backend, struct ab_view_pictures *out)
{
    struct stretches x;
    struct column columns[COLUMNS_MOST] = {0};
    struct ab_view_map *map = &out->maps[out->n_maps];
    list_windows(s, backend, &x);
    unsigned n = fill_columns(&x, s->n_backends > MANY ? COLUMNS_FEW : COLUMNS_MOST, columns);
    *map = (struct ab_view_map){
        .backend = backend,
        .x_end = n > 0 ? columns[n - 1].end : 0,
        .cells = ab_alloc_zeroed((size_t)n * AB_WINDOW_BINS + 1, sizeof map->cells[0])};
    for (unsigned i = 0; i < n; i++)
        add_cells(&columns[i], map, &out->maps_y);
    if (map->n > 0)
        out->n_maps++;
    else
        free(map->cells);
    free(x.list);
}

/* ---- a real program ---- */

static void add_course(const struct ab_session *s, uint32_t backend, struct ab_view_pictures *out)
{
    const struct ab_timeline *t = first_timeline(s, backend);
    if (t == NULL)
        return;
    struct ab_view_course *c = &out->courses[out->n_courses++];
    *c = (struct ab_view_course){backend, t->n, ab_alloc_zeroed(t->n, sizeof c->points[0])};
    for (uint32_t i = 0; i < t->n; i++) {
        c->points[i] = (struct ab_point){t->points[i].position * MS_NS,
                                         t->points[i].footprint_bytes};
        out->courses_end.x = fmax(out->courses_end.x, c->points[i].x);
        out->courses_end.y = fmax(out->courses_end.y, c->points[i].y);
    }
}

/* ---- work that has times ---- */

/* Returns live or resident bytes (the double at `offset` of struct ab_over_time) of the first round
 * over time. Each time step has the largest value within it. */
static struct ab_view_course course_of(const struct ab_session *s, uint32_t backend, size_t offset)
{
    struct ab_view_course c = {.backend = backend};
    const struct ab_over_time *row, *first = NULL, *last = NULL;
    for (uint32_t at = 0;
         (row = ab_over_time_next(s, backend, AB_OVER_TIME_ALL_ROUNDS, &at)) != NULL;) {
        first = first != NULL ? first : row;
        last = row->round == first->round ? row : last;
    }
    if (first == NULL || last->time_ns == first->time_ns)
        return c;
    double step = ((double)last->time_ns - (double)first->time_ns) / TIMES_MOST;
    c.points = ab_alloc_zeroed(TIMES_MOST + 2, sizeof c.points[0]);
    for (uint32_t at = 0; (row = ab_over_time_next(s, backend, first->round, &at)) != NULL;) {
        double bytes = *(const double *)(const void *)((const char *)row + offset);
        struct ab_point p = {(double)row->time_ns, bytes};
        if (!isfinite(bytes))
            continue;
        if (c.n == 0 || p.x - c.points[c.n - 1].x >= step)
            c.points[c.n++] = p;
        else
            c.points[c.n - 1].y = fmax(c.points[c.n - 1].y, bytes);
    }
    return c;
}

static void add_over_time(const struct ab_session *s, uint32_t backend,
                          struct ab_view_pictures *out)
{
    struct ab_view_course c = course_of(s, backend, offsetof(struct ab_over_time, resident_bytes));
    for (uint32_t i = 0; i < c.n; i++) {
        out->courses_end.x = fmax(out->courses_end.x, c.points[i].x);
        out->courses_end.y = fmax(out->courses_end.y, c.points[i].y);
    }
    if (c.n > 1)
        out->courses[out->n_courses++] = c;
    else
        free(c.points);
    if (c.n > 1 && out->live.points == NULL)
        out->live = course_of(s, backend, offsetof(struct ab_over_time, live_bytes));
}

static void fill_row(const struct ab_session *s, const struct ab_field *field, uint32_t backend,
                     struct ab_view_strip *strip)
{
    struct ab_program_value value;
    double *rounds = &strip->rounds[(size_t)strip->n * s->n_rounds];
    ab_program_value_of(s, backend, UINT32_MAX, field, &value);
    strip->backends[strip->n] = backend;
    strip->medians[strip->n++] = value.median;
    ab_program_rounds(s, backend, field, rounds);
    for (uint32_t r = 0; r < s->n_rounds; r++) {
        strip->ends.low = fmin(strip->ends.low, rounds[r]); /* fmin and fmax ignore NaN */
        strip->ends.high = fmax(strip->ends.high, rounds[r]);
    }
}

static void add_strip(const struct ab_view *v, const char *name, const char *title,
                      enum ab_grid_kind kind, struct ab_view_pictures *out)
{
    const struct ab_session *s = v->session;
    const struct ab_field *field = ab_field_find(name);
    struct ab_view_strip *strip = &out->strips[out->n_strips++];
    *strip = (struct ab_view_strip){
        .title = title,
        .kind = kind,
        .ends = {INFINITY, -INFINITY},
        .backends = ab_alloc_zeroed(s->n_backends + 1u, sizeof strip->backends[0]),
        .medians = ab_alloc_zeroed(s->n_backends + 1u, sizeof strip->medians[0]),
        .rounds = ab_alloc_zeroed((size_t)s->n_backends * s->n_rounds + 1, sizeof(double))};
    for (uint32_t i = 0; i < v->ranking.n_rows && field != NULL; i++)
        if (ab_view_shows(s, v->ranking.rows[i].backend))
            fill_row(s, field, v->ranking.rows[i].backend, strip);
}

static void add_program(const struct ab_view *v, struct ab_view_pictures *out)
{
    for (uint32_t b = 0; b < v->session->n_backends; b++)
        add_course(v->session, b, out);
    add_strip(v, "wall_ns", "Wall time", AB_GRID_TIME, out);
    add_strip(v, "cpu_ns", "CPU time", AB_GRID_TIME, out);
    add_strip(v, "resident_peak_bytes", "Peak of resident memory", AB_GRID_BYTES, out);
    add_strip(v, "resident_mean_bytes", "Mean of resident memory", AB_GRID_BYTES, out);
}

/* ---- all ---- */

void ab_view_pictures_make(const struct ab_view *v, struct ab_view_pictures *out)
{
    const struct ab_session *s = v->session;
    size_t most = s->n_backends + 1u;
    *out = (struct ab_view_pictures){.footprints = ab_alloc_zeroed(most, sizeof out->footprints[0]),
                                     .maps = ab_alloc_zeroed(most, sizeof out->maps[0]),
                                     .maps_y = {INFINITY, 0},
                                     .courses = ab_alloc_zeroed(most, sizeof out->courses[0])};
    if (ab_session_is_exec(s))
        add_program(v, out);
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        uint32_t b = v->ranking.rows[i].backend;
        if (!ab_session_is_exec(s))
            add_footprint(s, b, out);
        if (!ab_session_is_exec(s) && ab_view_shows(s, b))
            add_over_time(s, b, out);
        if (ab_view_shows(s, b))
            add_map(s, b, out);
    }
}

void ab_view_pictures_fini(struct ab_view_pictures *p)
{
    for (uint32_t i = 0; i < p->n_maps; i++)
        free(p->maps[i].cells);
    for (uint32_t i = 0; i < p->n_courses; i++)
        free(p->courses[i].points);
    free(p->live.points);
    for (unsigned i = 0; i < p->n_strips; i++) {
        free(p->strips[i].backends);
        free(p->strips[i].medians);
        free(p->strips[i].rounds);
    }
    free(p->footprints);
    free(p->maps);
    free(p->courses);
    *p = (struct ab_view_pictures){0};
}

/* ---- latency by percentile ---- */

/* Appends a point. Drops the middle one of three equal values, but keeps the last of the sure
 * points. */
static void add_point(struct ab_latency_curve *c, double q, double ns, bool is_sure)
{
    bool may_go = c->n >= 2 && (is_sure || c->n > c->n_sure);
    if (may_go && c->points[c->n - 1].y == ns && c->points[c->n - 2].y == ns)
        c->n--;
    c->points[c->n++] = (struct ab_point){q, ns};
    if (is_sure) /* the part of the curve that is not sure begins at the last sure point */
        c->n_sure = c->n;
}

struct walk { /* a position in a histogram; it moves up over the counters */
    const struct ab_hdr *hdr;
    uint64_t before; /* values in the counters below i */
    uint32_t i;
};

/* Returns the value at quantile q of n values. q must not decrease from call to call. */
static double walk_to(struct walk *w, double q, uint64_t n)
{
    double want = fmax(1, ceil(q * (double)n - 1e-9 * (double)n));
    while ((double)w->before < want && w->i < AB_HDR_COUNTS)
        w->before += w->hdr->counts[w->i++];
    if ((double)w->before < want) /* the value is among those too large for the histogram */
        return NAN;
    return (double)ab_hdr_high(w->i > 0 ? w->i - 1 : 0);
}

void ab_latency_curve_make(const struct ab_hdr *hdr, size_t n_points, double least,
                           struct ab_latency_curve *out)
{
    uint64_t n = ab_hdr_total(hdr) + hdr->overflow;
    struct walk w = {.hdr = hdr, .i = ab_hdr_first(hdr)};
    out->n = out->n_sure = 0;
    if (n == 0 || n_points < 2)
        return;
    double nines = fmin(log10((double)n), AB_VIEW_NINES_MOST),
           sure = log10((double)n / AB_QUANTILE_MIN_SAMPLES_BEHIND);
    for (size_t i = 0; i < n_points; i++) {
        double x = nines * (double)i / (double)(n_points - 1), q = 1 - pow(10, -x);
        double ns = walk_to(&w, q, n);
        if (isnan(ns))
            return;
        add_point(out, q, fmax(ns, least), x <= sure + 1e-12);
    }
}
