/* SPDX-License-Identifier: MIT
 *
 * One table for each phase: percentiles of all rounds together, and how many iterations took more than
 * their budget.
 */
#include "report/table/table_iterations.h"

#include "base/bits.h"
#include "core/units_show.h"
#include "report/table/table.h"
#include "stats/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { P50, P99, WORST, MISSED, CALLS, COUNT, COLUMNS };

/* "3 (0.25%)", "0". */
static void format_missed(char cell[AB_CELL_BYTES], const struct ab_iterations *x)
{
    double percent = 100 * (double)x->n_over_budget / (double)x->n;
    if (x->n == 0 || isnan(x->budget_ns))
        snprintf(cell, AB_CELL_BYTES, "-");
    else if (x->n_over_budget == 0)
        snprintf(cell, AB_CELL_BYTES, "0");
    else
        snprintf(cell, AB_CELL_BYTES, "%llu (%.3g%%)", (unsigned long long)x->n_over_budget,
                 percent);
}

/* One number of all rounds of a back end. */
struct source {
    const struct ab_session *s;
    uint32_t backend;
    const struct ab_iterations *x;
    struct ab_footnotes *notes;
    bool utf8;
};

static void format_time(char cell[AB_CELL_BYTES], const struct source *of, unsigned field,
                        double ns)
{
    const struct ab_metric m = {.phase = of->x->phase, .iteration = &ab_iteration_fields[field]};
    char why[AB_FOOTNOTE_BYTES];
    if (isfinite(ns)) {
        ab_units_time(cell, AB_CELL_BYTES, ns);
        return;
    }
    ab_metric_why_missing(of->s, of->backend, &m, false, why, sizeof why);
    ab_footnotes_dash(of->notes, cell, why, of->utf8);
}

static void fill(const struct source *of, struct ab_table_row *row)
{
    const struct ab_iterations *x = of->x;
    format_time(row->cells[P50], of, AB_ITERATION_P50, x->p50);
    format_time(row->cells[P99], of, AB_ITERATION_P99, x->p99);
    format_time(row->cells[WORST], of, AB_ITERATION_MAX, x->max);
    format_missed(row->cells[MISSED], x);
    ab_format_count(row->cells[CALLS], x->n > 0 ? (double)x->n_calls / (double)x->n : (double)NAN);
    ab_format_count(row->cells[COUNT], (double)x->n);
}

static void print_notes(FILE *to, const struct ab_iterations *any, uint64_t n_scheduler,
                        struct ab_table_style style)
{
    struct ab_text t = {0};
    char budget[32];
    ab_text_addf(&t, "net: what the same calls take in the null back end is subtracted");
    if (isfinite(any->budget_ns))
        ab_text_addf(&t, "; missed: more than the budget of %s",
                     ab_units_time(budget, sizeof budget, any->budget_ns));
    if (n_scheduler > 0)
        ab_text_addf(&t, "; left out: %llu in which the scheduler took the CPU",
                     (unsigned long long)n_scheduler);
    if (t.s != NULL)
        ab_table_prose(to, style, AB_FAINT, t.s);
    ab_text_fini(&t);
}

static void print_title(FILE *to, const struct ab_session *s, const struct ab_iterations *x,
                        struct ab_table_style style)
{
    struct ab_text t = {0};
    fputc('\n', to);
    ab_text_addf(&t, "%s / %s: time in the allocator per %s", s->name, x->phase, x->name);
    if (t.s != NULL)
        ab_table_line(to, style, AB_STRONG, t.s);
    ab_text_fini(&t);
}

/* Nothing where no back end has iterations in this phase. */
static void print_phase(FILE *to, const struct ab_session *s, const char *phase, struct ab_hdr *hdr,
                        struct ab_table_style style)
{
    static const struct ab_table_column columns[COLUMNS] = {
        [P50] = {"p50", 0},       [P99] = {"p99", 0},     [WORST] = {"worst", 0},
        [MISSED] = {"missed", 0}, [CALLS] = {"calls", 2}, [COUNT] = {"n", 1}};
    struct ab_footnotes notes = {.n = 0};
    struct ab_iterations x, any;
    struct ab_table t;
    uint64_t n_scheduler = 0;
    bool is_any = false;
    ab_table_init(&t, columns, COLUMNS);
    for (uint32_t b = 0; b < s->n_backends; b++) {
        if (!ab_session_has_numbers(s, b) ||
            !ab_session_merge_iterations(s, b, phase, AB_ITERATIONS_ALL_ROUNDS, hdr, &x))
            continue;
        if (!is_any)
            ab_table_add(&t, x.name, true);
        struct ab_table_row *row = ab_table_add_backend(&t, &s->backends[b]);
        if (row != NULL)
            fill(&(struct source){s, b, &x, &notes, style.utf8}, row);
        n_scheduler += x.n_scheduler;
        any = x;
        is_any = true;
    }
    if (is_any) {
        print_title(to, s, &any, style);
        ab_table_print(to, &t, style);
        print_notes(to, &any, n_scheduler, style);
        ab_footnotes_print(to, &notes, style);
    }
    ab_table_fini(&t);
}

void ab_table_iterations(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    struct ab_hdr *hdr = s->n_iterations > 0 ? malloc(sizeof *hdr) : NULL;
    for (uint32_t i = 0; i < s->n_phases && hdr != NULL; i++)
        print_phase(to, s, s->phases[i], hdr, style);
    free(hdr);
}
