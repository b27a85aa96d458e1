/* SPDX-License-Identifier: MIT
 *
 * The table of a comparison, a block a back end, and the sentences below it. An effect is shown as
 * a change in per cent where it is small, as a factor where it is large; more than 0 % is worse.
 */
#include "report/table/sink_compare.h"

#include "base/bits.h"
#include "base/units.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/format.h"
#include "report/table/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BASE, NOW, EFFECT, INTERVAL, LIMIT, VERDICT, N_COLUMNS };
enum { ROWS_OF_A_LONG_TABLE = 30 };

static const struct ab_table_column columns[N_COLUMNS] = {
    [BASE] = {"base", 2},     [NOW] = {"new", 1},
    [EFFECT] = {"effect", 0}, [INTERVAL] = {"90 % interval", 0},
    [LIMIT] = {"limit", 3},   [VERDICT] = {"verdict", 0},
};

static void format_number(char cell[AB_CELL_BYTES], double x, const char *unit)
{
    if (!isfinite(x))
        snprintf(cell, AB_CELL_BYTES, "-");
    else if (strcmp(unit, "ns") == 0)
        ab_units_time(cell, AB_CELL_BYTES, x);
    else if (strcmp(unit, "bytes") == 0)
        ab_units_bytes(cell, AB_CELL_BYTES, x);
    else
        ab_units_count(cell, AB_CELL_BYTES, x);
}

/* "+7.4 %", or "3.20x" from twice or half on. */
static void format_effect(char cell[AB_CELL_BYTES], double ratio)
{
    char factor[AB_CELL_BYTES];
    if (!isfinite(ratio))
        snprintf(cell, AB_CELL_BYTES, "-");
    else if (ratio >= 2 || ratio <= 0.5)
        snprintf(cell, AB_CELL_BYTES, "%.20sx", ab_format_ratio(factor, ratio));
    else
        snprintf(cell, AB_CELL_BYTES, "%+.1f %%", 100 * (ratio - 1));
}

static void format_interval(char cell[AB_CELL_BYTES], const struct ab_effect *e)
{
    char low[AB_CELL_BYTES], high[AB_CELL_BYTES];
    if (isnan(e->low) || isnan(e->high)) {
        snprintf(cell, AB_CELL_BYTES, "-");
        return;
    }
    bool is_factor = e->high >= 2 || e->low <= 0.5;
    if (e->method == AB_EFFECT_EXACT)
        snprintf(cell, AB_CELL_BYTES, "exact");
    else if (is_factor)
        snprintf(cell, AB_CELL_BYTES, "[%.20s, %.20s]", ab_format_ratio(low, e->low),
                 ab_format_ratio(high, e->high));
    else
        snprintf(cell, AB_CELL_BYTES, "[%+.1f, %+.1f]", 100 * (e->low - 1), 100 * (e->high - 1));
}

/* ---- rows ---- */

static enum ab_emphasis emphasis_of(const struct ab_cell *cell)
{
    const char *word = ab_cell_word(cell);
    if (ab_cell_is_judged(cell))
        return cell->verdict == AB_VERDICT_IMPROVED ? AB_GOOD
               : cell->verdict == AB_VERDICT_OK     ? AB_PLAIN
                                                    : AB_BAD;
    return strcmp(word, "worse") == 0 || strcmp(word, "better") == 0 ? AB_PLAIN : AB_FAINT;
}

/* "churn alloc p99", "whole run rss_peak" (of "rss_peak_bytes"). */
static void label_case(const struct ab_cell *cell, char *buf, size_t cap)
{
    char phase[160];
    size_t n = strlen(cell->metric), tail = strlen("_bytes");
    bool has_tail = n > tail && strcmp(cell->metric + n - tail, "_bytes") == 0;
    ab_text_printable(phase, sizeof phase, cell->phase != NULL ? cell->phase : "whole run");
    snprintf(buf, cap, "  %s%s%s %.*s", phase, cell->op != NULL ? " " : "",
             cell->op != NULL ? cell->op : "", (int)(has_tail ? n - tail : n), cell->metric);
}

static void add_row(struct ab_table *t, const struct ab_cell *cell)
{
    char label[300];
    label_case(cell, label, sizeof label);
    struct ab_table_row *row = ab_table_add(t, label, false);
    if (row == NULL)
        return;
    row->emphasis = emphasis_of(cell);
    format_number(row->cells[BASE], cell->base, cell->unit);
    format_number(row->cells[NOW], cell->now, cell->unit);
    format_effect(row->cells[EFFECT], cell->effect.ratio);
    format_interval(row->cells[INTERVAL], &cell->effect);
    if (!isnan(cell->limit))
        snprintf(row->cells[LIMIT], AB_CELL_BYTES, "%+.3g %%", 100 * cell->limit);
    snprintf(row->cells[VERDICT], AB_CELL_BYTES, "%s", ab_cell_word(cell));
}

static void add_heading(struct ab_table *t, const struct ab_cell *cell)
{
    char label[300];
    bool is_one = strcmp(cell->backend, cell->base_backend) == 0;
    snprintf(label, sizeof label, "%s%s%s", cell->backend, is_one ? "" : " by ",
             is_one ? "" : cell->base_backend);
    ab_table_add(t, label, true);
}

static bool is_in_table(const struct ab_comparison *c, const struct ab_cell *cell, bool is_verbose)
{
    const char *word = ab_cell_word(cell);
    return is_verbose || c->n_cells <= ROWS_OF_A_LONG_TABLE || ab_cell_is_judged(cell) ||
           cell->op == NULL || strcmp(word, "worse") == 0 || strcmp(word, "better") == 0;
}

static uint32_t print_cells(FILE *to, const struct ab_comparison *c, struct ab_table_style style)
{
    struct ab_table t;
    uint32_t n_left_out = 0;
    const char *last = NULL;
    ab_table_init(&t, columns, N_COLUMNS);
    for (uint32_t i = 0; i < c->n_cells; i++) {
        const struct ab_cell *cell = &c->cells[i];
        if (!is_in_table(c, cell, style.is_verbose)) {
            n_left_out++;
            continue;
        }
        if (last == NULL || strcmp(last, cell->backend) != 0)
            add_heading(&t, cell);
        last = cell->backend;
        add_row(&t, cell);
    }
    ab_table_print(to, &t, style);
    ab_table_fini(&t);
    return n_left_out;
}

/* ---- sentences ---- */

static void print_text(FILE *to, struct ab_table_style style, enum ab_emphasis emphasis,
                       struct ab_text *t)
{
    if (t->s != NULL)
        ab_table_prose(to, style, emphasis, t->s);
    ab_text_fini(t);
}

static void print_counts(FILE *to, const struct ab_comparison *c, struct ab_table_style style)
{
    static const enum ab_verdict order[] = {AB_VERDICT_FAILED, AB_VERDICT_REGRESSED,
                                            AB_VERDICT_INCONCLUSIVE, AB_VERDICT_IMPROVED,
                                            AB_VERDICT_OK};
    struct ab_text t = {0};
    for (size_t i = 0; i < AB_ARRAY_LEN(order); i++) {
        uint32_t n = ab_comparison_count(c, order[i]);
        if (n > 0)
            ab_text_addf(&t, "%s%u %s", t.n > 0 ? ", " : "", n, ab_verdict_name(order[i]));
    }
    if (t.n == 0)
        ab_text_add(&t, "no verdict");
    if (c->is_joint)
        ab_text_add(&t, ", judged jointly");
    print_text(to, style, AB_STRONG, &t);
}

/* Why a cell has no verdict, and what would give it one. */
static void print_reason(FILE *to, const struct ab_cell *cell, struct ab_table_style style)
{
    struct ab_text t = {0};
    char name[160];
    if (!ab_cell_is_judged(cell) ||
        (cell->verdict != AB_VERDICT_INCONCLUSIVE && cell->verdict != AB_VERDICT_FAILED))
        return;
    ab_text_addf(&t, "  %s: %s", ab_text_printable(name, sizeof name, cell->backend),
                 ab_verdict_name(cell->verdict));
    if (cell->reason[0] != 0) {
        char shown[4 * sizeof cell->reason];
        ab_text_addf(&t, ": %s", ab_text_printable(shown, sizeof shown, cell->reason));
    }
    if (cell->rounds_needed == UINT32_MAX)
        ab_text_add(&t, "; more rounds would hardly settle it");
    else if (cell->rounds_needed > 0)
        ab_text_addf(&t, "; about %u rounds would settle it", cell->rounds_needed);
    print_text(to, style, AB_PLAIN, &t);
}

static void print_notes(FILE *to, const struct ab_comparison *c, struct ab_table_style style)
{
    for (uint32_t i = 0; i < c->n_notes; i++) {
        struct ab_text t = {0};
        ab_text_addf(&t, "  %s", c->notes[i]);
        print_text(to, style, AB_FAINT, &t);
    }
}

static void print_title(FILE *to, const struct ab_comparison *c, struct ab_table_style style)
{
    struct ab_text t = {0};
    char name[2][512];
    if (c->base_label == NULL || c->now_label == NULL)
        return;
    ab_text_addf(&t, "base %s (%u rounds), new %s (%u rounds)",
                 ab_text_printable(name[0], sizeof name[0], c->base_label), c->base->n_rounds,
                 ab_text_printable(name[1], sizeof name[1], c->now_label), c->now->n_rounds);
    print_text(to, style, AB_STRONG, &t);
}

void ab_sink_compare(FILE *to, const struct ab_comparison *c, struct ab_table_style style)
{
    struct ab_format_guard guard;
    struct ab_text t = {0};
    ab_format_begin(&guard);
    print_title(to, c, style);
    uint32_t n_left_out = print_cells(to, c, style);
    if (n_left_out > 0)
        ab_text_addf(&t, "  %u more percentiles without a clear difference: -v", n_left_out);
    print_text(to, style, AB_FAINT, &t);
    print_counts(to, c, style);
    for (uint32_t i = 0; i < c->n_cells; i++)
        print_reason(to, &c->cells[i], style);
    if (c->advisory[0] != 0) {
        struct ab_text advisory = {0};
        ab_text_addf(&advisory, "verdicts are advisory: %s", c->advisory);
        print_text(to, style, AB_STRONG, &advisory);
    }
    print_notes(to, c, style);
    ab_format_end(&guard);
}
