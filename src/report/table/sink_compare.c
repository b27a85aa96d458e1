/* SPDX-License-Identifier: MIT
 *
 * A comparison for terminals: the verdicts as sentences, one table, a block a back end, what its
 * signs mean, and how noisy it was.
 */
#include "report/table/sink_compare.h"

#include "base/bits.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/format.h"
#include "report/table/table.h"
#include "report/view/verdicts.h"
#include "report/view/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BASE, NOW, CHANGE, INTERVAL, LIMIT, VERDICT, N_COLUMNS };
enum { ROWS_OF_A_LONG_TABLE = 30 };

static const struct ab_table_column columns[N_COLUMNS] = {
    [BASE] = {"base", 2},     [NOW] = {"new", 1},
    [CHANGE] = {"change", 0}, [INTERVAL] = {"90 % interval", 0},
    [LIMIT] = {"limit", 3},   [VERDICT] = {"verdict", 0},
};
static const char *const names[N_COLUMNS] = {"base",
                                             "new",
                                             "change",
                                             "90 % interval",
                                             /* in the legend */ "",
                                             "verdict"};

/* What the table shows, for the legend below it. */
struct signs {
    bool has_unclear, has_unknown; /* "~", "n/a" */
    double limit;                  /* of all that have one; NaN = none */
};

static void print_text(FILE *to, struct ab_table_style style, enum ab_emphasis emphasis,
                       struct ab_text *t)
{
    if (t->s != NULL)
        ab_table_prose(to, style, emphasis, t->s);
    ab_text_fini(t);
}

/* ---- rows ---- */

static void format_number(char out[AB_CELL_BYTES], const struct ab_cell *cell, double x,
                          double floor)
{
    bool is_below = cell->op != NULL && x < floor; /* both sides count as the floor */
    char *at = out + is_below;
    size_t cap = AB_CELL_BYTES - 1;
    x = is_below ? floor : x;
    snprintf(out, cap, "<");
    if (!isfinite(x))
        snprintf(at, cap, "-");
    else if (strcmp(cell->unit, "ns") == 0)
        ab_units_time(at, cap, x);
    else if (strcmp(cell->unit, "bytes") == 0)
        ab_units_bytes(at, cap, x);
    else if (strcmp(cell->unit, "percent") == 0)
        snprintf(at, cap, "%.3g %%", x);
    else
        ab_units_count(at, cap, x);
}

static enum ab_emphasis emphasis_of(const struct ab_cell *cell)
{
    const char *word = ab_cell_word(cell);
    if (ab_cell_is_judged(cell))
        return cell->verdict == AB_VERDICT_IMPROVED                                  ? AB_GOOD
               : cell->verdict == AB_VERDICT_OK || cell->verdict == AB_VERDICT_MOVED ? AB_PLAIN
                                                                                     : AB_BAD;
    return strcmp(word, "worse") == 0 || strcmp(word, "better") == 0 ? AB_PLAIN : AB_FAINT;
}

/* "churn alloc p99", "whole run peak memory"; what stands in the unit is no part of the name. */
static void label_case(const struct ab_cell *cell, char *buf, size_t cap)
{
    char phase[160], of[160];
    const char *op = cell->iteration != NULL ? cell->iteration : cell->op;
    static const char *const tails[] = {"_bytes", "_percent"};
    size_t n = strlen(cell->metric);
    for (size_t i = 0; i < AB_ARRAY_LEN(tails); i++) {
        size_t tail = strlen(tails[i]);
        if (n > tail && strcmp(cell->metric + n - tail, tails[i]) == 0)
            n -= tail;
    }
    ab_text_printable(phase, sizeof phase, cell->phase != NULL ? cell->phase : "whole run");
    if (cell->phase == NULL && strcmp(cell->metric, "rss_peak_bytes") == 0)
        snprintf(buf, cap, "peak memory");
    else
        snprintf(buf, cap, "%s%s%s %.*s", phase, op != NULL ? " " : "",
                 op != NULL ? ab_text_printable(of, sizeof of, op) : "", (int)n, cell->metric);
}

/* What the machine did, and what is left of the change without it. */
static void add_relative(struct ab_text *t, const struct ab_cell *cell)
{
    char shown[4 * sizeof cell->witnesses], change[2][AB_CELL_BYTES], interval[AB_CELL_BYTES];
    if (ab_cell_judged_effect(cell) != &cell->relative)
        return;
    ab_view_change_interval(interval, sizeof interval, &cell->relative);
    ab_text_addf(t, "%s relative to %s, the same build in both (%s)%s%s",
                 ab_view_change(change[0], sizeof change[0], cell->relative.ratio),
                 ab_text_printable(shown, sizeof shown, cell->witnesses),
                 ab_view_change(change[1], sizeof change[1], cell->machine_ratio),
                 interval[0] != 0 ? ": " : "", interval);
}

/* Why a cell has no verdict, what would give it one, and whether it was seen twice. */
static void add_reason(struct ab_table_row *row, const struct ab_cell *cell)
{
    bool is_open = cell->verdict == AB_VERDICT_INCONCLUSIVE || cell->verdict == AB_VERDICT_FAILED;
    struct ab_text *t = &row->below;
    char shown[4 * sizeof cell->reason], change[AB_CELL_BYTES];
    if (!ab_cell_is_judged(cell))
        return;
    add_relative(t, cell);
    if (cell->reason[0] != 0)
        ab_text_addf(t, "%s%s", t->n > 0 ? "; " : "",
                     ab_text_printable(shown, sizeof shown, cell->reason));
    if (is_open && cell->rounds_needed == UINT32_MAX)
        ab_text_addf(t, "%smore rounds would hardly settle it", t->n > 0 ? "; " : "");
    else if (is_open && cell->rounds_needed > 0)
        ab_text_addf(t, "%sabout %u rounds would settle it", t->n > 0 ? "; " : "",
                     cell->rounds_needed);
    if (cell->n_confirm > 0 && isfinite(cell->confirm_ratio))
        ab_text_addf(t, "%s%u more rounds: %s", t->n > 0 ? "; " : "", cell->n_confirm,
                     ab_view_change(change, sizeof change, cell->confirm_ratio));
}

static void add_row(struct ab_table *t, const struct ab_comparison *c, const struct ab_cell *cell,
                    struct signs *signs)
{
    char label[300];
    const char *word = ab_cell_word(cell);
    label_case(cell, label, sizeof label);
    struct ab_table_row *row = ab_table_add(t, label, false);
    if (row == NULL)
        return;
    double floor = ab_compare_floor_ns(c->base, c->now);
    row->emphasis = emphasis_of(cell);
    format_number(row->cells[BASE], cell, cell->base, floor);
    format_number(row->cells[NOW], cell, cell->now, floor);
    ab_view_change(row->cells[CHANGE], AB_CELL_BYTES, cell->effect.ratio);
    ab_view_change_interval(row->cells[INTERVAL], AB_CELL_BYTES, &cell->effect);
    if (!isnan(cell->limit))
        snprintf(row->cells[LIMIT], AB_CELL_BYTES, "%+.3g %%", 100 * cell->limit);
    snprintf(row->cells[VERDICT], AB_CELL_BYTES, "%s", word);
    add_reason(row, cell);
    signs->has_unclear = signs->has_unclear || strcmp(word, "~") == 0;
    signs->has_unknown = signs->has_unknown || strcmp(word, "n/a") == 0;
    signs->limit = isnan(cell->limit) ? signs->limit : cell->limit;
}

static void add_heading(struct ab_table *t, const struct ab_cell *cell)
{
    char label[300];
    bool is_one = strcmp(cell->backend, cell->base_backend) == 0;
    snprintf(label, sizeof label, "%s%s%s", cell->backend, is_one ? "" : " against ",
             is_one ? "" : cell->base_backend);
    ab_table_add(t, label, true);
}

static bool is_in_table(const struct ab_comparison *c, const struct ab_cell *cell, bool is_verbose)
{
    const char *word = ab_cell_word(cell);
    return is_verbose || c->n_cells <= ROWS_OF_A_LONG_TABLE || ab_cell_is_judged(cell) ||
           cell->op == NULL || strcmp(word, "worse") == 0 || strcmp(word, "better") == 0;
}

bool ab_sink_compare_is_cut(const struct ab_comparison *c, bool is_verbose)
{
    for (uint32_t i = 0; i < c->n_cells; i++)
        if (!is_in_table(c, &c->cells[i], is_verbose))
            return true;
    return false;
}

/* ---- below the table ---- */

static void print_legend(FILE *to, const struct signs *signs, uint32_t n_left_out,
                         bool is_limit_shown, struct ab_table_style style)
{
    struct ab_text t = {0};
    ab_text_add(&t, "change: + is worse.");
    if (signs->has_unclear)
        ab_text_add(&t, " ~: no clear difference.");
    if (signs->has_unknown)
        ab_text_add(&t, " n/a: too few rounds or samples.");
    if (!is_limit_shown && !isnan(signs->limit))
        ab_text_addf(&t, " Limit of the whole run time: %+.3g %%.", 100 * signs->limit);
    if (n_left_out > 0)
        ab_text_addf(&t, " -v lists %u unchanged percentiles.", n_left_out);
    print_text(to, style, AB_FAINT, &t);
}

static void print_cells(FILE *to, const struct ab_comparison *c, struct ab_table_style style)
{
    struct ab_table t;
    struct signs signs = {.limit = NAN};
    uint32_t n_left_out = 0;
    const char *last = NULL;
    ab_table_init(&t, columns, N_COLUMNS);
    t.names = names;
    for (uint32_t i = 0; i < c->n_cells; i++) {
        const struct ab_cell *cell = &c->cells[i];
        if (!is_in_table(c, cell, style.is_verbose)) {
            n_left_out++;
            continue;
        }
        if (last == NULL || strcmp(last, cell->backend) != 0)
            add_heading(&t, cell);
        last = cell->backend;
        add_row(&t, c, cell, &signs);
    }
    if (t.n_rows > 0) {
        unsigned shown = ab_table_print(to, &t, style);
        print_legend(to, &signs, n_left_out, (shown >> LIMIT & 1) != 0, style);
    }
    ab_table_fini(&t);
}

/* ---- sentences ---- */

static void add_side(struct ab_text *t, const char *what, const char *label,
                     const struct ab_session *s)
{
    char name[512];
    ab_text_addf(t, "%s %s (%u round%s)", what, ab_text_printable(name, sizeof name, label),
                 s->n_rounds, s->n_rounds == 1 ? "" : "s");
}

/* What is compared with what. */
static void print_title(FILE *to, const struct ab_comparison *c, struct ab_table_style style)
{
    struct ab_text t = {0};
    if (c->base_label == NULL || c->now_label == NULL)
        return;
    add_side(&t, "base:", c->base_label, c->base);
    add_side(&t, ", new:", c->now_label, c->now);
    print_text(to, style, AB_PLAIN, &t);
}

static void print_end(FILE *to, const struct ab_comparison *c, const struct ab_view_verdicts *v,
                      struct ab_table_style style)
{
    struct ab_text t = {0};
    if (c->advisory[0] != 0) {
        ab_text_addf(&t, "verdicts are advisory: %s", c->advisory);
        print_text(to, style, AB_STRONG, &t);
    }
    for (uint32_t i = 0; i < c->n_notes; i++) {
        ab_text_addf(&t, "note: %s", c->notes[i]);
        print_text(to, style, AB_FAINT, &t);
    }
    ab_text_addf(&t, "%s", v->counts);
    print_text(to, style, AB_STRONG, &t);
    if (v->noise[0] != 0)
        ab_text_addf(&t, "noise: %s", v->noise);
    print_text(to, style, AB_PLAIN, &t);
}

void ab_sink_compare(FILE *to, const struct ab_comparison *c, struct ab_table_style style)
{
    struct ab_format_guard guard;
    struct ab_view_texts texts = {0};
    struct ab_view_verdicts verdicts;
    ab_format_begin(&guard);
    ab_view_verdicts_make(c, &texts, &verdicts);
    for (unsigned i = 0; i < verdicts.n_sentences; i++)
        ab_table_prose(to, style, i == 0 ? AB_STRONG : AB_PLAIN, verdicts.sentences[i]);
    print_title(to, c, style);
    fputc('\n', to);
    print_cells(to, c, style);
    print_end(to, c, &verdicts, style);
    ab_view_texts_fini(&texts);
    ab_format_end(&guard);
}
