/* SPDX-License-Identifier: MIT
 *
 * Finds the idle stretches in the rows of a run, and the memory that stayed resident in them.
 */
#include "stats/over_time.h"

#include "core/alloc.h"
#include "core/median.h"
#include "result/session.h"

#include <math.h>
#include <stdlib.h>

/* fraction of the freed bytes that counts as "most" for most_back_ns */
static const double most_share = 0.9;

const struct ab_over_time *ab_over_time_next(const struct ab_session *s, uint32_t backend,
                                             uint32_t round, uint32_t *at)
{
    const struct ab_over_time *before = *at > 0 ? &s->over_time[*at - 1] : NULL;
    for (; *at < s->n_over_time; ++*at) {
        const struct ab_over_time *row = &s->over_time[*at];
        bool is_back = before != NULL && before->backend == row->backend &&
                       before->round == row->round && row->time_ns < before->time_ns;
        if (row->backend == backend && !is_back &&
            (round == AB_OVER_TIME_ALL_ROUNDS || row->round == round)) {
            ++*at;
            return row;
        }
    }
    return NULL;
}

/* ---- one stretch ---- */

struct walk { /* state while the rows of a run are read one after the other */
    const struct ab_session *s;
    uint32_t backend, round;
    /* peaks of live and resident bytes since the previous stretch */
    double live_most, resident_most;
    uint32_t position; /* position of the end of the previous stretch */
    const struct ab_over_time *before;
    struct ab_idles out;
    size_t cap;
    bool is_inside;
};

/* Updates the peaks from the timeline, up to the position `end`. The timeline also has peaks
 * between two rows. */
static void take_timeline(struct walk *w, uint32_t end)
{
    for (uint32_t i = 0; i < w->s->n_timelines; i++) {
        const struct ab_timeline *line = &w->s->timelines[i];
        if (line->backend != w->backend || line->round != w->round || end == AB_NO_POSITION)
            continue;
        for (uint32_t k = 0; k < line->n; k++) {
            const struct ab_timeline_point *p = &line->points[k];
            if (p->position < w->position || p->position > end)
                continue;
            w->live_most = fmax(w->live_most, p->requested_bytes); /* fmax ignores NaN */
            w->resident_most = fmax(w->resident_most, p->footprint_bytes);
        }
    }
}

static void begin(struct walk *w, const struct ab_over_time *row)
{
    take_timeline(w, row->position);
    AB_GROW(w->out.items, w->cap, w->out.n);
    double freed = w->live_most - row->live_bytes;
    w->out.items[w->out.n++] = (struct ab_idle){.phase = row->phase,
                                                .begin_ns = (double)row->time_ns,
                                                .end_ns = (double)row->time_ns,
                                                .live_bytes = row->live_bytes,
                                                .begin_bytes = row->resident_bytes,
                                                /* NaN if the resident bytes are not known,
                                                 * otherwise 0 */
                                                .area = row->resident_bytes * 0,
                                                .at_1s_bytes = NAN,
                                                .at_10s_bytes = NAN,
                                                .at_60s_bytes = NAN,
                                                .end_bytes = NAN,
                                                .floor_bytes = NAN,
                                                .end_retained_bytes = NAN,
                                                .end_external_bytes = NAN,
                                                .freed_bytes = freed > 0 ? freed : (double)NAN,
                                                .half_back_ns = NAN,
                                                .most_back_ns = NAN};
    w->is_inside = true;
}

/* Stores `bytes` in *to if nothing is stored yet, and `since` (ns from the beginning of the
 * stretch) is at least `after`. */
static void take_reading(double *to, double since, double after, double bytes)
{
    if (isnan(*to) && since >= after)
        *to = bytes;
}

static void take_row(struct walk *w, const struct ab_over_time *row)
{
    struct ab_idle *x = &w->out.items[w->out.n - 1];
    double since = (double)row->time_ns - x->begin_ns, bytes = row->resident_bytes;
    take_reading(&x->at_1s_bytes, since, 1e9, bytes);
    take_reading(&x->at_10s_bytes, since, 10e9, bytes);
    take_reading(&x->at_60s_bytes, since, 60e9, bytes);
    if (bytes <= w->resident_most - x->freed_bytes / 2)
        take_reading(&x->half_back_ns, since, 0, since);
    if (bytes <= w->resident_most - most_share * x->freed_bytes)
        take_reading(&x->most_back_ns, since, 0, since);
    x->end_ns = (double)row->time_ns;
    x->end_bytes = bytes;
    x->end_retained_bytes = row->retained_bytes;
    x->end_external_bytes = row->external_bytes;
    x->floor_bytes = fmin(x->floor_bytes, bytes);
}

static void step(struct walk *w, const struct ab_over_time *row)
{
    w->live_most = fmax(w->live_most, row->live_bytes);
    w->resident_most = fmax(w->resident_most, row->resident_bytes);
    if (w->is_inside)
        w->out.items[w->out.n - 1].area += ab_over_time_area(w->before, row);
    if (row->idle == AB_IDLE_BEGIN)
        begin(w, row);
    if (w->is_inside)
        take_row(w, row);
    if (row->idle == AB_IDLE_END || row->idle == AB_IDLE_NOT) {
        if (w->is_inside) {
            w->live_most = row->live_bytes;
            w->resident_most = row->resident_bytes;
            w->position = row->position;
        }
        w->is_inside = false;
    }
    w->before = row;
}

static struct ab_idles idles_of_round(const struct ab_session *s, uint32_t backend, uint32_t round)
{
    struct walk w = {
        .s = s, .backend = backend, .round = round, .live_most = NAN, .resident_most = NAN};
    const struct ab_over_time *row;
    for (uint32_t at = 0; (row = ab_over_time_next(s, backend, round, &at)) != NULL;)
        step(&w, row);
    return w.out;
}

/* ---- over the rounds ---- */

static const size_t numbers[] = {offsetof(struct ab_idle, live_bytes),
                                 offsetof(struct ab_idle, begin_bytes),
                                 offsetof(struct ab_idle, at_1s_bytes),
                                 offsetof(struct ab_idle, at_10s_bytes),
                                 offsetof(struct ab_idle, at_60s_bytes),
                                 offsetof(struct ab_idle, end_bytes),
                                 offsetof(struct ab_idle, floor_bytes),
                                 offsetof(struct ab_idle, freed_bytes),
                                 offsetof(struct ab_idle, half_back_ns),
                                 offsetof(struct ab_idle, most_back_ns),
                                 offsetof(struct ab_idle, end_retained_bytes),
                                 offsetof(struct ab_idle, end_external_bytes),
                                 offsetof(struct ab_idle, area)};

static double *number_at(struct ab_idle *x, size_t offset)
{
    return (double *)(void *)((char *)x + offset);
}

/* Replaces the numbers of the first round by medians over the rounds. All rounds do the same work.
 * A round with another number of stretches comes from an edited file, and is left out. */
static void take_medians(struct ab_idles *rounds, uint32_t n)
{
    double *x = ab_alloc_zeroed((size_t)n + 1, sizeof x[0]);
    for (uint32_t i = 0; i < rounds[0].n; i++)
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            uint32_t n_known = 0;
            for (uint32_t r = 0; r < n; r++)
                if (rounds[r].n == rounds[0].n &&
                    isfinite(*number_at(&rounds[r].items[i], numbers[k])))
                    x[n_known++] = *number_at(&rounds[r].items[i], numbers[k]);
            *number_at(&rounds[0].items[i], numbers[k]) = ab_median(x, n_known);
        }
    free(x);
}

struct ab_idles ab_idles_of(const struct ab_session *s, uint32_t backend, uint32_t round)
{
    struct ab_idles none = {NULL, 0}, *rounds;
    uint32_t n = 0;
    if (!ab_session_has_numbers(s, backend))
        return none;
    if (round != AB_OVER_TIME_ALL_ROUNDS)
        return idles_of_round(s, backend, round);
    rounds = ab_alloc_zeroed((size_t)s->n_rounds + 1, sizeof rounds[0]);
    for (uint32_t i = 0; i < s->n_rounds; i++) {
        rounds[n] = idles_of_round(s, backend, s->rounds[i].index);
        n += rounds[n].n > 0;
    }
    if (n > 0)
        take_medians(rounds, n);
    for (uint32_t i = 1; i < n; i++)
        free(rounds[i].items);
    none = rounds[0];
    free(rounds);
    return none;
}

bool ab_idle_longest(const struct ab_session *s, uint32_t backend, struct ab_idle *out)
{
    struct ab_idles all = ab_idles_of(s, backend, AB_OVER_TIME_ALL_ROUNDS);
    for (uint32_t i = 0; i < all.n; i++)
        if (i == 0 || all.items[i].end_ns - all.items[i].begin_ns > out->end_ns - out->begin_ns)
            *out = all.items[i];
    free(all.items);
    return all.n > 0;
}
