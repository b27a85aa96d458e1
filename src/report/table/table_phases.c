/* SPDX-License-Identifier: MIT
 *
 * Two tables with the back ends as rows, in the order of the ranking.
 */
#include "report/table/table_phases.h"

#include "core/memory.h"
#include "core/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TITLE = 14, COLUMNS = 8 };

/* A column of the work: which one, how much of it, and what it is called. */
struct column {
    uint32_t index;
    double weight;
    char title[TITLE * 4 + 4], name[96];
};

static int by_weight(const void *a, const void *b)
{
    const struct column *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int by_index(const void *a, const void *b)
{
    const struct column *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* The heaviest COLUMNS of list[0..n) in their own order; the lightest give way first. The names of
 * the others go to `rest`. */
static unsigned choose(struct column *list, uint32_t n, struct ab_table_column *columns,
                       const char **names, struct ab_text *rest)
{
    unsigned kept = n < COLUMNS ? n : COLUMNS;
    qsort(list, n, sizeof *list, by_weight);
    for (uint32_t i = kept; i < n; i++)
        ab_text_addf(rest, "%s%s", i == kept ? "  (not shown: " : ", ", list[i].name);
    if (rest->n > 0)
        ab_text_add(rest, "; -v time)");
    for (unsigned i = 0; i < kept; i++) /* the rank, until they are sorted again */
        list[i].weight = i;
    qsort(list, kept, sizeof *list, by_index);
    for (unsigned i = 0; i < kept; i++) {
        columns[i] = (struct ab_table_column){list[i].title, (unsigned)list[i].weight};
        names[i] = list[i].name;
    }
    return kept;
}

static bool is_row(const struct ab_view *v, const struct ab_view_rank *rank)
{
    (void)v;
    return rank->standing != AB_VIEW_FAILED;
}

static void print(FILE *to, const struct ab_table *t, struct ab_text *rest,
                  struct ab_table_style style, struct ab_legend *legend)
{
    ab_legend_see(legend, t, ab_table_print(to, t, style), style.utf8);
    if (rest->s != NULL)
        ab_table_prose(to, style, AB_FAINT, rest->s);
    ab_text_fini(rest);
}

/* ---- time by phase ---- */

static void format_per_op(char cell[AB_CELL_BYTES], double ns, bool is_unclear)
{
    char number[AB_CELL_BYTES];
    if (!isfinite(ns))
        snprintf(cell, AB_CELL_BYTES, "-");
    else if (ns < 999.5)
        snprintf(cell, AB_CELL_BYTES, "%s%.40s", is_unclear ? "~" : "",
                 ab_format_ratio(number, ns)); /* a mean, not a reading of the clock */
    else
        snprintf(cell, AB_CELL_BYTES, "%s%.40s", is_unclear ? "~" : "",
                 ab_format_ns(number, ns, NAN));
}

static void add_times(const struct ab_view *v, const struct column *list, unsigned n,
                      struct ab_table *t, struct ab_legend *legend, bool utf8)
{
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        const struct ab_view_rank *rank = &v->ranking.rows[i];
        struct ab_table_row *row =
            is_row(v, rank) ? ab_table_add_backend(t, &v->session->backends[rank->backend]) : NULL;
        for (unsigned c = 0; row != NULL && c < n; c++) {
            const struct ab_view_time *time = ab_view_phases_at(&v->phases, rank->backend,
                                                                list[c].index);
            bool is_unclear = isfinite(time->vs.times) && !time->vs.is_clear;
            format_per_op(row->cells[c], time->ns_per_op.median, is_unclear);
            if (!isfinite(time->ns_per_op.median))
                ab_footnotes_dash(&legend->notes, row->cells[c], "no round of this phase", utf8);
        }
    }
}

/* Of each harness that back ends have: what of their times is not theirs. */
static void add_harness(const struct ab_view *v, const struct column *list, unsigned n,
                        struct ab_table *t)
{
    for (unsigned i = 0; i < v->phases.n_harness; i++) {
        const struct ab_view_harness *h = &v->phases.harness[i];
        char label[AB_HARNESS_NAME_BYTES + 16];
        snprintf(label, sizeof label, v->phases.n_harness > 1 ? "harness (%s)" : "harness alone",
                 h->name);
        struct ab_table_row *row = ab_table_add(t, label, false);
        for (unsigned c = 0; row != NULL && c < n; c++)
            format_per_op(row->cells[c], h->ns_per_op[list[c].index], false);
        if (row != NULL)
            row->emphasis = AB_FAINT;
    }
}

/* The harness itself varies by more than this: below it a back end's own cost is not seen. */
static const double beyond_harness = 1.1;

/* "arena, slab in scratch": whose time there is that of the harness. */
static void add_at_harness(const struct ab_view *v, const struct column *phase, bool utf8,
                           struct ab_text *to)
{
    size_t before = to->n;
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        const struct ab_view_rank *rank = &v->ranking.rows[i];
        double ns = ab_view_phases_at(&v->phases, rank->backend, phase->index)->ns_per_op.median;
        char name[AB_CELL_BYTES * 4];
        double harness = ab_view_phases_harness(&v->phases, rank->backend, phase->index);
        if (is_row(v, rank) && ns <= beyond_harness * harness)
            ab_text_addf(to, "%s%s",
                         to->n == before && before > 0 ? "; "
                         : before < to->n              ? ", "
                                                       : "",
                         ab_format_label(name, sizeof name, rank->name, 24, utf8));
    }
    if (to->n > before)
        ab_text_addf(to, " in %s", phase->name);
}

static void print_at_harness(FILE *to, const struct ab_view *v, const struct column *list,
                             unsigned n, struct ab_table_style style)
{
    struct ab_text who = {0}, line = {0};
    for (unsigned c = 0; c < n; c++)
        add_at_harness(v, &list[c], style.utf8, &who);
    if (who.s != NULL)
        ab_text_addf(&line,
                     "no more than the harness alone (within %.0f %%), so not distinguished "
                     "there: %s",
                     100 * (beyond_harness - 1), who.s);
    if (line.s != NULL)
        ab_table_prose(to, style, AB_PLAIN, line.s);
    ab_text_fini(&who);
    ab_text_fini(&line);
}

/* What makes the whole run of times per op: the sum over the phases of one by the other. */
static void add_ops(const struct ab_view *v, const struct column *list, unsigned n,
                    struct ab_table *t)
{
    struct ab_table_row *row = ab_table_add(t, "ops per round", false);
    for (unsigned c = 0; row != NULL && c < n; c++)
        ab_format_count(row->cells[c], (double)v->phases.phases[list[c].index].n_ops);
    if (row != NULL)
        row->emphasis = AB_FAINT;
}

/* By the most time that a back end takes there. */
static void list_phases(const struct ab_view *v, struct column *list)
{
    for (uint32_t p = 0; p < v->phases.n_phases; p++) {
        double most = 0;
        for (uint32_t b = 0; b < v->phases.n_backends; b++)
            most = fmax(most, ab_view_phases_at(&v->phases, b, p)->ns_per_op.median);
        list[p] = (struct column){.index = p, .weight = most * (double)v->phases.phases[p].n_ops};
        ab_format_label(list[p].title, sizeof list[p].title, v->phases.phases[p].name, TITLE, true);
        ab_format_label(list[p].name, sizeof list[p].name, v->phases.phases[p].name, 24, true);
    }
}

void ab_table_phases(FILE *to, const struct ab_view *v, struct ab_table_style style,
                     struct ab_legend *legend)
{
    struct column *list = ab_alloc_zeroed(v->phases.n_phases + 1u, sizeof *list);
    struct ab_table_column columns[COLUMNS];
    const char *names[COLUMNS];
    struct ab_text rest = {0};
    struct ab_table t;
    if (v->phases.n_phases == 0) {
        free(list);
        return;
    }
    list_phases(v, list);
    unsigned n = choose(list, v->phases.n_phases, columns, names, &rest);
    ab_table_init(&t, columns, n);
    t.names = names;
    ab_table_add(&t, "time per op, ns", true);
    add_times(v, list, n, &t, legend, style.utf8);
    add_harness(v, list, n, &t);
    add_ops(v, list, n, &t);
    fputc('\n', to);
    print(to, &t, &rest, style, legend);
    print_at_harness(to, v, list, n, style);
    ab_table_fini(&t);
    free(list);
}

/* ---- latency of a call ---- */

static void format_cell(const struct ab_view *v, const struct ab_view_latency_cell *cell,
                        char out[AB_CELL_BYTES], struct ab_legend *legend, bool utf8)
{
    char p50[AB_CELL_BYTES], p99[AB_CELL_BYTES];
    double floor_ns = v->latency.floor_ns;
    if (cell->n == 0) {
        ab_footnotes_dash(&legend->notes, out, "no such call was timed", utf8);
        return;
    }
    snprintf(out, AB_CELL_BYTES, "%.28s/%.28s", ab_format_ns(p50, cell->quantiles[0], floor_ns),
             ab_format_ns(p99, cell->quantiles[2], floor_ns));
    legend->has_at_floor = legend->has_at_floor ||
                           (isfinite(floor_ns) &&
                            strcmp(p50, ab_format_ns(p99, floor_ns, NAN)) == 0);
}

/* Uses of blocks are no calls of the allocator: they come last. */
static void list_calls(const struct ab_view *v, struct column *list)
{
    for (uint32_t i = 0; i < v->latency.n_columns; i++) {
        const struct ab_view_latency_column *c = &v->latency.columns[i];
        char phase[4 * 24 + 4];
        list[i] = (struct column){.index = i,
                                  .weight = c->op == AB_OP_ACCESS ? c->n_ops * 1e-9 : c->n_ops};
        snprintf(list[i].title, sizeof list[i].title, "%s", ab_result_op_name(c->op));
        ab_format_label(phase, sizeof phase, v->session->phases[c->phase], 24, true);
        snprintf(list[i].name, sizeof list[i].name, "%.30s in %.60s", ab_result_op_name(c->op),
                 phase);
    }
}

static void add_phase_names(const struct ab_view *v, const struct column *list, unsigned n,
                            struct ab_table *t)
{
    struct ab_table_row *row = v->session->n_phases > 1 ? ab_table_add(t, "", true) : NULL;
    for (unsigned c = 0; row != NULL && c < n; c++)
        ab_format_label(row->cells[c], AB_CELL_BYTES,
                        v->session->phases[v->latency.columns[list[c].index].phase], TITLE, true);
}

void ab_table_calls(FILE *to, const struct ab_view *v, struct ab_table_style style,
                    struct ab_legend *legend)
{
    struct column *list = ab_alloc_zeroed(v->latency.n_columns + 1u, sizeof *list);
    struct ab_table_column columns[COLUMNS];
    const char *names[COLUMNS];
    struct ab_text rest = {0};
    struct ab_table t;
    if (v->latency.n_columns == 0) {
        free(list);
        return;
    }
    list_calls(v, list);
    unsigned n = choose(list, v->latency.n_columns, columns, names, &rest);
    ab_table_init(&t, columns, n);
    t.names = names;
    ab_table_add(&t, "p50/p99, ns", true);
    add_phase_names(v, list, n, &t);
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        const struct ab_view_rank *rank = &v->ranking.rows[i];
        struct ab_table_row *row =
            is_row(v, rank) ? ab_table_add_backend(&t, &v->session->backends[rank->backend]) : NULL;
        for (unsigned c = 0; row != NULL && c < n; c++)
            format_cell(v, ab_view_latency_at(&v->latency, rank->backend, list[c].index),
                        row->cells[c], legend, style.utf8);
    }
    fputc('\n', to);
    print(to, &t, &rest, style, legend);
    ab_table_fini(&t);
    free(list);
}
