/* SPDX-License-Identifier: MIT
 *
 * Fills the rows of the ranking and sorts them.
 */
#include "report/view/ranking.h"

#include "core/memory.h"
#include "report/view/growth.h"
#include "report/view/latency.h"
#include "report/view/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* What nothing is compared with yet. */
static void fill(const struct ab_session *s, const struct ab_view_memory *memory,
                 const struct ab_view_ranking *of, struct ab_view_rank *row)
{
    static const double quantiles[] = {0.99, 0.999};
    double ns[2] = {NAN, NAN};
    const struct ab_view_memory_row *m = &memory->rows[row->backend];
    const struct ab_view_growth growth = ab_view_growth_of(s, row->backend, AB_VIEW_ALL_ROUNDS);
    ab_view_latency_of_allocation(s, row->backend, quantiles, 2, ns);
    row->never_frees = s->backends[row->backend].never_frees &&
                       !ab_session_did_reset(s, row->backend);
    row->run_ns = ab_session_run_time(s, row->backend);
    row->p99_ns = ns[0];
    row->p999_ns = ns[1];
    row->peak_bytes = m->peak_bytes;
    row->times_live = m->live_peak_bytes > 0 ? m->peak_bytes / m->live_peak_bytes : NAN;
    row->after_free_bytes = ab_view_memory_drained(s, row->backend, of->drain);
    row->after_purge_bytes = ab_view_memory_drained(s, row->backend, AB_DRAIN_COUNT - 1);
    row->growth_bytes = growth.bytes;
    row->growth_over_ops = growth.over_ops;
    row->why_growth = growth.why;
}

static void clear(struct ab_view_rank *row)
{
    row->run_ns = (struct ab_round_range){0, NAN, NAN, NAN};
    row->speed = row->peak_ratio = ab_effect_paired(NULL, NULL, 0);
    row->p99_ns = row->p999_ns = row->peak_bytes = row->times_live = NAN;
    row->after_free_bytes = row->after_purge_bytes = row->growth_bytes = NAN;
    row->growth_over_ops = NAN;
    row->why_growth = "";
}

static struct ab_effect program_peak_ratio(const struct ab_session *s, uint32_t a, uint32_t b)
{
    struct ab_program_value peak;
    ab_program_value_of(s, a, b, ab_program_field("resident_peak_bytes"), &peak);
    return peak.ratio;
}

struct ab_effect ab_view_peak_ratio(const struct ab_session *s, const struct ab_view_rank *row,
                                    const struct ab_view_rank *base)
{
    struct ab_effect e;
    if (!(row->peak_bytes > 0)) /* nothing was seen to be resident: no ratio says that */
        return ab_effect_paired(NULL, NULL, 0);
    if (ab_session_is_exec(s))
        return program_peak_ratio(s, row->backend, base->backend);
    e = ab_session_rss_ratio(s, row->backend, base->backend);
    if (s->n_hosts > 1) /* peaks of several machines: only those of one round may be compared */
        return e;
    return ab_effect_shown(&e, base->peak_bytes > 0 ? row->peak_bytes / base->peak_bytes : NAN);
}

static void compare(const struct ab_session *s, const struct ab_view_rank *base,
                    struct ab_view_rank *row)
{
    row->is_base = row == base;
    if (base != NULL && !row->is_base && row->standing == AB_VIEW_RANKED) {
        row->speed = ab_session_speed(s, row->backend, base->backend, NULL);
        row->peak_ratio = ab_view_peak_ratio(s, row, base);
    }
    row->vs = ab_view_factor_of(&row->speed);
}

static int by_rank(const void *a, const void *b)
{
    const struct ab_view_rank *x = a, *y = b;
    double of_x = x->run_ns.median, of_y = y->run_ns.median;
    if (x->standing != y->standing)
        return x->standing < y->standing ? -1 : 1;
    if (x->standing == AB_VIEW_RANKED && isfinite(of_x) != isfinite(of_y))
        return isfinite(of_x) ? -1 : 1;
    if (x->standing == AB_VIEW_RANKED && of_x != of_y && isfinite(of_x))
        return of_x < of_y ? -1 : 1;
    return (x->backend > y->backend) - (x->backend < y->backend);
}

static void fill_all(const struct ab_session *s, const struct ab_view_memory *memory,
                     struct ab_view_ranking *out)
{
    const struct ab_view_rank *base = NULL;
    for (uint32_t i = 0; i < s->n_backends; i++) {
        struct ab_view_rank *row = &out->rows[i];
        *row = (struct ab_view_rank){.backend = i,
                                     .name = s->backends[i].name,
                                     .standing = standing_of(s, i),
                                     .is_inlined = ab_backend_is_inlined(&s->backends[i])};
        clear(row);
        if (row->standing != AB_VIEW_FAILED)
            fill(s, memory, out, row);
        base = i == out->base ? row : base;
        out->n_ranked += row->standing == AB_VIEW_RANKED;
        out->has_drain = out->has_drain || isfinite(row->after_free_bytes);
        out->has_purge = out->has_purge || isfinite(row->after_purge_bytes);
        out->has_growth = out->has_growth || isfinite(row->growth_bytes);
    }
    for (uint32_t i = 0; i < s->n_backends; i++)
        compare(s, base, &out->rows[i]);
}

void ab_view_ranking_make(const struct ab_session *s, const struct ab_view_memory *memory,
                          struct ab_view_ranking *out)
{
    *out = (struct ab_view_ranking){
        .rows = ab_alloc_zeroed((size_t)s->n_backends + 1, sizeof *out->rows),
        .n_rows = s->n_backends,
        .base = ab_session_base(s),
        .drain = last_drain(s)};
    fill_all(s, memory, out);
    qsort(out->rows, out->n_rows, sizeof *out->rows, by_rank);
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
