/* SPDX-License-Identifier: MIT
 *
 * Ranks the back ends by one number, with the memory that they need for it.
 */
#include "answer/ranking.h"

#include "base/bits.h"
#include "core/alloc.h"
#include "result/numbers.h"
#include "result/result_fields.h"
#include "result/session.h"
#include "stats/compare.h"
#include "stats/compare_drift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the metric that a command asks for ---- */

enum { OF_RUN, OF_CPU, OF_WALL, OF_LOAD, OF_METRIC };

/* Words for the metric of ab_session_rank_metric. A metric that the user named has its own name. */
static const struct ab_view_subject subjects[] = {
    [OF_RUN] = {.title = "whole run",
                .noun = "the time of the whole run",
                .over = " over the whole run",
                .alone = " for the whole run"},
    [OF_CPU] = {.title = "CPU time",
                .noun = "CPU time",
                .over = " in CPU time",
                .alone = " of CPU time"},
    [OF_WALL] = {.title = "wall time",
                 .noun = "wall time",
                 .over = " in wall time",
                 .alone = " of wall time"},
    [OF_LOAD] = {.title = "time of load",
                 .noun = "the time of the load",
                 .over = " in the time of the load",
                 .alone = " for the load"},
    [OF_METRIC] = {.is_named = true},
};

static unsigned subject_of(const struct ab_session *s, const struct ab_metric *m)
{
    if (!ab_session_is_exec(s))
        return OF_RUN;
    if (m->field == ab_field_find("cpu_ns"))
        return OF_CPU;
    if (m->field != ab_metric_run_time.field)
        return OF_METRIC;
    return ab_session_is_server(s) ? OF_LOAD : OF_WALL;
}

static struct ab_view_subject choose_subject(const struct ab_session *s)
{
    struct ab_metric m = ab_session_rank_metric(s);
    struct ab_view_subject subject = subjects[subject_of(s, &m)];
    subject.metric = m;
    if (subject.is_named)
        subject.title = subject.noun = m.field->name;
    return subject;
}

const char *ab_view_subject_word(const struct ab_view_subject *subject, bool is_less)
{
    bool is_higher_better = ab_metric_better(&subject->metric) == AB_FIELD_HIGHER;
    if (!subject->is_named)
        return is_less ? "slower" : "faster";
    return is_less == is_higher_better ? "lower" : "higher";
}

/* ---- rows ---- */

static enum ab_view_standing standing_of(const struct ab_session *s, uint32_t backend)
{
    const struct ab_backend_info *b = &s->backends[backend];
    if (!ab_backend_status_has_numbers(b->status))
        return AB_VIEW_FAILED;
    return ab_backend_is_comparable(b) ? AB_VIEW_RANKED : AB_VIEW_ASIDE;
}

static unsigned last_drain(const struct ab_session *s)
{
    unsigned last = 0;
    for (uint32_t i = 0; i < s->n_memory; i++)
        for (unsigned when = 0; when < AB_DRAIN_COUNT - 1; when++)
            if (ab_session_has_numbers(s, s->memory[i].backend) &&
                isfinite(s->memory[i].drained_bytes[when]) && when > last)
                last = when;
    return last;
}

/* Fills the numbers of a row that need no comparison with the base. */
static void fill(const struct ab_session *s, const struct ab_view_memory *memory,
                 const struct ab_view_ranking *of, struct ab_view_rank *row)
{
    const struct ab_view_memory_row *m = &memory->rows[row->backend];
    row->never_frees = s->backends[row->backend].never_frees &&
                       !ab_session_did_reset(s, row->backend);
    row->figure = ab_metric_range(s, row->backend, &of->subject.metric);
    row->peak_bytes = m->peak_bytes;
    row->times_live = m->live_peak_bytes > 0 ? m->peak_bytes / m->live_peak_bytes : NAN;
    row->after_free_bytes = ab_view_memory_drained(s, row->backend, of->drain);
}

static const struct ab_view_span no_span = {NAN, NAN};

static void clear(struct ab_view_rank *row)
{
    row->figure_range = row->peak_range = no_span;
    row->figure = (struct ab_round_range){0, NAN, NAN, NAN};
    row->speed = row->peak_ratio = ab_effect_paired(NULL, NULL, 0);
    row->peak_bytes = row->times_live = row->after_free_bytes = NAN;
}

struct ab_effect ab_view_peak_ratio(const struct ab_session *s, const struct ab_view_rank *row,
                                    const struct ab_view_rank *base)
{
    struct ab_effect e;
    if (!(row->peak_bytes > 0)) /* nothing was seen to be resident, so a ratio would mislead */
        return ab_effect_paired(NULL, NULL, 0);
    e = ab_session_peak_ratio(s, row->backend, base->backend);
    if (s->n_hosts > 1) /* peaks of several machines may only be compared within one round */
        return e;
    return ab_effect_shown(&e, base->peak_bytes > 0 ? row->peak_bytes / base->peak_bytes : NAN);
}

struct ab_view_span ab_view_time_range(double base_ns, const struct ab_effect *speed)
{
    if (!isfinite(base_ns) || !isfinite(speed->low) || !isfinite(speed->high) || speed->low <= 0)
        return no_span;
    return (struct ab_view_span){base_ns / speed->high, base_ns / speed->low};
}

/* Returns the range of a row's number: the base's number `base` scaled by the interval of the row's
 * lead over the base. */
static struct ab_view_span figure_range(const struct ab_metric *m, double base,
                                        const struct ab_effect *lead)
{
    if (ab_metric_better(m) == AB_FIELD_HIGHER)
        return (struct ab_view_span){base * lead->low, base * lead->high};
    return ab_view_time_range(base, lead);
}

static bool is_about_time(const struct ab_checked *c)
{
    static const char *const names[] = {"time", "ns_per_op", "wall_ns", "cpu_ns"};
    for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
        if (strcmp(c->metric, names[i]) == 0)
            return true;
    return false;
}

static const struct ab_checked *find_in(const struct ab_checked *list, uint32_t n,
                                        const struct ab_backend_info *b)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i].n_confirm > 0 && list[i].verdict == AB_VERDICT_INCONCLUSIVE &&
            is_about_time(&list[i]) && list[i].backend != NULL &&
            (strcmp(list[i].backend, b->name) == 0 || ab_backend_is_named(b, list[i].backend)))
            return &list[i];
    return NULL;
}

static const struct ab_checked *find_taken_back(const struct ab_session *s, uint32_t backend)
{
    const struct ab_checked *gate = find_in(s->gates, s->n_gates, &s->backends[backend]);
    if (gate != NULL || s->comparison == NULL)
        return gate;
    return find_in(s->comparison->cells, s->comparison->n_cells, &s->backends[backend]);
}

static void ranking_compare(const struct ab_session *s, const struct ab_view_ranking *of,
                            const struct ab_view_rank *base, struct ab_view_rank *row)
{
    row->is_base = row == base;
    if (base != NULL && !row->is_base && row->standing == AB_VIEW_RANKED) {
        row->speed = ab_session_lead(s, row->backend, base->backend);
        row->peak_ratio = ab_view_peak_ratio(s, row, base);
        row->figure_range = figure_range(&of->subject.metric, base->figure.median, &row->speed);
        row->peak_range = (struct ab_view_span){base->peak_bytes * row->peak_ratio.low,
                                                base->peak_bytes * row->peak_ratio.high};
    }
    row->vs = ab_view_factor_of(&row->speed);
    if ((base != NULL && row->twin == base->twin) || row->taken_back != NULL)
        row->vs.is_clear = false;
}

/* Returns the sort key, negated if higher is better, so that the best row comes first. */
static double rank_key(const struct ab_view_rank *row)
{
    return row->is_higher_better ? -row->figure.median : row->figure.median;
}

static int by_rank(const void *a, const void *b)
{
    const struct ab_view_rank *x = a, *y = b;
    double of_x = rank_key(x), of_y = rank_key(y);
    if (x->standing != y->standing)
        return x->standing < y->standing ? -1 : 1;
    if (x->combination != y->combination)
        return x->combination < y->combination ? -1 : 1;
    if (x->standing == AB_VIEW_RANKED && isfinite(of_x) != isfinite(of_y))
        return isfinite(of_x) ? -1 : 1;
    if (x->standing == AB_VIEW_RANKED && of_x != of_y && isfinite(of_x))
        return of_x < of_y ? -1 : 1;
    return (x->backend > y->backend) - (x->backend < y->backend);
}

static void fill_all(const struct ab_session *s, const struct ab_view_memory *memory,
                     struct ab_view_ranking *out)
{
    for (uint32_t i = 0; i < s->n_backends; i++) {
        struct ab_view_rank *row = &out->rows[i];
        *row = (struct ab_view_rank){.backend = i,
                                     .combination = s->backends[i].combination,
                                     .name = ab_backend_label(&s->backends[i]),
                                     .standing = standing_of(s, i),
                                     .twin = ab_drift_twin(s, i),
                                     .taken_back = find_taken_back(s, i),
                                     .is_higher_better = ab_metric_better(&out->subject.metric) ==
                                                         AB_FIELD_HIGHER,
                                     .is_inlined = ab_backend_is_inlined(&s->backends[i])};
        clear(row);
        if (row->standing != AB_VIEW_FAILED)
            fill(s, memory, out, row);
        out->n_ranked += row->standing == AB_VIEW_RANKED;
        out->has_drain = out->has_drain || isfinite(row->after_free_bytes);
    }
    for (uint32_t i = 0; i < s->n_backends; i++) {
        uint32_t base = ab_session_base_of(s, i);
        ranking_compare(s, out, base != UINT32_MAX ? &out->rows[base] : NULL, &out->rows[i]);
    }
}

/* Extends `ends` by a value and its range; fmin and fmax ignore NaN. */
static void widen(struct ab_view_span *ends, double value, const struct ab_view_span *range)
{
    ends->low = fmin(ends->low, fmin(value, range->low));
    ends->high = fmax(ends->high, fmax(value, range->high));
}

/* Sets is_placed and is_front of each row, and the extent of the placed rows. Rows must be in the
 * order of the ranking. */
static void place(struct ab_view_ranking *out)
{
    double least = INFINITY;
    out->figure_ends = out->peak_ends = (struct ab_view_span){INFINITY, 0};
    for (uint32_t i = 0; i < out->n_ranked; i++) {
        struct ab_view_rank *row = &out->rows[i];
        row->is_placed = isfinite(row->figure.median) && row->figure.median > 0 &&
                         isfinite(row->peak_bytes);
        if (!row->is_placed)
            continue;
        row->is_front = row->peak_bytes < least;
        least = fmin(least, row->peak_bytes);
        widen(&out->figure_ends, row->figure.median, &row->figure_range);
        widen(&out->peak_ends, row->peak_bytes, &row->peak_range);
    }
}

void ab_view_ranking_make(const struct ab_session *s, const struct ab_view_memory *memory,
                          struct ab_view_ranking *out)
{
    *out = (struct ab_view_ranking){
        .rows = ab_alloc_zeroed((size_t)s->n_backends + 1, sizeof *out->rows),
        .n_rows = s->n_backends,
        .base = ab_session_base(s),
        .subject = choose_subject(s),
        .drain = last_drain(s)};
    fill_all(s, memory, out);
    qsort(out->rows, out->n_rows, sizeof *out->rows, by_rank);
    place(out);
}

void ab_view_ranking_fini(struct ab_view_ranking *r)
{
    free(r->rows);
    *r = (struct ab_view_ranking){0};
}

const struct ab_view_rank *ab_view_ranking_find(const struct ab_view_ranking *r, uint32_t backend)
{
    for (uint32_t i = 0; i < r->n_rows; i++)
        if (r->rows[i].backend == backend)
            return &r->rows[i];
    return NULL;
}
