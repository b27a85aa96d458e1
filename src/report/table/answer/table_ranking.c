/* SPDX-License-Identifier: MIT
 *
 * Time of the whole run, how much faster than the base, tail, memory. What failed has a row as well:
 * nothing that was asked for is missing.
 */
#include "report/table/answer/table_ranking.h"

#include "core/units_show.h"

#include <math.h>

enum { TIME, VERSUS, P99, P999, PEAK, COLUMNS };

struct ranking {
    const struct ab_view *v;
    struct ab_table_style style;
    struct ab_legend *legend;
    int at[COLUMNS]; /* place of a column, -1 = not shown */
};

static void dash(const struct ranking *r, char cell[AB_CELL_BYTES], const char *why)
{
    ab_footnotes_dash(&r->legend->notes, cell, why, r->style.utf8);
}

static void fill_peak(const struct ranking *r, const struct ab_view_rank *rank,
                      struct ab_table_row *row)
{
    if (r->at[PEAK] < 0)
        return;
    if (isfinite(rank->peak_bytes))
        ab_units_bytes(row->cells[r->at[PEAK]], AB_CELL_BYTES, rank->peak_bytes);
    else
        dash(r, row->cells[r->at[PEAK]], r->v->memory.rows[rank->backend].why_peak);
}

static void fill_tail(const struct ranking *r, struct ab_table_row *row, unsigned column, double ns)
{
    double floor_ns = r->v->session->timer.floor_ns;
    if (r->at[column] < 0)
        return;
    char *cell = row->cells[r->at[column]];
    if (ns < floor_ns)
        ab_format_ns(cell, ns, floor_ns);
    else if (isfinite(ns))
        ab_units_time(cell, AB_CELL_BYTES, ns);
    else
        dash(r, cell, "too few timed calls");
}

static void fill_versus(const struct ranking *r, const struct ab_view_rank *rank,
                        struct ab_table_row *row)
{
    if (r->at[VERSUS] < 0)
        return;
    char *cell = row->cells[r->at[VERSUS]];
    if (rank->is_base) {
        snprintf(cell, AB_CELL_BYTES, "base");
        return;
    }
    if (!isfinite(rank->vs.times)) {
        dash(r, cell, rank->standing == AB_VIEW_ASIDE ? "not compared" : "no time to compare with");
        return;
    }
    ab_view_factor_text(cell, &rank->vs, "faster", "slower");
}

static void add_row(const struct ranking *r, const struct ab_view_rank *rank, struct ab_table *t)
{
    const struct ab_backend_info *b = &r->v->session->backends[rank->backend];
    if (b->status == AB_BACKEND_ABSENT) /* a warning says so */
        return;
    struct ab_table_row *row = ab_table_add_backend(t, b);
    if (row == NULL)
        return;
    if (rank->standing == AB_VIEW_FAILED) {
        snprintf(row->cells[0], AB_CELL_BYTES, "%s", ab_backend_status_name(b->status));
        row->emphasis = AB_BAD;
        return;
    }
    if (isfinite(rank->run_ns.median))
        ab_units_time(row->cells[0], AB_CELL_BYTES, rank->run_ns.median);
    else
        dash(r, row->cells[0], "no round is complete");
    fill_versus(r, rank, row);
    fill_tail(r, row, P99, rank->p99_ns);
    fill_tail(r, row, P999, rank->p999_ns);
    fill_peak(r, rank, row);
    if (rank->vs.is_clear && rank->standing == AB_VIEW_RANKED)
        row->emphasis = rank->vs.is_less ? AB_BAD : AB_GOOD;
}

/* Columns of which nothing is known are not there at all. */
static unsigned choose(struct ranking *r, const char *versus, struct ab_table_column *columns)
{
    const char *time = ab_session_is_exec(r->v->session) ? "wall time" : "whole run";
    const struct ab_table_column all[COLUMNS] = {[TIME] = {time, 0},
                                                 [VERSUS] = {versus, 0},
                                                 [P99] = {"p99", 3},
                                                 [P999] = {"p99.9", 2},
                                                 [PEAK] = {"peak", 1}};
    bool has[COLUMNS] = {[TIME] = true};
    unsigned n = 0;
    for (uint32_t i = 0; i < r->v->ranking.n_rows; i++) {
        const struct ab_view_rank *rank = &r->v->ranking.rows[i];
        has[VERSUS] = has[VERSUS] || isfinite(rank->vs.times);
        has[P99] = has[P99] || isfinite(rank->p99_ns);
        has[P999] = has[P999] || isfinite(rank->p999_ns);
        has[PEAK] = has[PEAK] || isfinite(rank->peak_bytes);
    }
    for (unsigned i = 0; i < COLUMNS; i++) {
        r->at[i] = has[i] ? (int)n : -1;
        if (has[i])
            columns[n++] = all[i];
    }
    return n;
}

void ab_table_ranking(FILE *to, const struct ab_view *v, struct ab_table_style style,
                      struct ab_legend *legend)
{
    struct ranking r = {.v = v, .style = style, .legend = legend};
    struct ab_table_column columns[COLUMNS];
    char versus[AB_CELL_BYTES * 4 + 8] = "", base[AB_CELL_BYTES * 4];
    struct ab_table t;
    if (v->ranking.base != UINT32_MAX)
        snprintf(versus, sizeof versus, "vs %s",
                 ab_format_label(base, sizeof base, v->session->backends[v->ranking.base].name, 20,
                                 style.utf8));
    ab_table_init(&t, columns, choose(&r, versus, columns));
    ab_table_add(&t, "", true);
    for (uint32_t i = 0; i < v->ranking.n_rows; i++)
        add_row(&r, &v->ranking.rows[i], &t);
    unsigned shown = ab_table_print(to, &t, style);
    ab_legend_see(legend, &t, shown, style.utf8);
    legend->has_tail = (r.at[P99] >= 0 && (shown >> r.at[P99] & 1) != 0) ||
                       (r.at[P999] >= 0 && (shown >> r.at[P999] & 1) != 0);
    ab_table_fini(&t);
}
