/* SPDX-License-Identifier: MIT
 *
 * Copies the ranking of each session, and prints them one below the other.
 */
#include "report/table/sink_traces.h"

#include "core/units_show.h"
#include "report/table/table.h"
#include "report/view/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIME, VERSUS, PEAK, COLUMNS };

static struct ab_trace_sum *add(struct ab_trace_sums *sums, const char *trace, uint32_t n_rows)
{
    struct ab_trace_sum *grown = realloc(sums->items, (sums->n + 1) * sizeof grown[0]);
    if (grown == NULL)
        return NULL;
    sums->items = grown;
    struct ab_trace_sum *sum = &grown[sums->n];
    *sum = (struct ab_trace_sum){.trace = strdup(trace),
                                 .rows = calloc((size_t)n_rows + 1, sizeof sum->rows[0]),
                                 .n_rows = n_rows};
    if (sum->trace != NULL && sum->rows != NULL) {
        sums->n++;
        return sum;
    }
    free(sum->trace);
    free(sum->rows);
    return NULL;
}

static void copy_row(const struct ab_session *s, const struct ab_view_rank *rank,
                     struct ab_trace_row *row)
{
    const struct ab_backend_info *b = &s->backends[rank->backend];
    snprintf(row->name, sizeof row->name, "%s", b->name);
    if (rank->standing == AB_VIEW_FAILED)
        snprintf(row->failure, sizeof row->failure, "%s", ab_backend_status_name(b->status));
    row->is_aside = rank->standing == AB_VIEW_ASIDE;
    row->is_base = rank->is_base;
    row->run_ns = rank->run_ns.median;
    row->peak_bytes = rank->peak_bytes;
    row->vs = rank->vs;
}

bool ab_trace_sums_add(struct ab_trace_sums *sums, const struct ab_session *session)
{
    struct ab_view v;
    if (!ab_view_make(session, &v))
        return false;
    struct ab_trace_sum *sum = add(sums, session->name, v.ranking.n_rows);
    for (uint32_t i = 0; sum != NULL && i < sum->n_rows; i++)
        copy_row(session, &v.ranking.rows[i], &sum->rows[i]);
    ab_view_fini(&v);
    return sum != NULL;
}

bool ab_trace_sums_add_failed(struct ab_trace_sums *sums, const char *trace)
{
    return add(sums, trace, 0) != NULL;
}

void ab_trace_sums_fini(struct ab_trace_sums *sums)
{
    for (size_t i = 0; i < sums->n; i++) {
        free(sums->items[i].trace);
        free(sums->items[i].rows);
    }
    free(sums->items);
    *sums = (struct ab_trace_sums){0};
}

/* ---- printed ---- */

static void fill_versus(const struct ab_trace_row *from, char cell[AB_CELL_BYTES])
{
    char words[AB_CELL_BYTES], interval[AB_CELL_BYTES];
    if (from->is_base || !isfinite(from->vs.times)) {
        snprintf(cell, AB_CELL_BYTES, "%s", from->is_base ? "base" : "-");
        return;
    }
    ab_view_factor_words(words, sizeof words, &from->vs, "faster", "slower");
    ab_view_factor_interval(interval, sizeof interval, &from->vs);
    snprintf(cell, AB_CELL_BYTES, "%.30s%s%.30s", words, interval[0] != 0 ? " " : "", interval);
}

static void add_row(const struct ab_trace_row *from, struct ab_table *t)
{
    char label[AB_TABLE_LABEL_BYTES];
    snprintf(label, sizeof label, "%s%s", from->name, from->is_aside ? " (not compared)" : "");
    struct ab_table_row *row = ab_table_add(t, label, false);
    if (row == NULL)
        return;
    if (from->failure[0] != 0) {
        snprintf(row->cells[TIME], AB_CELL_BYTES, "%s", from->failure);
        row->emphasis = AB_BAD;
        return;
    }
    snprintf(row->cells[TIME], AB_CELL_BYTES, "-");
    snprintf(row->cells[PEAK], AB_CELL_BYTES, "-");
    if (isfinite(from->run_ns))
        ab_units_time(row->cells[TIME], AB_CELL_BYTES, from->run_ns);
    if (isfinite(from->peak_bytes))
        ab_units_bytes(row->cells[PEAK], AB_CELL_BYTES, from->peak_bytes);
    fill_versus(from, row->cells[VERSUS]);
    if (from->is_aside)
        row->emphasis = AB_FAINT;
    else if (from->vs.is_clear)
        row->emphasis = from->vs.is_less ? AB_BAD : AB_GOOD;
}

void ab_sink_traces(FILE *to, const struct ab_trace_sums *sums, struct ab_table_style style)
{
    static const struct ab_table_column columns[COLUMNS] = {
        [TIME] = {"whole run", 0}, [VERSUS] = {"vs base", 0}, [PEAK] = {"peak", 1}};
    struct ab_table t;
    struct ab_format_guard guard;
    char line[64];
    ab_format_begin(&guard);
    snprintf(line, sizeof line, "%zu traces", sums->n);
    ab_table_line(to, style, AB_STRONG, line);
    ab_table_init(&t, columns, COLUMNS);
    for (size_t i = 0; i < sums->n; i++) {
        ab_table_add(&t, sums->items[i].trace, true);
        for (uint32_t k = 0; k < sums->items[i].n_rows; k++)
            add_row(&sums->items[i].rows[k], &t);
        if (sums->items[i].n_rows == 0)
            ab_table_add(&t, "no result, see above", false);
    }
    ab_table_print(to, &t, style);
    ab_table_fini(&t);
    ab_format_end(&guard);
}
